// A quick bracket of the likelihood at the end of training, of rows that were not learned from if there are any.
#pragma once

#include <cstddef>
#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/likelihood.hpp"
#include "ergodic/machine/machine.hpp"

namespace ergodic {

/// A mean over rows, in nats.
struct FinalLikelihood {
  Estimate log_likelihood;
  double row_error = 0.0;  ///< standard error over rows
  std::size_t rows = 0;
  bool held_out = false;  ///< else they are rows of the training data
  std::size_t temperatures = 0;
  std::size_t bound_draws = 0;  ///< draws a row, if this is a bound from below
};

/// What independent units with the means of the training rows would have, of the same rows as a final likelihood;
/// nothing if the data has missing values.
std::optional<double> independent_likelihood(const Machine& machine, const Dataset& train, const Dataset& held_out,
                                             Key key);

/// Spends these seconds on annealing, or a little more. Nothing if the data has missing values, if stopped, or if no
/// round came to its end by then.
std::optional<FinalLikelihood> final_likelihood(const Machine& machine, const Dataset& train, const Dataset& held_out,
                                                double seconds, Key key, const Context& context);

}  // namespace ergodic
