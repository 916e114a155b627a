// Exact expectations of a small Boltzmann machine on a graph, by enumeration of its states: what exact_statistics
// (boltzmann.hpp) can do.
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

}  // namespace ergodic
