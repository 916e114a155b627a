// Rows of data as a machine with a hidden layer reconstructs them.
#pragma once

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/machine/machine.hpp"

namespace ergodic {

struct Reconstructions {
  bool stopped = false;
  Matrix<float> values;  ///< expected values of each row, as plain values
  /// Expected share of units, or sites, that differ between a row and a draw of its reconstruction; of real units the
  /// root of the mean squared difference.
  double error = 0.0;
};

/// E[x' | v] with v ~ p(v | x). UsageError if the machine has no hidden layer to reconstruct from.
Reconstructions reconstruct(const Machine& machine, const State& rows, Key key, const Context& context);

}  // namespace ergodic
