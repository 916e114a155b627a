// The mean of the parameters over the last part of a run (Polyak and Juditsky 1992): steps keep a machine moving around
// the place that they lead to, and the mean is nearer to it than where they end.
//
// The parameters of one update in a block count for all of it: they hardly move in so few, and an update has no time
// for another pass over them. The mean is updated number by number in float, so it is the same for any number of
// threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/trainer/learner.hpp"

namespace ergodic {

/// A mean as it grows from update to update.
class RunningMean {
 public:
  static constexpr std::uint64_t kBlock = 32;  ///< updates

  /// Over the last so many of all updates; none: there is no mean.
  RunningMean(std::uint64_t averaged, std::uint64_t updates, std::size_t parameters);

  /// To be called after each update, counted from 1.
  void add(std::uint64_t update, std::span<const float> parameters, const Context& context);
  /// How many parameters the mean is of after so many updates.
  std::uint64_t taken(std::uint64_t update) const;

  std::vector<float> values;  ///< the mean; zeros before the first

 private:
  std::uint64_t averaged_, updates_;
};

/// What was kept at the end of a run, and by which monitor it was chosen.
struct AverageChoice {
  bool kept = false;      ///< the mean, and not the last parameters
  std::string monitor{};  ///< empty if the machine has none that tells which are better
  double last = 0.0, average = 0.0;
};

/// Which is better by what both measured: by a likelihood, or by how surely labels are told. The mean is kept if there
/// is no such monitor.
AverageChoice choice_between(const Measures& last, const Measures& average);

}  // namespace ergodic
