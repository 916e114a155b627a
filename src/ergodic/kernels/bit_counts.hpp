// How often each bit of a matrix is set.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

/// counts(c) = how many rows have bit c set.
void count_columns(const Bits& bits, std::span<std::uint32_t> counts, const Context& context);

}  // namespace ergodic
