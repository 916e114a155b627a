// Activations of the units of a network, with the same bits on every CPU: built from +, -, * and / in float, none of
// which is contracted.
#pragma once

#include <span>

namespace ergodic {

/// x -> 1 / (1 + e^-x) in place, off by less than 2e-7.
void apply_sigmoid(std::span<float> x);

}  // namespace ergodic
