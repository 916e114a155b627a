// Reconstruction by an RBM: rows of data drawn again after one step up to the hidden layer and down.
#pragma once

#include <cstdint>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// x' ~ p(x | v), v ~ p(v | x): the visible rows after one step up and down.
State reconstruct(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context);

/// Share of units or sites that differ between the rows and their reconstruction; for real units the root of the mean
/// squared difference.
double reconstruction_error(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context);

}  // namespace ergodic
