#include "ergodic/model/relu.hpp"

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

/// Moments of z >= 0 with density proportional to e^(t z - z^2 / 2).
struct Truncated {
  explicit Truncated(double t) : log_sum(log_positive_weight(t)), mean(positive_mean(t)), square(1.0 + t * mean) {}
  double log_sum, mean, square;
};

}  // namespace

double Relu::log_sum(const LayerFields& at) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < units; ++j) {
    sum += Truncated(Standardised(at, j).t).log_sum - 0.5 * at.precision.logs[j];
  }
  return sum;
}

void Relu::means(const LayerFields& at, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    out[j] = static_cast<float>(unit.deviation * Truncated(unit.t).mean);
  }
}

void Relu::squares(const LayerFields& at, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    out[j] = static_cast<float>(unit.deviation * unit.deviation * Truncated(unit.t).square);
  }
}

void Relu::draw(const LayerFields& at, const DrawTarget& to) const { draw_rounded(*this, at, to); }

}  // namespace ergodic
