// The likelihood of data under a machine: log p(x) = -F(x) - log Z, each of the two exactly, or between the bounds of
// annealing.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ergodic/estimator/annealing.hpp"
#include "ergodic/estimator/clamped_rows.hpp"
#include "ergodic/estimator/energy_log_z.hpp"
#include "ergodic/estimator/estimate.hpp"

namespace ergodic {

/// The mean of F(x) over rows.
struct FreeEnergy {
  Estimate mean;
  double row_error = 0.0;  ///< standard error over rows, and so of any likelihood
  std::size_t rows = 0;    ///< that were looked at
};
/// An evaluation from free energies that are known, and from annealed ones.
FreeEnergy mean_free_energy(const std::vector<double>& energies);
FreeEnergy mean_free_energy(const ClampedLogZ& found);
/// From log sums, -F(x), that are estimates, one for each row.
FreeEnergy mean_free_energy(const std::vector<Estimate>& log_sums);

/// What can be said of data under a machine. Everything is a mean over the rows, in nats.
struct Evaluation {
  std::optional<FreeEnergy> free_energy;  ///< nothing if stopped, or if hidden units are too many to sum over
  std::optional<ClampedLogZ> clamped;     ///< where the free energy comes from, if it is not exact
  std::size_t bound_draws =
      0;  ///< draws a row, if the free energy is a bound from above, and the likelihood from below
  std::optional<double> pseudo_log_likelihood;  ///< not of real units
  double pseudo_standard_error = 0.0;           ///< over rows, and over the sites looked at
  std::optional<Estimate> log_z;
  std::optional<Estimate> log_likelihood;  ///< as soon as the free energy and log Z are known
  std::optional<AnnealedLogZ> annealed;    ///< where log Z comes from, if it is not exact

  void set_free_energies(const std::vector<double>& energies);
  void set_free_energy(const FreeEnergy& found);
  void set_clamped(const ClampedLogZ& found);
  void set_pseudo_log_likelihoods(const std::vector<double>& values);
  void set_log_z(const Estimate& found);
  void set_annealed(const AnnealedLogZ& found);

 private:
  void set_likelihood();
};

}  // namespace ergodic
