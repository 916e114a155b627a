// How often each bit of a matrix is set.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

/// counts(c) = how many rows have bit c set.
struct ColumnCounts {
  const Bits* bits = nullptr;
  std::span<std::uint32_t> counts;
};
void count_columns(std::span<const ColumnCounts> all, const Context& context);

}  // namespace ergodic
