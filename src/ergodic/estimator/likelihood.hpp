// The likelihood of data under a machine: log p(x) = -F(x) - log Z, each of the two exactly, or between the bounds of
// annealing.
#pragma once

#include <optional>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/annealing.hpp"
#include "ergodic/estimator/clamped_rows.hpp"
#include "ergodic/estimator/energy_log_z.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// log Z, exact, or by quadrature over up to two gaussian visible units; nothing if the smaller layer is too large to
/// enumerate, or if stopped.
std::optional<Estimate> estimate_log_z(const Rbm& model, const Context& context);

/// The mean of F(x) over rows.
struct FreeEnergy {
  Estimate mean;
  double row_error = 0.0;  ///< standard error over rows, and so of any likelihood
  std::size_t rows = 0;    ///< that were looked at
};
/// Of rows whose free energies are known, and of annealed ones.
FreeEnergy mean_free_energy(const std::vector<double>& energies);
FreeEnergy mean_free_energy(const ClampedLogZ& found);

/// What can be said of data under a machine. Everything is a mean over the rows, in nats.
struct Judgement {
  std::optional<FreeEnergy> free_energy;        ///< nothing if stopped, or if hidden units are too many to sum over
  std::optional<ClampedLogZ> clamped;           ///< where it comes from, if it is not exact
  std::optional<double> pseudo_log_likelihood;  ///< not of real units
  double pseudo_standard_error = 0.0;           ///< over rows, and over the sites looked at
  std::optional<Estimate> log_z;
  std::optional<Estimate> log_likelihood;
  std::optional<AnnealedLogZ> annealed;  ///< where log Z comes from, if it is not exact
};

/// Gives a judgement without a free energy the one that annealing found.
void add_clamped(Judgement& judgement, const ClampedLogZ& found);
/// Gives a judgement without log Z the one that annealing found.
void add_annealed(Judgement& judgement, const AnnealedLogZ& found);

/// -log p(x) - log Z of each row: F(x), with hidden units of a graph summed over, or the energy itself. UsageError if a
/// graph of them is too wide; nothing if stopped.
std::optional<std::vector<double>> free_energies(const Rbm& model, const State& rows, const Context& context);
std::optional<std::vector<double>> free_energies(const Boltzmann& model, const State& rows, const Context& context);
template <EnergyModel Model>
std::optional<std::vector<double>> free_energies(const Model& model, const State& rows, const Context& context) {
  return model.energy(rows, context);
}
/// Puts their mean, if there are any, and log Z into a judgement, and with both the likelihood.
void set_energies(Judgement& judgement, const std::optional<std::vector<double>>& energies,
                  const std::optional<Estimate>& log_z);

Judgement judge(const Rbm& model, const State& rows, Key key, const Context& context);
/// The same for a machine on a graph: its hidden units are summed over, which needs a narrow graph of them; without
/// any, the free energy is the energy.
Judgement judge(const Boltzmann& model, const State& rows, const Context& context);
/// The same for any energy; log Z if exact_log_z of energy_log_z.hpp has it.
template <EnergyModel Model>
Judgement judge_energy(const Model& model, const State& rows, const Context& context) {
  Judgement out;
  const auto energies = free_energies(model, rows, context);
  set_energies(out, energies,
               exactly_summable(model.units()) ? exact_log_z(model, context) : std::optional<Estimate>());
  return out;
}

}  // namespace ergodic
