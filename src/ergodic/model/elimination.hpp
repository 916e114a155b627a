// Exact sums over all states of a Boltzmann machine on a narrow graph, by variable elimination (Bertele and Brioschi
// 1972): a chain, a tree, a grid of which one side is short, or hidden units with few couplings among them.
//
// Sites are summed over one after the other; a two-valued unit is a site of its own. The sum over site i leaves a table
// over the states of its neighbours N:
//   log t(x_N) = log sum over x_i of exp(x_i (b_i + sum_{j in N} w_ij x_j) + the logs of earlier tables that depend on
//   x_i).
// The last tables are numbers, whose logs add up to log Z. What that costs is known before (elimination_plan.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

/// Why log Z is not exactly known: the graph is too wide. Empty if it is known, as it is of all machines that can be
/// enumerated.
std::string why_no_exact_log_z(const Boltzmann& machine);
/// The logarithm to base 2 of how many terms log Z is a sum of; infinite if the graph is too wide.
double exact_log_z_bits(const Boltzmann& machine);
/// Why the free energy of visible rows is not exactly known; empty if it is.
std::string why_no_exact_free_energy(const Boltzmann& machine);

/// log Z. UsageError if the graph is too wide. Progress counts terms; nothing if stopped before the end.
std::optional<double> exact_log_z(const Boltzmann& machine, const Context& context);

/// F(x) = -log sum over hidden states of e^-E(x, v) for each row of visible units: log p(x) = -F(x) - log Z. UsageError
/// if the graph of the hidden units is too wide. Progress counts terms; nothing if stopped before the end.
std::optional<std::vector<double>> exact_free_energy(const Boltzmann& machine, const State& visible,
                                                     const Context& context);

}  // namespace ergodic
