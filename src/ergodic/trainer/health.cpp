#include "ergodic/trainer/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ergodic {
namespace {

constexpr std::string_view kLikelihoods[] = {"log_likelihood", "pseudo_log_likelihood"};
constexpr std::string_view kLosses[] = {"log_loss", "held_out_log_loss"};  // of labels
constexpr double kLargeWeight = 10.0, kImpossibleWeight = 20.0;
constexpr float kMostParameter = 1e15f;  // as store/tensors.cpp has it
constexpr double kFarWorse = 3.0, kFarWorseNats = 10.0;
constexpr double kLateShare = 0.1, kLateNats = 0.02, kNothingShare = 0.01;
constexpr double kLostShare = 0.1, kLostNats = 0.5;
constexpr std::string_view kGaps[] = {"free_energy_gap", "energy_gap"};  // which only runs with held-out rows have

struct Limit {
  std::string_view monitor;
  double least, most;
  const char* meaning;

  bool passed_by(const Record& record) const {
    const std::optional<double> value = monitor_in(record, monitor);
    return value && (*value < least || *value > most);
  }
};

constexpr Limit kLimits[] = {
    {"dead", 0.0, 0.5,
     "more than half of the hidden units are never on; try a lower learning rate or fewer hidden units"},
    {"saturated", 0.0, 0.5, "more than half of the hidden units are always on; try a lower learning rate"},
    {"weight_norm", 0.0, kLargeWeight,
     "the weights have grown very large; training may be diverging: try a lower learning rate"},
    {"effective_share", 0.1, 1.0, "the population cannot follow such steps; try a lower learning rate"},
    {"least_swapped", 0.02, 1.0, "neighbours on the ladder of tempering hardly swap; take more --levels"}};

double weights_in(const Record& record) { return monitor_in(record, "weight_norm").value_or(0.0); }

/// Whether something is far less likely than it was at the start, in nats; false if it was not measured.
bool far_worse(std::optional<double> now, std::optional<double> first) {
  return now && first && *now < *first - (kFarWorse - 1.0) * std::abs(*first) - kFarWorseNats;
}

std::optional<double> negative(std::optional<double> value) { return value ? std::optional(-*value) : std::nullopt; }

/// Rows that are far less likely than for independent units: in what words, or nothing.
std::string why_unlikely(const Record& now, const Record& first) {
  for (const std::string_view name : kLikelihoods) {
    const auto value = monitor_in(now, name), before = monitor_in(first, name);
    if (far_worse(value, before)) {
      return fmt::format("{} is {:.4g}, where independent units have {:.4g}", name, *value, *before);
    }
  }
  return {};
}

}  // namespace

std::string why_unsound(const Record& now, const Record& first) {
  for (const auto& [name, value] : now.values) {
    if (!std::isfinite(value)) return fmt::format("{} is {}", name, value);
  }
  const double weights = weights_in(now);
  if (weights > std::max(kImpossibleWeight, 2.0 * weights_in(first))) {
    return fmt::format("the root of the mean squared weight is {:.3g}, more than any data could ask for", weights);
  }
  for (const std::string_view name : kLosses) {
    const auto value = monitor_in(now, name), before = monitor_in(first, name);
    if (far_worse(negative(value), negative(before))) {
      return fmt::format("{} is {:.4g}, where it was {:.4g} at the start", name, *value, *before);
    }
  }
  return weights > kLargeWeight ? why_unlikely(now, first) : std::string();
}

std::string why_unsound(std::span<const float> parameters) {
  // Not a number compares as false.
  const auto found = std::ranges::find_if_not(parameters, [](float p) { return std::abs(p) <= kMostParameter; });
  return found == parameters.end() ? std::string() : fmt::format("a parameter is {}", *found);
}

bool healthy(const Record& now, const Record& first) {
  return weights_in(now) <= std::max(kLargeWeight, weights_in(first)) && why_unlikely(now, first).empty();
}

std::optional<double> monitor_in(const Record& record, std::string_view name) {
  const auto found = std::ranges::find_if(record.values, [&](const auto& monitor) { return monitor.first == name; });
  return found == record.values.end() ? std::nullopt : std::optional(found->second);
}

void warn_if_unhealthy(const Record& now, std::span<const Record> before, const Context& context) {
  for (const Limit& limit : kLimits) {
    const bool said = std::ranges::any_of(before, [&](const Record& record) { return limit.passed_by(record); });
    if (limit.passed_by(now) && !said) context.warn(fmt::format("epoch {:.2f}: {}", now.epoch, limit.meaning));
  }
}

bool Improvement::still_improving() const { return late > kLateNats && late > kLateShare * all && late <= all; }

bool Improvement::none() const { return all < kNothingShare * std::abs(begin); }

std::optional<Improvement> improvement_in(std::span<const Record> records) {
  if (records.size() < 3) return std::nullopt;
  const Record &first = records.front(), &last = records.back();
  const auto third = std::ranges::find_if(records, [&](const Record& r) { return 3 * r.update >= last.update; });
  for (const std::string_view name : kLikelihoods) {
    const auto begin = monitor_in(first, name), middle = monitor_in(*third, name), end = monitor_in(last, name);
    if (begin && middle && end) return Improvement{name, *begin, *end - *begin, *end - *middle};
  }
  return std::nullopt;
}

void warn_if_overfitted(std::span<const Record> records, const Context& context) {
  if (records.empty()) return;
  const Record &first = records.front(), &last = records.back();
  if (std::ranges::none_of(kGaps, [&](std::string_view gap) { return monitor_in(last, gap).has_value(); })) return;
  for (const std::string_view name : kLikelihoods) {
    const auto value = [&](const Record& record) { return monitor_in(record, name); };
    if (!std::ranges::all_of(records, [&](const Record& record) { return value(record).has_value(); })) continue;
    const Record& best = *std::ranges::max_element(records, {}, [&](const Record& record) { return *value(record); });
    const double lost = *value(best) - *value(last);
    if (lost <= std::max(kLostNats, kLostShare * (*value(best) - *value(first)))) return;
    context.warn(
        fmt::format("the machine over-fits: {} of held-out rows was {:.4g} after {} updates, and is {:.4g} now; try a "
                    "penalty (--l2 0.01 or more), or --updates {}",
                    name, *value(best), best.update, *value(last), std::max<std::uint64_t>(best.update, 1)));
    return;
  }
}

}  // namespace ergodic
