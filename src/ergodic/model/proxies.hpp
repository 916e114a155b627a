// Cheap stand-ins for the likelihood: they need no Z, and say less.
#pragma once

#include <cstdint>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// sum_i log p(x_i | x without i) for each row, i being a unit or, of letters, a site. Estimated from a few sites,
/// evenly spaced from a random first one; exact if there are few rows and sites. Not for real units.
std::vector<double> pseudo_log_likelihood(const Rbm& model, const State& rows, Key key, std::uint64_t step,
                                          const Context& context);

/// Share of units or sites that differ between x and a draw of x' ~ p(x | v), v ~ p(v | x); of real units the root of
/// the mean squared difference.
double reconstruction_error(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context);

/// x' ~ p(x | v), v ~ p(v | x): the visible rows after one step up and down.
State reconstruct(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context);

}  // namespace ergodic
