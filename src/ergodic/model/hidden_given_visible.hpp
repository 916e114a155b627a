// The hidden units of a machine on a graph, with the visible ones clamped to rows.
//
// They are a machine by themselves, on the graph that joins them, whose biases depend on the row x:
//   E(x, v) = E(x) - sum over hidden edges {i, j} of w_ij v_i v_j - sum over hidden i of (b_i + sum_j w_ij x_j) v_i.
#pragma once

#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

/// UsageError for rows of another number of units than the visible ones.
void require_rows_of(const Boltzmann& machine, const State& visible);

/// What rows of visible units leave to the hidden ones.
struct HiddenFields {
  Matrix<double> fields;         ///< b_i + sum_j w_ij x_j of each hidden unit, a row for each row
  std::vector<double> energies;  ///< E(x), of the visible units alone

  /// UsageError for rows of another number of units.
  HiddenFields(const Boltzmann& machine, const State& visible, const Context& context);
};

/// The hidden units by themselves, at least one, with their couplings and without biases, as induced_machine has them.
Boltzmann hidden_machine(const Boltzmann& machine);

}  // namespace ergodic
