// Cheap stand-ins for the likelihood: they need no Z, and say less.
#pragma once

#include <cstdint>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// sum_i log p(x_i | x without i) for each row, where log p(x_i | rest) = log sigmoid(F(x with i flipped) - F(x)). The
/// sum is estimated from a few units, evenly spaced from a random first one; exact if there are few rows and units.
std::vector<double> pseudo_log_likelihood(const Rbm& model, const State& rows, Key key, std::uint64_t step,
                                          const Context& context);

/// Share of visible bits that differ between x and a draw of x' ~ p(x | v), v ~ p(v | x).
double reconstruction_error(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context);

/// x' ~ p(x | v), v ~ p(v | x): the visible rows after one step up and down.
State reconstruct(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context);

}  // namespace ergodic
