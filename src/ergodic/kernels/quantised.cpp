#include "ergodic/kernels/quantised.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/quantised.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

// What all targets share.
#ifndef ERGODIC_QUANTISED_SHARED
#define ERGODIC_QUANTISED_SHARED
namespace ergodic {
namespace {

/// What is summed over a tile while it is rounded.
struct TileSums {
  alignas(kCacheLine) std::array<std::int32_t, kTileColumns> column;    // sum of the values
  alignas(kCacheLine) std::array<std::int32_t, kTileColumns> positive;  // sum of those above zero
  std::int16_t largest = 0;  // sum of one sign in a block, of any column; 32767 if one does not fit
};

}  // namespace
}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void quantise_block(const float* weights, std::size_t stride, std::size_t rows, float scale, std::int16_t* values,
                    TileSums& sums) {
  for (std::size_t c = 0; c < kTileColumns; ++c) {
    std::int32_t positive = 0, negative = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const float scaled = std::nearbyint(weights[i * stride + c] * scale);
      const bool fits = scaled > -32767.0f && scaled < 32767.0f;  // also false if it is not a number
      const std::int32_t rounded = fits ? static_cast<std::int32_t>(scaled) : 32767;
      (rounded > 0 ? positive : negative) += rounded;
      values[i * kTileColumns + c] = static_cast<std::int16_t>(rounded);
    }
    sums.positive[c] += positive;
    sums.column[c] += positive + negative;
    sums.largest = static_cast<std::int16_t>(std::min(32767, std::max({int{sums.largest}, positive, -negative})));
  }
}

void transpose_block(const float* in, std::size_t in_stride, std::size_t rows, std::size_t cols, float* out,
                     std::size_t out_stride) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) out[j * out_stride + i] = in[i * in_stride + j];
  }
}

#else

/// The lanes of `low`, then those of `high`, in 16 bits.
template <class D16, class V32>
HWY_INLINE hn::VFromD<D16> demote(D16 d16, V32 low, V32 high) {
  const auto packed = hn::ReorderDemote2To(d16, low, high);
  if constexpr (hn::MaxLanes(d16) == 8) return packed;
  // Vectors of 32 bytes are packed by halves: low, high, low, high.
  const hn::Repartition<std::uint32_t, D16> d32;
  alignas(32) static constexpr std::int32_t kOrder[8] = {0, 1, 4, 5, 2, 3, 6, 7};
  return hn::BitCast(d16, hn::TableLookupLanes(hn::BitCast(d32, packed), hn::SetTableIndices(d32, kOrder)));
}

/// values = weights * scale, rounded, for up to 64 rows of 32 columns.
void quantise_block(const float* HWY_RESTRICT weights, std::size_t stride, std::size_t rows, float scale,
                    std::int16_t* HWY_RESTRICT values, TileSums& sums) {
  const hn::CappedTag<float, 8> df;
  const hn::Repartition<std::int16_t, decltype(df)> d16;
  const hn::RebindToSigned<decltype(df)> d32;
  constexpr std::size_t kLanes = hn::MaxLanes(d16);
  constexpr std::size_t kVectors = kTileColumns / kLanes;
  const auto factor = hn::Set(df, scale);
  const auto zero = hn::Zero(d16);
  hn::VFromD<decltype(d16)> positive[kVectors], negative[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) positive[v] = negative[v] = zero;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const float* from = weights + i * stride + v * kLanes;
      const auto low = hn::NearestInt(hn::Mul(hn::LoadU(df, from), factor));
      const auto high = hn::NearestInt(hn::Mul(hn::LoadU(df, from + kLanes / 2), factor));
      const auto rounded = demote(d16, low, high);
      positive[v] = hn::SaturatedAdd(positive[v], hn::Max(rounded, zero));
      negative[v] = hn::SaturatedAdd(negative[v], hn::Min(rounded, zero));
      hn::Store(rounded, d16, values + i * kTileColumns + v * kLanes);
    }
  }
  auto largest = hn::Set(d16, sums.largest);
  for (std::size_t v = 0; v < kVectors; ++v) {
    largest = hn::Max(largest, hn::Max(positive[v], hn::SaturatedSub(zero, negative[v])));
    const auto add = [&](auto part, std::size_t c, std::int32_t* to) HWY_ATTR {
      const auto wide = hn::PromoteTo(d32, part);
      hn::Store(hn::Add(hn::Load(d32, to + c), wide), d32, to + c);
    };
    const hn::Half<decltype(d16)> half;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t c = v * kLanes + k * (kLanes / 2);
      const auto p = k == 0 ? hn::LowerHalf(half, positive[v]) : hn::UpperHalf(half, positive[v]);
      const auto n = k == 0 ? hn::LowerHalf(half, negative[v]) : hn::UpperHalf(half, negative[v]);
      add(p, c, sums.positive.data());
      add(p, c, sums.column.data());
      add(n, c, sums.column.data());
    }
  }
  sums.largest = hn::GetLane(hn::MaxOfLanes(d16, largest));
}

/// out(j, i) = in(i, j), for a square as wide as a vector.
template <class D>
HWY_INLINE void transpose_square(D d, const float* HWY_RESTRICT in, std::size_t in_stride, float* HWY_RESTRICT out,
                                 std::size_t out_stride) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const hn::Repartition<double, D> dd;
  hn::VFromD<D> columns[kLanes];  // of four rows each: column k of the first 16 bytes of the vector, then of the second
  for (std::size_t r = 0; r < kLanes; r += 4) {
    const auto r0 = hn::LoadU(d, in + r * in_stride), r1 = hn::LoadU(d, in + (r + 1) * in_stride);
    const auto r2 = hn::LoadU(d, in + (r + 2) * in_stride), r3 = hn::LoadU(d, in + (r + 3) * in_stride);
    const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1)), b = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
    const auto c = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3)), e = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
    columns[r] = hn::BitCast(d, hn::InterleaveLower(dd, a, c));
    columns[r + 1] = hn::BitCast(d, hn::InterleaveUpper(dd, a, c));
    columns[r + 2] = hn::BitCast(d, hn::InterleaveLower(dd, b, e));
    columns[r + 3] = hn::BitCast(d, hn::InterleaveUpper(dd, b, e));
  }
  for (std::size_t k = 0; k < 4; ++k) {
    if constexpr (kLanes == 4) {
      hn::StoreU(columns[k], d, out + k * out_stride);
    } else {
      hn::StoreU(hn::ConcatLowerLower(d, columns[k + 4], columns[k]), d, out + k * out_stride);
      hn::StoreU(hn::ConcatUpperUpper(d, columns[k + 4], columns[k]), d, out + (k + 4) * out_stride);
    }
  }
}

/// out(j, i) = in(i, j).
void transpose_block(const float* in, std::size_t in_stride, std::size_t rows, std::size_t cols, float* out,
                     std::size_t out_stride) {
  const hn::CappedTag<float, 8> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const std::size_t whole_rows = rows / kLanes * kLanes, whole_cols = cols / kLanes * kLanes;
  for (std::size_t j = 0; j < whole_cols; j += kLanes) {
    for (std::size_t i = 0; i < whole_rows; i += kLanes) {
      transpose_square(d, in + i * in_stride + j, in_stride, out + j * out_stride + i, out_stride);
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = i < whole_rows ? whole_cols : 0; j < cols; ++j)
      out[j * out_stride + i] = in[i * in_stride + j];
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(quantise_block);
HWY_EXPORT(transpose_block);

constexpr int kLargestExponent = 24;  // finer units gain nothing, and sums stay far from the range of 32 bits
constexpr int kSmallestExponent = 4;  // with coarser ones, next to nothing could be certified
constexpr std::int16_t kTooLarge = 32767;

}  // namespace

/// Where a tile's weights come from, a block of rows at a time.
struct QuantisedWeights::Source {
  MatrixView<const float> weights;   // as given
  MatrixView<float> transposed;      // where the transposed ones go; empty if they are not wanted
  std::size_t first = 0, width = 0;  // the tile's columns

  struct Rows {
    const float* first;
    std::size_t stride;
  };

  double sum_of_sizes(std::size_t column) const {
    double sum = 0.0;
    if (transposed.rows() > 0) {
      for (const float w : weights.row(first + column)) sum += std::abs(double{w});
    } else {
      for (std::size_t i = 0; i < weights.rows(); ++i) sum += std::abs(double{weights(i, first + column)});
    }
    return sum;
  }

  /// Rows [begin, begin + count) of the tile, 32 wide; those of a narrower tile are copied into `buffer`, beside zeros.
  Rows block(std::size_t begin, std::size_t count, std::array<float, kBlockRows * kTileColumns>& buffer) const {
    Rows out{weights.data() + begin * weights.cols() + first, weights.cols()};
    if (transposed.rows() > 0) {
      out = {transposed.data() + begin * transposed.cols() + first, transposed.cols()};
      HWY_DYNAMIC_DISPATCH(transpose_block)
      (weights.data() + first * weights.cols() + begin, weights.cols(), width, count,
       transposed.data() + begin * transposed.cols() + first, transposed.cols());
    }
    if (width == kTileColumns) return out;
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(out.first + i * out.stride, width, buffer.begin() + static_cast<std::ptrdiff_t>(i * kTileColumns));
    }
    return {buffer.data(), kTileColumns};
  }
};

QuantisedWeights::QuantisedWeights(std::size_t rows, std::size_t cols)
    : rows_(rows),
      cols_(cols),
      padded_rows_((rows + kBlockRows - 1) / kBlockRows * kBlockRows),
      values_((cols + kTileColumns - 1) / kTileColumns * kTileColumns * padded_rows_),
      offsets_((cols + kTileColumns - 1) / kTileColumns * kTileColumns),
      exponents_((cols + kTileColumns - 1) / kTileColumns, kNone),
      trial_exponents_(exponents_.size(), kLargestExponent),
      reach_(cols) {}

bool QuantisedWeights::usable() const {
  return std::none_of(exponents_.begin(), exponents_.end(), [](int exponent) { return exponent == kNone; });
}

void QuantisedWeights::assign(MatrixView<const float> weights, std::span<const float> bias, float low,
                              const Context& context) {
  assert(weights.rows() == rows_ && weights.cols() == cols_ && bias.size() == cols_);
  context.for_blocks(tiles(), 1, [&](std::size_t tile, std::size_t) {
    const std::size_t first = tile * kTileColumns;
    assign_tile(tile, {weights, {}, first, std::min(kTileColumns, cols_ - first)}, bias, low);
  });
}

void QuantisedWeights::assign_transposed(MatrixView<const float> weights, std::span<const float> bias, float low,
                                         MatrixView<float> transposed, const Context& context) {
  assert(weights.rows() == cols_ && weights.cols() == rows_ && bias.size() == cols_);
  assert(transposed.rows() == rows_ && transposed.cols() == cols_);
  context.for_blocks(tiles(), 1, [&](std::size_t tile, std::size_t) {
    const std::size_t first = tile * kTileColumns;
    assign_tile(tile, {weights, transposed, first, std::min(kTileColumns, cols_ - first)}, bias, low);
  });
}

void QuantisedWeights::assign_tile(std::size_t tile, const Source& source, std::span<const float> bias, float low) {
  std::array<float, kBlockRows * kTileColumns> buffer{};
  TileSums sums;
  // The exponent of last time is nearly always right again; if it is too large, a smaller one is.
  int exponent = trial_exponents_[tile];
  for (; exponent >= kSmallestExponent; --exponent) {
    sums.column.fill(0);
    sums.positive.fill(0);
    sums.largest = 0;
    const float scale = std::ldexp(1.0f, exponent);
    for (std::size_t begin = 0; begin < rows_; begin += kBlockRows) {
      const std::size_t count = std::min(kBlockRows, rows_ - begin);
      const Source::Rows rows = source.block(begin, count, buffer);
      HWY_DYNAMIC_DISPATCH(quantise_block)
      (rows.first, rows.stride, count, scale, values_.data() + (tile * padded_rows_ + begin) * kTileColumns, sums);
    }
    if (sums.largest < kTooLarge) break;
  }
  const bool usable = exponent >= kSmallestExponent;
  exponents_[tile] = usable ? exponent : kNone;
  trial_exponents_[tile] =
      !usable || sums.largest < kTooLarge / 2 ? std::min(exponent + 1, kLargestExponent) : exponent;

  const double unit = std::ldexp(1.0, -exponent);
  for (std::size_t c = 0; c < source.width; ++c) {
    const std::size_t j = source.first + c;
    constexpr double kLimit = 1 << 30;
    const double offset = std::nearbyint(double{bias[j]} / unit) + double{low} * sums.column[c];
    offsets_[j] = static_cast<std::int32_t>(std::clamp(offset, -kLimit, kLimit));
    // Each weight is within half a unit of its rounded value.
    const double sizes = 2.0 * sums.positive[c] - sums.column[c] + 0.5 * static_cast<double>(rows_);
    reach_[j] = static_cast<float>(1.001 * (std::abs(bias[j]) + (usable ? unit * sizes : source.sum_of_sizes(c))));
  }
}

}  // namespace ergodic
#endif  // HWY_ONCE
