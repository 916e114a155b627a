// Products of real matrices whose rows and columns are rounded to 16 bits, each in a unit of its own, with what is
// needed to bound their error. Pairs of products are summed in 32 bits by one instruction, at twice the rate of fused
// multiply-adds.
//
// Sums may wrap around in 32 bits as long as the last one fits, and it does: units are chosen so that |x| |w|, which no
// sum exceeds, fits. By the inequality of Cauchy and Schwarz a sum is off by at most
//   |x| |dw| + |dx| (|w| + |dw|),   where d is what was rounded off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

inline constexpr std::size_t kRoundedColumns = 32;  ///< that are multiplied at a time
inline constexpr std::size_t kMostRoundedInputs = std::size_t{1} << 16;
inline constexpr float kFloatRoundoff = 0x1p-24f;

/// A rounded vector: its unit, and bounds on its norm and on that of what was rounded off.
struct RoundedNorms {
  float unit = 0.0f, size = 0.0f, off = 0.0f;
};

/// Whether this CPU's target has such products.
bool has_rounded_products();

/// The words that a rounded row of so many inputs takes.
constexpr std::size_t words_of_rounded(std::size_t inputs) {
  return (inputs + kRoundedColumns - 1) / kRoundedColumns * kRoundedColumns / 2;
}
void round_row(std::span<const float> x, std::int32_t* words, RoundedNorms& out);

/// Rows that were rounded, one after the other.
struct RoundedRows {
  std::span<const RoundedNorms> norms;
  const std::int32_t* words;
};
/// fields(r, j) <- bias_j + (row r) W for the columns j from `first` on, at most kRoundedColumns of them, whose norms
/// go to `columns`, which has room for as many.
void multiply_rounded(const RoundedRows& rows, MatrixView<const float> weights, std::span<const float> bias,
                      std::size_t first, std::span<RoundedNorms> columns, MatrixView<float> fields);

}  // namespace ergodic
