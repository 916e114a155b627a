// The likelihood of data under a machine: log p(x) = -F(x) - log Z, with log Z exactly, or between the bounds of
// annealing.
#pragma once

#include <optional>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/annealing.hpp"
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
  double row_error = 0.0;                       ///< standard error of it, and so of any likelihood, over rows
  std::optional<double> pseudo_log_likelihood;  ///< not of real units
  double pseudo_standard_error = 0.0;           ///< over rows, and over the sites looked at
  std::optional<Estimate> log_z;
  std::optional<Estimate> log_likelihood;
  std::optional<AnnealedLogZ> annealed;  ///< where log Z comes from, if it is not exact
};

/// Gives a judgement without log Z the one that annealing found, and with it the likelihood.
void add_annealed(Judgement& judgement, const AnnealedLogZ& found);

/// -log p(x) - log Z of each row: F(x), with hidden units of a graph summed over, or the energy itself. UsageError if a
/// graph of them is too wide; nothing if stopped.
std::optional<std::vector<double>> free_energies(const Rbm& model, const State& rows, const Context& context);
std::optional<std::vector<double>> free_energies(const Boltzmann& model, const State& rows, const Context& context);
template <EnergyModel Model>
std::optional<std::vector<double>> free_energies(const Model& model, const State& rows, const Context& context) {
  return model.energy(rows, context);
}
/// Puts their mean into a judgement; false if there are none.
bool set_free_energy(Judgement& judgement, const std::optional<std::vector<double>>& energies);

Judgement judge(const Rbm& model, const State& rows, Key key, const Context& context);
/// The same for a machine on a graph: its hidden units are summed over, which needs a narrow graph of them; without
/// any, the free energy is the energy. UsageError if it is too wide.
Judgement judge(const Boltzmann& model, const State& rows, const Context& context);
/// The same for any energy; log Z if exact_log_z of energy_log_z.hpp has it.
template <EnergyModel Model>
Judgement judge_energy(const Model& model, const State& rows, const Context& context) {
  Judgement out;
  set_free_energy(out, free_energies(model, rows, context));
  if (exactly_summable(model.units())) out.log_z = exact_log_z(model, context);
  if (out.log_z) out.log_likelihood = log_likelihood_of(out.free_energy, *out.log_z);
  return out;
}

}  // namespace ergodic
