// In which order the sites of a graph are best summed over, and what that costs.
//
// Summing over a site leaves a table over the states of its neighbours, who thereby become neighbours of each other. So
// the graph and the order alone say how large all tables are. The best order is hard to find (Arnborg, Corneil and
// Proskurowski 1987). Two good ones are tried: the site next that joins the fewest neighbours anew (min-fill; best on
// trees and random graphs), and the waves of a breadth-first walk backwards (Cuthill and McKee 1969; best on grids).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ergodic/model/graph.hpp"

namespace ergodic {

/// What all sums of an elimination may cost.
struct EliminationLimits {
  double terms = 0x1p30;    ///< that are added up: minutes on one core
  double entries = 0x1p25;  ///< of tables that are kept at a time: 256 MiB
};

/// The sum over one site. The table that it leaves has a place for each pattern of the scope, whose first site counts
/// fastest. Without a scope it is a number.
struct EliminationStep {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t site = 0;
  std::vector<std::uint32_t> scope;  ///< its neighbours then, the last to be summed over first
  std::uint32_t next = kNone;        ///< the step that needs the table: that of the last site of the scope
};

struct EliminationPlan {
  std::size_t first = 0;               ///< the site that is number 0 in the steps
  std::vector<EliminationStep> steps;  ///< all of them, unless the sums are too wide
  std::size_t width = 0;               ///< the most neighbours that a site has in its turn
  double terms = 0.0;                  ///< of all sums
  double entries = 0.0;                ///< the most of all tables kept at a time
  bool too_wide = false;               ///< given up at a step beyond the limits, up to which the numbers above count

  /// What is wrong with a plan that is too wide for these limits, in plain words.
  std::string complaint(const EliminationLimits& limits) const;
};

/// A plan for the sites from `first` on, of so many values each; the others are known.
EliminationPlan plan_elimination(const Graph& sites, std::size_t first, std::size_t values,
                                 const EliminationLimits& limits);

}  // namespace ergodic
