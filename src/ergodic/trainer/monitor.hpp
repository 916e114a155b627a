// Monitors: what a run says about itself while it trains. They read the machine and change nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/trainer/learner.hpp"

namespace ergodic {

/// The rows that monitors look at, chosen at random: as many as are affordable, but from 100 to 1000 of them, or all.
std::vector<std::uint32_t> monitored_rows(const Dataset& data, std::size_t affordable, Key key);

/// The root of the mean squared parameter, biases left out.
double weight_norm(const Parameters& parameters);
/// That of the weights; of real units in terms of their noise.
double weight_norm(const Rbm& model);

/// On these rows of training data and (if any) of held-out data:
///   free_energy_gap        mean F(held out) - mean F(training); it grows when the machine over-fits
///   reconstruction_error   share of units or sites that differ after one step up and down; of real units the root
///                          of the mean squared difference
///   pseudo_log_likelihood  sum_i log p(x_i | the rest), estimated from a few sites a row; of held-out rows if any; not
///                          of real units
///   log_likelihood         exact, where the smaller layer is small enough; of held-out rows if any
///   weight_norm            root of the mean squared weight; of real units in terms of their noise
///   dead, saturated        shares of hidden units on (high) for less than 1 %, or more than 99 %, on average; if they
///                          are two-valued
Measures measure(const Rbm& model, const State& train, const State& held_out, Key key, std::uint64_t step,
                 const Context& context);

/// The log-likelihood of held-out rows where it is affordable, else their pseudo-log-likelihood, as measure() has them;
/// nothing if there is neither. Two states of a machine can be told apart by both, and not by free energies: log Z
/// moves with the parameters. Nor by their gap, which is least before anything is learned (Hinton 2010, section 6).
std::optional<HeldOutLoss> held_out_loss(const Rbm& model, const State& held_out, Key key, std::uint64_t step,
                                         const Context& context);

}  // namespace ergodic
