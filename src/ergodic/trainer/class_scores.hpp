// What all that learns classes shares: rows as inputs, scores, and the best state that there was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/trainer/learner.hpp"

namespace ergodic {

/// How well the classes of rows are named.
struct ClassScores {
  double error = 0.0;     ///< share of the rows whose most probable class is not theirs
  double log_loss = 0.0;  ///< mean of -log p(y | x), in nats
};
ClassScores class_scores(MatrixView<const float> probabilities, std::span<const int> labels);

/// The values of the chosen rows as numbers, as many as `out` has columns: grey levels and bits in [0, 1], others as
/// they are, and a missing value as 0.5.
void gather_inputs(const Dataset& data, std::span<const std::uint32_t> rows, MatrixView<float> out,
                   const Context& context = {});

/// The standard deviation of each input over all rows; inputs are the first values of each.
std::vector<float> input_deviations(const Dataset& data, std::size_t inputs);

/// p(y | x) of a batch of inputs.
using ClassesOfInputs = std::function<Matrix<float>(MatrixView<const float> inputs)>;
/// p(y | x) of all rows of a data set, some at a time; `inputs` are the first values of each row. Throws Stopped if the
/// observer asks to stop.
Matrix<float> class_probabilities(const ClassesOfInputs& of, const Dataset& data, std::size_t inputs,
                                  std::size_t classes, const Context& context);

/// Some rows at random, by which training is watched; at most a thousand.
Dataset watched_rows(const Dataset& data, Key key);

/// The best parameters that there were by the scores of held-out rows; without such rows, the last.
class BestParameters {
 public:
  explicit BestParameters(std::span<const float> first);

  /// Takes these if they are better than those before, or if there are no scores.
  void offer(std::span<const float> now, const std::optional<ClassScores>& scores);
  std::span<const float> values() const { return values_; }
  /// How many offers have been made since the best.
  std::uint64_t age() const { return age_; }

  /// The scores go behind the offsets of a learner's state; and back.
  void put(LearnerState& state) const;
  void take(LearnerState& state);

 private:
  std::vector<float> values_;
  ClassScores scores_;
  std::uint64_t age_ = 0;
};

}  // namespace ergodic
