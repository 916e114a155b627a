// The likelihood of data under a machine: log p(x) = -F(x) - log Z, with log Z by exact enumeration.
#pragma once

#include <numeric>
#include <optional>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/energy_log_z.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// log Z, exact, or by quadrature over up to two gaussian visible units; nothing if the smaller layer is too large to
/// enumerate, or if stopped.
std::optional<Estimate> estimate_log_z(const Rbm& model, const Context& context);

/// What can be said of data under a machine. Everything is a mean over the rows, in nats.
struct Judgement {
  double free_energy = 0.0;                     ///< NaN if stopped before
  std::optional<double> pseudo_log_likelihood;  ///< not of real units
  double pseudo_standard_error = 0.0;           ///< over rows, and over the sites looked at
  std::optional<Estimate> log_z;
  std::optional<Estimate> log_likelihood;
};

Judgement judge(const Rbm& model, const State& rows, Key key, const Context& context);
/// The same for a machine on a graph: its hidden units are summed over, which needs a narrow graph of them; without
/// any, the free energy is the energy. UsageError if it is too wide.
Judgement judge(const Boltzmann& model, const State& rows, const Context& context);
/// The same for any energy; log Z if exact_log_z of energy_log_z.hpp has it.
template <EnergyModel Model>
Judgement judge_energy(const Model& model, const State& rows, const Context& context) {
  const std::vector<double> energies = model.energy(rows, context);
  Judgement out;
  out.free_energy = std::accumulate(energies.begin(), energies.end(), 0.0) / static_cast<double>(energies.size());
  if (exactly_summable(model.units())) out.log_z = exact_log_z(model, context);
  if (out.log_z) out.log_likelihood = mean_log_likelihood(energies, *out.log_z);
  return out;
}

}  // namespace ergodic
