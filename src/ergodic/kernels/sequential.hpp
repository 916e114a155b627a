// Sequential Gibbs sampling of a machine in which every unit may be coupled with every other.
//
// Each unit in turn is drawn given all others, so a unit's field must know the draws of all units before it. Fields of
// a tile of 32 units are summed by look-up tables from the state before the tile; within the tile the fields of many
// chains lie side by side in a vector, and each draw that changes a unit adds its couplings to the fields that follow.
// So nearly all the work is that of a product of bits with weights.
#pragma once

#include <cstdint>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// Draws all units of x in ascending order, each given the others: a unit is high with probability sigmoid(gap * I).
/// The weights of the map are symmetric with a zero diagonal. Row r draws the random numbers of chain first_chain + r.
void sweep_in_turn(State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, const Context& context);
/// Draws the units that are not fixed, in ascending order, each given the others.
void sweep_in_turn(State& x, FixedUnits fixed, const Affine& map, const Draw& draw, std::uint64_t first_chain,
                   const Context& context);

}  // namespace ergodic
