// Two-valued units given real ones, by products of integers, which are faster than those of floats, to the same bits.
//
// The definition is a field in float (float_fields.hpp) and a coin (real_draws.hpp). Here fields are products of rows
// and columns that are rounded to 16 bits (rounded_product.hpp), with a bound on what they are off by, to which the
// roundoff of the definition adds. A coin that is the same for all fields within this bound is known. The others, which
// are few, are summed in float in any order, and those that even this leaves open as the definition has it.
#pragma once

#include <cstdint>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// Draws `out` given real x, as `sample` (products.hpp). False if that is left to products of floats: few rows, or
/// numbers that are too large or NaN.
bool sample_given_reals(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                        const Context& context);

}  // namespace ergodic
