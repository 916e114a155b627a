// The machine of the units that a row leaves open, given those that are known.
//
// An RBM or a machine on a graph with some units clamped to known values is a machine of the others, with the same
// couplings among them and with biases that depend on what is known:
//   E(x) = E(known) + E'(open),   so   log sum over open of exp(-E(x)) = log Z' - E(known).
// With it the likelihood of rows with missing values is a partition function again, and found by the same means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

template <class Model>
struct Conditional {
  Model open;           ///< of the units that are not known, in order
  double energy = 0.0;  ///< E(known): of the known units alone
};

/// Given the known units of one row; `known` has a bit for each visible unit of each row, the same for all units of a
/// site. At least one visible unit is open.
Conditional<Rbm> conditional(const Rbm& model, const State& rows, const Bits& known, std::size_t row);
/// Hidden units are always open; at least one unit is.
Conditional<Boltzmann> conditional(const Boltzmann& model, const State& rows, const Bits& known, std::size_t row);

/// Some units of a machine, in ascending order and in whole sites, with the couplings among them and without biases;
/// all of them are visible. If many pairs are coupled, all are, those that were not with a strength of zero.
Boltzmann induced_machine(const Boltzmann& machine, std::span<const std::uint32_t> units);

}  // namespace ergodic
