// Learning of Boltzmann machines on graphs: persistent chains, chains from the data, exact sums, or the
// pseudo-likelihood; with hidden units and missing values, which are drawn (completion.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

/// Visible units that are independent, with the means of the data. Couplings of hidden units are random with this
/// standard deviation, as between {0,1} units: all of them zero would stay so, since nothing would tell one from
/// another.
void initialise(Boltzmann& model, const Dataset& data, double weight_scale, Key key, const Context& context);

/// Turns the plain gradient into the conditioned one, in place, as centring.hpp has it for an RBM: with the gap g
/// of the units and the offsets mu,
///   dw_ij <- (dw_ij - mu_i db_j - mu_j db_i) / g^4 - l2 w_ij - l1 sign(w_ij) / g^2,
///   db_i <- db_i / g^2 - sum over j of mu_j dw_ij.
void condition(const Boltzmann& model, std::span<const double> offsets, const Decay& decay, Statistics& gradient);

/// The learner of a machine that has been initialised. It and the data must outlive the learner. UsageError for exact
/// sums over too many units, and for the pseudo-likelihood of units that are not known.
std::unique_ptr<Learner> learner_of(Boltzmann& model, const Dataset& train, const Dataset& held_out,
                                    const TrainOptions& options, Key key, const Context& context);
/// The loop around it.
Trainer trainer_of(Boltzmann& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options,
                   Key key, const Context& context);

}  // namespace ergodic
