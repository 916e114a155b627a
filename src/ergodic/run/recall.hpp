// What a Hopfield network makes of damaged rows.
#pragma once

#include <cstdint>
#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/model/recall.hpp"

namespace ergodic {

/// Means over the rows.
struct RecallResult {
  bool stopped = false;                   ///< not all rows were recalled; then there is nothing below
  State given;                            ///< the rows as they were recalled from
  Matrix<float> values;                   ///< what became of them, in [-1, 1]
  std::size_t converged = 0, cycles = 0;  ///< rows that came to rest, rows that ended in a cycle of two states
  double sweeps = 0.0;
  double energy_before = 0.0, energy_after = 0.0;
  std::optional<double> overlap_before, overlap_after;  ///< with the rows as they were before damage
};

/// Flips a share of the units of each row, and lets the rows run. UsageError if the machine is not a Hopfield network.
RecallResult recall_rows(const Machine& machine, const State& originals, double damage, const RecallOptions& options,
                         Key key, const Context& context);

}  // namespace ergodic
