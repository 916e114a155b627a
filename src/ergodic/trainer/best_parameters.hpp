// The best state that a run has had, by rows that it does not learn from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/trainer/learner.hpp"

namespace ergodic {

/// The parameters with the lowest loss; without losses, the last.
class BestParameters {
 public:
  explicit BestParameters(std::span<const float> first);

  /// Takes these if their loss is lower than any before, or if there is none.
  void offer(std::span<const float> now, const std::optional<HeldOutLoss>& loss);
  std::span<const float> values() const { return values_; }
  double loss() const { return loss_; }
  /// How many offers have been made since the best.
  std::uint64_t age() const { return age_; }

  /// The losses go behind the offsets of a learner's state; and back.
  void put(LearnerState& state) const;
  void take(LearnerState& state);

 private:
  std::vector<float> values_;
  double loss_, tie_break_;
  std::uint64_t age_ = 0;
};

}  // namespace ergodic
