// Exact sums over all states of a small Boltzmann machine on a graph.
#pragma once

#include <cstddef>
#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

/// What can be enumerated at most: 16.8 million states.
inline constexpr std::size_t kMaxEnumeratedUnits = 24;

/// log Z. UsageError above kMaxEnumeratedUnits. Progress counts states; nothing if stopped before the end.
std::optional<double> exact_log_z(const Boltzmann& machine, const Context& context);

/// The machine's expectation of the statistics: of x_i x_j along the edges, and of x.
Statistics exact_statistics(const Boltzmann& machine, const Context& context);

}  // namespace ergodic
