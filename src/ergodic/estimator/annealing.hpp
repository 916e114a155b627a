// Annealed importance sampling (AIS; Neal 2001), run in both directions along a path (path.hpp): log Z of machines that
// are too large to enumerate, from below and from above.
//
// Forward, chains start as exact draws at t = 0 and go through 0 = t_0 < ... < t_K = 1. At each step a chain's log
// weight w grows by log f_to(x) - log f_from(x), then it is swept at the new t. The mean of e^w is Z_1 / Z_0 without
// bias, so by Jensen's inequality its logarithm is below log Z_1 / Z_0 on average. Backward, chains start as draws at
// t = 1 and go down through the same machines; the mean of e^w is Z_0 / Z_1, and minus its logarithm is above (Grosse,
// Ghahramani and Adams 2015). Draws at t = 1 are reached from rows of the data, which is the one thing here that may be
// wrong. Chains that weigh little are dropped on the way for copies of others (weighted_chains.hpp), which keeps both
// means as they are and makes them far less noisy.
//
// The first round has equal steps. A later one has its steps where the log weights spread: as many as the integral of
// their deviation says, which is a path of constant thermodynamic speed (Salamon and Berry 1983).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/estimator/path.hpp"
#include "ergodic/estimator/weighted_chains.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// Given log Z_0, and what chains that went up, or down, have found of the rest.
AnnealedSide forward_side(double base_log_z, AnnealedSide found);
AnnealedSide backward_side(double base_log_z, AnnealedSide found);

struct AnnealedLogZ {
  Estimate log_z;  ///< of both; the bracket holds 3 errors around either direction
  AnnealedSide forward, backward;
  bool contradiction = false;    ///< forward was above backward by more than their errors
  std::size_t chains = 0;        ///< of each direction
  std::size_t temperatures = 0;  ///< of the last round: how many steps the path has
};
/// Puts both sides together.
AnnealedLogZ both_ways(const AnnealedSide& forward, const AnnealedSide& backward, std::size_t chains,
                       std::size_t temperatures);

/// Why an estimate should not be trusted, a sentence each; none if it may be.
std::vector<std::string> doubts_about(const AnnealedLogZ& found);

/// Anneals in rounds, each of which knows better where to put its temperatures.
class Annealer {
 public:
  /// Holds a reference to the path. `rows` are visible states, of data that the machine was made for: the backward
  /// chains start there.
  Annealer(Path& path, const State& rows, std::size_t chains, Key key, const Context& context);

  /// How often a chain of each direction is swept in a round, all sweeps together.
  static std::size_t sweeps_of_round(std::size_t temperatures);
  /// One round in both directions. Progress counts sweeps; nothing if stopped before the end.
  std::optional<AnnealedLogZ> round(std::size_t temperatures, const Context& context);

  /// The positions of the last round, or the equal steps of the first.
  const std::vector<double>& ladder() const { return ladder_; }

 private:
  Path& path_;
  std::size_t chains_;
  Key key_;
  Chains top_;  // at t = 1; each round moves them on
  std::uint64_t rounds_ = 0;
  std::vector<double> ladder_;  // t_0 ... t_K
  std::vector<double> spread_;  // the variance of the log weights that each step added in the last round
};

/// Positions of so many steps, given what another ladder found: at equal steps of the integral of the deviation, mixed
/// with a share of equal steps, so that no part of the path is left without.
std::vector<double> ladder_by_spread(std::span<const double> ladder, std::span<const double> spread, std::size_t steps);

struct AnnealingOptions {
  std::size_t chains = 100;
  std::size_t temperatures = 1000;  ///< K; the steps are equal
};
/// The forward side alone along the straight path, as it is usually done. `base` has a field for each visible unit.
/// Progress counts temperatures; nothing if stopped before the end.
std::optional<AnnealedSide> annealed_log_z(const Rbm& model, std::span<const float> base,
                                           const AnnealingOptions& options, Key key, const Context& context);

}  // namespace ergodic
