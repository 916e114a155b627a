// Activations of the units of a network, with the same bits on every CPU: built from +, -, * and / in float, none of
// which is contracted.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/random.hpp"

namespace ergodic {

/// x -> 1 / (1 + e^-x) in place, off by less than 2e-7.
void apply_sigmoid(std::span<float> x);

/// Leaves out a share of the units of a chain, and scales the others up. The eight units from 8 k on share the 128
/// random bits at (chain, k), 16 bits each.
void drop_out(double share, const Draw& draw, std::uint32_t chain, std::span<float> x);

}  // namespace ergodic
