// What all that learns classes shares: rows as inputs, and scores.
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
/// What those of held-out rows make of a machine: the error, and between equal ones the log loss.
HeldOutLoss loss_of(const ClassScores& scores);

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

}  // namespace ergodic
