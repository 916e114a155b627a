#include "ergodic/trainer/best_parameters.hpp"

#include <limits>
#include <utility>

namespace ergodic {

BestParameters::BestParameters(std::span<const float> first)
    : values_(first.begin(), first.end()),
      loss_(std::numeric_limits<double>::max()),
      tie_break_(std::numeric_limits<double>::max()) {}

void BestParameters::offer(std::span<const float> now, const std::optional<HeldOutLoss>& loss) {
  ++age_;
  if (loss) {
    // Not a number is not lower.
    if (!(std::pair(loss->value, loss->tie_break) < std::pair(loss_, tie_break_))) return;
    loss_ = loss->value;
    tie_break_ = loss->tie_break;
  }
  values_.assign(now.begin(), now.end());
  age_ = 0;
}

void BestParameters::put(LearnerState& state) const {
  state.offsets.insert(state.offsets.end(), {loss_, tie_break_, static_cast<double>(age_)});
  state.best = values_;
}

void BestParameters::take(LearnerState& state) {
  const auto taken = [&] {
    const double last = state.offsets.back();
    state.offsets.pop_back();
    return last;
  };
  age_ = static_cast<std::uint64_t>(taken());
  tie_break_ = taken();
  loss_ = taken();
  values_ = std::move(state.best);
}

}  // namespace ergodic
