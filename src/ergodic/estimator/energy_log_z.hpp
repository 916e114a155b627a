// log Z of any small energy: the sum of exp(-E) over all states of two-valued units and letters, or its integral over
// one or two real units.
//
// The integral is the trapezoidal rule on a grid, which for a smooth density that vanishes at the edge converges faster
// than any power of the spacing (Trefethen and Weideman 2014). The grid widens until the energy at its edge is out of
// reach, shrinks to what matters, and is then refined until the value stays.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// What exact_log_z enumerates at most, as a power of two, and how many real units it integrates over.
inline constexpr double kMaxEnergyBits = 20.0;
inline constexpr std::size_t kMaxIntegratedUnits = 2;

/// Whether an energy of these units has an exact_log_z.
bool exactly_summable(const Layer& units);

/// Energies of the rows of a state.
using EnergyOfRows = std::function<std::vector<double>(const State&)>;
std::optional<Estimate> exact_log_z(const Layer& units, const EnergyOfRows& energy, const Context& context);

/// log Z; nothing if stopped, or unless the units are exactly_summable. The bracket of an integral is what the last
/// halving of the spacing and the last doubling of the box changed. NumericError for an energy that is NaN, and for one
/// that does not confine its units.
template <EnergyModel Model>
std::optional<Estimate> exact_log_z(const Model& model, const Context& context) {
  return exact_log_z(
      first_layer(model), [&](const State& x) { return model.energy(x, context); }, context);
}

/// The mean of log p(x) = -E(x) - log Z over rows, given their energies, or the mean of these. If that is an estimate
/// too, the brackets add up, and the errors join.
Estimate mean_log_likelihood(const std::vector<double>& energies, const Estimate& log_z);
Estimate log_likelihood_of(const Estimate& mean_energy, const Estimate& log_z);

}  // namespace ergodic
