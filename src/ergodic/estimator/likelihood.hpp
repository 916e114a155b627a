// The likelihood of data under a machine: log p(x) = -F(x) - log Z, with log Z by exact enumeration.
#pragma once

#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// log Z, exact; nothing if the smaller layer is too large to enumerate, or if stopped.
std::optional<Estimate> estimate_log_z(const Rbm& model, const Context& context);

/// What can be said of data under a machine. Everything is a mean over the rows, in nats.
struct Judgement {
  double free_energy = 0.0;
  std::optional<double> pseudo_log_likelihood;  ///< not of real units
  double pseudo_standard_error = 0.0;           ///< over rows, and over the sites looked at
  std::optional<Estimate> log_z;
  std::optional<Estimate> log_likelihood;
};

Judgement judge(const Rbm& model, const State& rows, Key key, const Context& context);
/// The same for a machine on a graph: its hidden units are summed over, so there are few of them or none; without any,
/// the free energy is the energy. UsageError if there are too many.
Judgement judge(const Boltzmann& model, const State& rows, const Context& context);

}  // namespace ergodic
