// Weights rounded to 16 bits, for products by look-up tables.
//
// Each column has its unit, a power of two, as small as lets no sum over a block of 64 rows overflow 16 bits. Sums of
// rounded weights are exact integers; their distance to the true sum is at most half a unit for each input that is on,
// which is what a certified sampler needs to know. Columns lie in tiles of 32, what a table's entry holds.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"

namespace ergodic {

inline constexpr std::size_t kTileColumns = 32;
inline constexpr std::size_t kBlockRows = 64;

/// What is larger than this has left the caches before it is read again, so it is written past them.
inline constexpr std::size_t kCachedBytes = std::size_t{16} << 20;

/// The sums over a block of the rounded weights of each column, by their sign; 32767 and -32768 if they do not fit.
/// Also how far they are from the weights, if all inputs count: where a low input is zero, it has no part in the error.
struct alignas(kCacheLine) BlockSums {
  std::array<std::int16_t, kTileColumns> positive{}, negative{};
  std::array<float, kTileColumns> rounding{};
};

/// The sums of each column over all blocks, and the largest of any block.
struct alignas(kCacheLine) ColumnSums {
  std::array<std::int32_t, kTileColumns> positive, negative, largest;
  std::array<float, kTileColumns> rounding;
};

/// W(i, j) is about values(tile, i, column) * 2^-exponent(j).
class QuantisedWeights {
 public:
  /// The exponent of a column whose weights or bias are too large, or NaN.
  static constexpr int kNone = -1000;
  /// Fields up to here fit an integer after any scaling; a column that goes beyond is too large.
  static constexpr float kLargestReach = 0x1p17f;

  QuantisedWeights() = default;
  /// `low` is the low level of the inputs.
  QuantisedWeights(std::size_t rows, std::size_t cols, float low);

  std::size_t tiles() const { return exponents_.size() / kTileColumns; }
  std::size_t blocks() const { return padded_rows_ / kBlockRows; }
  /// Whether no column is without an exponent.
  bool usable() const;

  /// The exponent of each column; columns that fill the last tile hold zeros.
  std::span<const int> exponents() const { return exponents_; }
  /// 2^-exponent.
  static float unit_of(int exponent) { return std::bit_cast<float>(static_cast<std::uint32_t>(127 - exponent) << 23); }
  float unit(std::size_t column) const { return unit_of(exponents_[column]); }
  /// The 64 x 32 values of a block of rows.
  const std::int16_t* block(std::size_t tile, std::size_t block) const { return values_.data() + place(tile, block); }
  /// bias + low * (sum of the rounded column) for each column: the field when all inputs are low.
  std::span<const double> offsets() const { return offsets_; }
  /// At least the sum of |W - rounded W| over each column, in its units: what any choice of inputs can make of
  /// rounding.
  std::span<const float> roundings() const { return roundings_; }
  /// At least |bias| + sum |W| for each column.
  std::span<const float> reach() const { return reach_; }

  /// Rounds all the weights anew.
  void assign(MatrixView<const float> weights, std::span<const float> bias, const Context& context);

  /// Rounding in parts: every block of every tile is rounded, in any order, and then `finish` is called. It chooses
  /// other units where the sums demand it, and renews what depends on the biases.
  void round_block(std::size_t tile, std::size_t block, MatrixView<const float> weights) {
    round_block(tile, block, weights.data() + block * kBlockRows * cols_ + tile * kTileColumns, cols_);
  }
  /// Rounds a block, given where its first weight lies, and how far its rows are from each other.
  void round_block(std::size_t tile, std::size_t block, const float* weights, std::size_t stride);
  void finish(MatrixView<const float> weights, std::span<const float> bias, const Context& context);
  /// Finishes one tile; each must be finished, in any order.
  void finish_tile(std::size_t tile, MatrixView<const float> weights, std::span<const float> bias);
  static constexpr std::size_t kFinishedTiles = 8;  ///< that one thread should take at a time

 private:
  std::size_t place(std::size_t tile, std::size_t block) const {
    return (tile * padded_rows_ + block * kBlockRows) * kTileColumns;
  }

  std::size_t rows_ = 0, cols_ = 0, padded_rows_ = 0;
  float low_ = 0.0f;
  AlignedVector<std::int16_t> values_;
  std::vector<BlockSums> sums_;  // [tile][block]
  std::vector<double> offsets_;
  std::vector<float> roundings_;
  std::vector<int> exponents_;
  std::vector<int> next_exponents_;   // for the next rounding
  AlignedVector<float> next_scales_;  // 2^next_exponent
  std::vector<float> reach_;
};

}  // namespace ergodic
