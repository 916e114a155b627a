// How much annealing a likelihood is worth: temperatures, or seconds.
//
// A budget in temperatures gives the same numbers everywhere. One in seconds is turned into temperatures by the clock,
// so that more of them fit where the machine is faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/annealing.hpp"
#include "ergodic/estimator/path.hpp"
#include "ergodic/report/clock.hpp"

namespace ergodic {

struct Budget {
  std::uint64_t temperatures = 0;  ///< of the last round; 0 if the clock decides
  double seconds = 0.0;
};

/// "20000" is a number of temperatures, "30s" of seconds. UsageError for anything else.
Budget budget_from(const std::string& text);

struct BudgetedLogZ {
  AnnealedLogZ found;    ///< by the last round that came to its end
  bool stopped = false;  ///< before the budget was spent
};

/// Anneals in rounds, each about four times as long as the one before. After each the observer hears the bracket.
/// Nothing if stopped before the first came to its end.
std::optional<BudgetedLogZ> spend(const Budget& budget, Path& path, const State& rows, Key key, const Context& context,
                                  const Clock& clock = steady_seconds);

}  // namespace ergodic
