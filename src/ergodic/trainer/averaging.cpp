#include "ergodic/trainer/averaging.hpp"

#include <algorithm>
#include <cassert>

namespace ergodic {
namespace {

constexpr std::size_t kElements = 16384;  // that one thread takes at a time

struct Judge {
  std::string_view monitor;
  bool more_is_better;
};
constexpr Judge kJudges[] = {
    {"log_likelihood", true}, {"pseudo_log_likelihood", true}, {"held_out_log_loss", false}, {"log_loss", false}};

std::optional<double> value_in(const Measures& measures, std::string_view name) {
  const auto found = std::ranges::find_if(measures, [&](const auto& measure) { return measure.first == name; });
  return found == measures.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t blocks_in(std::uint64_t updates) { return (updates + RunningMean::kBlock - 1) / RunningMean::kBlock; }

}  // namespace

RunningMean::RunningMean(std::uint64_t averaged, std::uint64_t updates, std::size_t parameters)
    : values(averaged > 0 ? parameters : 0), averaged_(averaged), updates_(updates) {
  assert(averaged <= updates);
}

std::uint64_t RunningMean::taken(std::uint64_t update) const {
  // Blocks end with the last update.
  const std::uint64_t all = blocks_in(averaged_);
  return all - std::min(all, blocks_in(updates_ - update));
}

void RunningMean::add(std::uint64_t update, std::span<const float> parameters, const Context& context) {
  const std::uint64_t count = taken(update);
  if (count == taken(update - 1)) return;
  assert(values.size() == parameters.size());
  const float share = 1.0f / static_cast<float>(count);
  context.for_blocks(values.size(), kElements, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) values[k] += share * (parameters[k] - values[k]);
  });
}

AverageChoice choice_between(const Measures& last, const Measures& average) {
  for (const auto& [monitor, more_is_better] : kJudges) {
    const std::optional<double> before = value_in(last, monitor), now = value_in(average, monitor);
    if (!before || !now) continue;
    return {more_is_better ? *now > *before : *now < *before, std::string(monitor), *before, *now};
  }
  return {.kept = true};
}

}  // namespace ergodic
