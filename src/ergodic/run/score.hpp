// Scores of rows: how likely a machine finds each of them, and which of their values surprise it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/budget.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/run/open_rows.hpp"

namespace ergodic {

struct ScoreOptions {
  std::optional<double> log_z;   ///< if it is known
  std::optional<Budget> budget;  ///< for annealing, if log Z may not be a short sum; nothing: then there is no log p
};

struct Scores {
  bool stopped = false;
  std::vector<Estimate> free_energies;  ///< F(x) of each row, values that are missing summed out
  bool hidden_units = true;             ///< if there are none, the free energy is the energy
  std::optional<Estimate> log_z;
  std::vector<Estimate> log_p;             ///< -F(x) - log Z of each row; empty without log Z
  std::optional<Matrix<double>> surprise;  ///< -log p(x_s | all other sites) of each site; NaN in rows with gaps
  std::vector<std::size_t> rank;           ///< of each row, 1 for the strangest: the one with the highest free energy

  /// The sum of -surprise of a row, which is its pseudo-log-likelihood.
  double pseudo_log_likelihood(std::size_t row) const;
};

Scores score(const Machine& machine, const OpenRows& rows, const ScoreOptions& options, Key key,
             const Context& context);

/// The probability that a row with this label has a higher free energy than one with another label, ties counting half:
/// the area under the ROC curve of a detector (Hanley and McNeil 1982). Rows without a label, -1, have no part in it.
/// Nothing if there are no such two rows.
std::optional<double> area_under_curve(const std::vector<Estimate>& free_energies, const std::vector<int>& labels,
                                       int label);

}  // namespace ergodic
