// Exact expectations of a small Boltzmann machine on a graph, by enumeration of its states.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

/// Largest machine that is enumerated: 24 two-valued units (16.8 million states).
inline constexpr std::size_t kMaxEnumeratedUnits = 24;

/// Whether there are no more states than kMaxEnumeratedUnits two-valued units have.
bool enumerable(const Boltzmann& machine);
/// UsageError if not enumerable.
void require_exact_statistics(const Boltzmann& machine);

/// The machine's expectation of the statistics: of x_i x_j along the edges, and of x. UsageError if not enumerable.
Statistics exact_statistics(const Boltzmann& machine, const Context& context);

}  // namespace ergodic
