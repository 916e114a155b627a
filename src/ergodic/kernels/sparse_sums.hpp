// Sums of rounded weights over inputs of which few are on, such as letters: the weights are added one by one. Tables
// would be made for many sums that no row asks for.
#pragma once

#include <cstddef>

#include "ergodic/core/context.hpp"
#include "ergodic/kernels/quantised.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/kernels/table_sampling.hpp"

namespace ergodic {

/// Whether so few inputs are on that this is faster.
bool few_are_on(const State& x);

/// The sums of rows [first, first + rows) of x, units in {0, 1}, as look-ups find them.
void find_sparse_sums(const State& x, std::size_t first, std::size_t rows, const QuantisedWeights& weights,
                      InputSums& out, const Context& context);

}  // namespace ergodic
