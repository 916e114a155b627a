// Sums of integers over the set bits of a matrix: exact, and so the same in any order.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

/// Values whose sum over any row or over a hundred of them fits 32 bits.
inline constexpr int kBitSumRange = 24;

/// out(r) = sum of column_values(c) over the bits of row r that are set. No sum may reach 2^24.
void sum_rows(const Bits& bits, std::span<const std::int32_t> column_values, std::span<std::int32_t> out,
              const Context& context);

/// counts(c) = how many rows have bit c set; sums(c) = sum of row_values(r) over them, each below 2^24.
void sum_columns(const Bits& bits, std::span<const std::int32_t> row_values, std::span<std::int64_t> counts,
                 std::span<std::int64_t> sums, const Context& context);

}  // namespace ergodic
