// Exact expectations of a small Boltzmann machine on a graph, by enumeration of its states.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

/// What can be enumerated at most: 16.8 million states, so 24 two-valued units.
inline constexpr std::size_t kMaxEnumeratedUnits = 24;
/// Of the hidden units, for each row of visible ones: 65,536 states.
inline constexpr std::size_t kMaxEnumeratedHidden = 16;

/// Whether all states, or all of the hidden units, are no more than that many two-valued units have.
bool enumerable(const Boltzmann& machine);
bool enumerable_hidden(const Boltzmann& machine);

/// The machine's expectation of the statistics: of x_i x_j along the edges, and of x. UsageError if not enumerable.
Statistics exact_statistics(const Boltzmann& machine, const Context& context);

/// Adds row_weight * the expectation of the statistics given the visible units, over the rows. One row weight, or one
/// for each row.
void add_exact_statistics(const Boltzmann& machine, const State& visible, std::span<const double> row_weights,
                          Statistics& out, const Context& context);

}  // namespace ergodic
