// Chains of a deep machine at given rows: the visible units are those of a row, and the hidden ones are drawn given
// them by sweeps in which the visible ones stay.
#pragma once

#include <cstddef>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/deep_boltzmann.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

inline constexpr std::size_t kClampedSweeps = 32;

/// The sweeps have random numbers of their own, and are not counted.
Chains clamped_start(const DeepBoltzmann& model, const State& visible, Key key, const Context& context);

}  // namespace ergodic
