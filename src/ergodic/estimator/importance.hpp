// Lower bounds of the log-likelihood by importance sampling (Burda, Grosse and Salakhutdinov 2016). With draws h of a
// recognition distribution q(h | x) and weights w = p(x, h) / q(h | x), the mean of w over K draws is p(x) without
// bias, so by Jensen's inequality
//   E[log of the mean of w_1, ..., w_K] <= log p(x),
// with K = 1 the variational bound. It grows with K, and reaches log p(x) in the limit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/model/dbn.hpp"

namespace ergodic {

/// What its draws say of the log of a row's sum: the bound, with the standard error that draws give it. The bracket is
/// the bound itself.
Estimate importance_bound(std::span<const double> log_weights);

/// Bounds of -F(x) for rows of a deep belief network. Row r draws the random numbers of chain first_row + r. Nothing if
/// stopped.
std::optional<std::vector<Estimate>> importance_bounds(const Dbn& model, const State& rows, std::size_t draws,
                                                       std::size_t first_row, Key key, const Context& context);

}  // namespace ergodic
