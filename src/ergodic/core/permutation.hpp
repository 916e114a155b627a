// Random orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/random.hpp"

namespace ergodic {

/// Fills `order` with all of [0, its size) in random order: a pure function of the draw and the row, of which it uses
/// up as many columns as there are numbers.
void permute(std::span<std::uint32_t> order, const Draw& draw, std::uint32_t row);

/// All of [0, count) in random order, by row 0 of the draw.
std::vector<std::uint32_t> permutation(std::size_t count, const Draw& draw);

}  // namespace ergodic
