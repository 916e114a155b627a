#include "ergodic/model/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/log_sums.hpp"

namespace ergodic {

double Bernoulli::log_sum(std::span<const double> fields) { return sum_softplus(fields); }
double Spin::log_sum(std::span<const double> fields) { return sum_log_cosh(fields); }

Layer make_layer(std::string_view type, std::size_t units) {
  require(units > 0, fmt::format("a {} layer needs at least 1 unit, found 0", type));
  if (type == Bernoulli::kName) return Bernoulli{units};
  if (type == Spin::kName) return Spin{units};
  throw UsageError(fmt::format("unknown unit type '{}'; there are: {}, {}", type, Bernoulli::kName, Spin::kName));
}

std::string_view name_of(const Layer& layer) {
  return std::visit([](const auto& l) { return l.kName; }, layer);
}

std::size_t units_of(const Layer& layer) {
  return std::visit([](const auto& l) { return l.units; }, layer);
}

Levels levels_of(const Layer& layer) {
  return std::visit([](const auto& l) { return l.kLevels; }, layer);
}

double log_sum(const Layer& layer, std::span<const double> fields) {
  return std::visit([&](const auto& l) { return l.log_sum(fields); }, layer);
}

double field_for_mean(const Layer& layer, double mean, double margin) {
  const Levels levels = levels_of(layer);
  const double p = std::clamp((mean - levels.low) / levels.gap(), margin, 1.0 - margin);
  return portable_log(p / (1.0 - p)) / levels.gap();
}

}  // namespace ergodic
