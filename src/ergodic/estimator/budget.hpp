// How much annealing a likelihood is worth: temperatures, or seconds.
//
// A budget in temperatures gives the same numbers everywhere. One in seconds is turned into temperatures by the clock,
// so that more of them fit where the machine is faster. Where hidden units are too many to sum over, a part of it goes
// to rows of data, at which these are annealed too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/annealing.hpp"
#include "ergodic/estimator/clamped_rows.hpp"
#include "ergodic/estimator/path.hpp"

namespace ergodic {

struct Budget {
  std::uint64_t temperatures = 0;  ///< temperatures of the last round; 0 if the clock decides
  double seconds = 0.0;
};

/// "20000" is a number of temperatures, "30s" a number of seconds. UsageError for anything else.
Budget budget_from(const std::string& text);

struct BudgetedLogZ {
  AnnealedLogZ found;    ///< by the last round that came to its end
  bool stopped = false;  ///< before the budget was spent
};

/// Anneals in rounds, each about four times as long as the one before. After each the observer hears the bracket, and
/// progress is that of all rounds.
/// Nothing if stopped before the first came to its end.
std::optional<BudgetedLogZ> spend(const Budget& budget, Path& path, const State& rows, Key key, const Context& context,
                                  const Clock& clock = steady_seconds);

/// Anneals the hidden units at random ones of the rows. A budget in temperatures is worth as many rows as take a
/// quarter of the work on log Z, at a fiftieth of its temperatures; one in seconds as many as fit into a quarter of
/// them. Nothing if stopped before the end.
std::optional<ClampedLogZ> spend_on_rows(const Budget& budget, ClampedRows& clamped, const Context& context,
                                         const Clock& clock = steady_seconds);
/// What is left of a budget for log Z after rows.
Budget after_rows(const Budget& budget);
/// About which share of all work the rows are.
double share_of_rows(const Budget& budget);

}  // namespace ergodic
