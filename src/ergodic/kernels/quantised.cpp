#include "ergodic/kernels/quantised.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/quantised.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <span>

#include "ergodic/kernels/nearest-inl.hpp"
#include "ergodic/kernels/optimisation_barrier.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// values = weights * scales, rounded, for `rows` rows of 32 columns; the sums of each sign saturate. If it is asked
/// for, `rounding` is the sum of what was rounded off.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void quantise(const float* weights, std::size_t stride, std::size_t rows, const float* scales, std::int16_t* values,
              std::int16_t* positive, std::int16_t* negative, float* rounding, bool) {
  for (std::size_t c = 0; c < kTileColumns; ++c) {
    std::int32_t sum[2] = {};
    float off = 0.0f;
    for (std::size_t i = 0; i < rows; ++i) {
      const float exact = weights[i * stride + c] * scales[c], scaled = std::nearbyint(exact);
      off += std::abs(exact - scaled);
      const bool fits = scaled > -32768.0f && scaled < 32767.0f;  // also false if it is NaN
      const std::int32_t rounded = fits ? static_cast<std::int32_t>(scaled) : 32767;
      sum[rounded < 0] += rounded;
      values[i * kTileColumns + c] = static_cast<std::int16_t>(rounded);
    }
    positive[c] = static_cast<std::int16_t>(std::min(sum[0], 32767));
    negative[c] = static_cast<std::int16_t>(std::max(sum[1], -32768));
    if (rounding) rounding[c] = off;
  }
}

void add_sums(std::span<const BlockSums> blocks, ColumnSums& out) {
  out = {};
  for (const BlockSums& block : blocks) {
    for (std::size_t c = 0; c < kTileColumns; ++c) {
      const std::int32_t above = block.positive[c], below = block.negative[c];
      out.positive[c] += above;
      out.negative[c] += below;
      out.largest[c] = std::max(out.largest[c], std::max(above, -below));
      out.rounding[c] += block.rounding[c];
    }
  }
}

#else

/// The sums over all blocks.
void add_sums(std::span<const BlockSums> blocks, ColumnSums& out) {
  const hn::CappedTag<std::int32_t, 16> d;
  const hn::Rebind<std::int16_t, decltype(d)> d16;
  const hn::RebindToFloat<decltype(d)> df;
  for (std::size_t c = 0; c < kTileColumns; c += hn::Lanes(d)) {
    auto positive = hn::Zero(d), negative = hn::Zero(d), largest = hn::Zero(d);
    auto rounding = hn::Zero(df);
    for (const BlockSums& block : blocks) {
      const auto above = hn::PromoteTo(d, hn::Load(d16, block.positive.data() + c)),
                 below = hn::PromoteTo(d, hn::Load(d16, block.negative.data() + c));
      positive = hn::Add(positive, above);
      negative = hn::Add(negative, below);
      largest = hn::Max(largest, hn::Max(above, hn::Neg(below)));
      rounding = hn::Add(rounding, hn::Load(df, block.rounding.data() + c));
    }
    hn::Store(positive, d, out.positive.data() + c);
    hn::Store(negative, d, out.negative.data() + c);
    hn::Store(largest, d, out.largest.data() + c);
    hn::Store(rounding, df, out.rounding.data() + c);
  }
}

/// The lanes of `low`, then those of `high`, in 16 bits.
template <class D16, class V32>
HWY_INLINE hn::VFromD<D16> demote(D16 d16, V32 low, V32 high) {
  const auto packed = hn::ReorderDemote2To(d16, low, high);
  if constexpr (hn::MaxLanes(d16) == 8) {
    return packed;
  } else {  // longer vectors are packed by 16 bytes: low, high, low, high
    const hn::Repartition<std::uint32_t, D16> d32;
    constexpr std::size_t kLanes = hn::MaxLanes(d32);
    alignas(64) static constexpr auto kOrder = [] {
      std::array<std::int32_t, kLanes> out{};
      for (std::size_t k = 0; k < kLanes; ++k) {
        out[k] = static_cast<std::int32_t>(k % (kLanes / 2) / 2 * 4 + k / (kLanes / 2) * 2 + k % 2);
      }
      return out;
    }();
    return hn::BitCast(d16, hn::TableLookupLanes(hn::BitCast(d32, packed), hn::SetTableIndices(d32, kOrder.data())));
  }
}

template <bool kRounding, bool kPastCaches>
void quantise_with(const float* HWY_RESTRICT weights, std::size_t stride, std::size_t rows,
                   const float* HWY_RESTRICT scales, std::int16_t* HWY_RESTRICT values,
                   std::int16_t* HWY_RESTRICT positive, std::int16_t* HWY_RESTRICT negative,
                   float* HWY_RESTRICT rounding) {
  const hn::CappedTag<float, 16> df;
  const hn::Repartition<std::int16_t, decltype(df)> d16;
  constexpr std::size_t kLanes = hn::MaxLanes(d16), kHalf = kLanes / 2;
  constexpr std::size_t kVectors = kTileColumns / kLanes;
  const auto zero = hn::Zero(d16);
  hn::VFromD<decltype(df)> factor[2 * kVectors], off[2 * kVectors];
  for (std::size_t v = 0; v < 2 * kVectors; ++v) {
    factor[v] = hn::Load(df, scales + v * kHalf);
    off[v] = hn::Zero(df);
  }
  hn::VFromD<decltype(d16)> above[kVectors], below[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) above[v] = below[v] = zero;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto round = [&](std::size_t v) HWY_ATTR {
      const auto exact = hn::Mul(hn::LoadU(df, weights + i * stride + v * kHalf), factor[v]);
      const auto rounded = nearest(exact);
      if constexpr (kRounding) off[v] = hn::Add(off[v], hn::Abs(hn::Sub(exact, hn::ConvertTo(df, rounded))));
      return rounded;
    };
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto low = round(2 * v), high = round(2 * v + 1);
      const auto rounded = demote(d16, low, high);
      above[v] = hn::SaturatedAdd(above[v], hn::Max(rounded, zero));
      below[v] = hn::SaturatedAdd(below[v], hn::Min(rounded, zero));
      std::int16_t* HWY_RESTRICT to = values + i * kTileColumns + v * kLanes;
      kPastCaches ? hn::Stream(rounded, d16, to) : hn::Store(rounded, d16, to);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::Store(above[v], d16, positive + v * kLanes);
    hn::Store(below[v], d16, negative + v * kLanes);
  }
  if constexpr (kRounding) {
    for (std::size_t v = 0; v < 2 * kVectors; ++v) hn::Store(off[v], df, rounding + v * kHalf);
  }
}

void quantise(const float* weights, std::size_t stride, std::size_t rows, const float* scales, std::int16_t* values,
              std::int16_t* positive, std::int16_t* negative, float* rounding, bool past_caches) {
  const auto quantise_so = rounding ? (past_caches ? quantise_with<true, true> : quantise_with<true, false>)
                                    : (past_caches ? quantise_with<false, true> : quantise_with<false, false>);
  quantise_so(weights, stride, rows, scales, values, positive, negative, rounding);
  if (past_caches) hwy::FlushStream();
}
#endif

/// The first `width` columns of some rows, and zeros up to the width of a tile.
void pad_rows(const float* HWY_RESTRICT from, std::size_t stride, std::size_t rows, std::size_t width,
              float* HWY_RESTRICT out) {
  const hn::CappedTag<float, 4> d;
  for (std::size_t i = 0; i < rows; ++i, from += stride, out += kTileColumns) {
    std::size_t c = 0;
    for (; c + hn::Lanes(d) <= width; c += hn::Lanes(d)) {
      auto some = hn::LoadU(d, from + c);
      ERGODIC_KEEP_VECTOR(some);  // or GCC would call memcpy for these few
      hn::Store(some, d, out + c);
    }
    for (std::size_t k = c; k < kTileColumns; k += hn::Lanes(d)) hn::Store(hn::Zero(d), d, out + k);
    for (; c < width; ++c) out[c] = from[c];
  }
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(quantise);
HWY_EXPORT(add_sums);
HWY_EXPORT(pad_rows);

constexpr int kLargestExponent = 24;  // finer units gain nothing, and sums stay far from the range of 32 bits
constexpr int kSmallestExponent = 4;  // with coarser ones, next to nothing could be certified
constexpr int kTooLarge = 32767;      // a sum that did not fit
constexpr int kFull = 30720;          // a sum that may not fit after the next step
// A sum that is not full in units half as large: there it is double, but for what 64 weights were rounded in both.
constexpr int kRoom = kFull / 2 - static_cast<int>(kBlockRows);

}  // namespace

QuantisedWeights::QuantisedWeights(std::size_t rows, std::size_t cols, float low)
    : rows_(rows),
      cols_(cols),
      padded_rows_((rows + kBlockRows - 1) / kBlockRows * kBlockRows),
      low_(low),
      reach_(cols) {
  const std::size_t tiles = (cols + kTileColumns - 1) / kTileColumns;
  values_.resize(tiles * kTileColumns * padded_rows_);
  sums_.resize(tiles * blocks());
  offsets_.resize(tiles * kTileColumns);
  roundings_.resize(tiles * kTileColumns);
  exponents_.assign(tiles * kTileColumns, kNone);
  next_exponents_.assign(tiles * kTileColumns, kLargestExponent);
  next_scales_.resize(tiles * kTileColumns);
  std::fill(next_scales_.begin(), next_scales_.end(), std::ldexp(1.0f, kLargestExponent));
}

bool QuantisedWeights::usable() const {
  return std::none_of(exponents_.begin(), exponents_.end(), [](int exponent) { return exponent == kNone; });
}

void QuantisedWeights::assign(MatrixView<const float> weights, std::span<const float> bias, const Context& context) {
  context.for_blocks(tiles(), 1, [&](std::size_t tile, std::size_t) {
    for (std::size_t b = 0; b < blocks(); ++b) round_block(tile, b, weights);
  });
  finish(weights, bias, context);
}

void QuantisedWeights::round_block(std::size_t tile, std::size_t block, const float* weights, std::size_t stride) {
  const std::size_t rows = std::min(kBlockRows, rows_ - block * kBlockRows);
  const std::size_t column = tile * kTileColumns, width = std::min(kTileColumns, cols_ - column);
  const float* from = weights;
  alignas(kCacheLine) std::array<float, kBlockRows * kTileColumns> padded;
  if (width < kTileColumns) {
    HWY_DYNAMIC_DISPATCH(pad_rows)(from, stride, rows, width, padded.data());
    from = padded.data();
    stride = kTileColumns;
  }
  BlockSums& sums = sums_[tile * blocks() + block];
  HWY_DYNAMIC_DISPATCH(quantise)
  (from, stride, rows, next_scales_.data() + column, values_.data() + place(tile, block), sums.positive.data(),
   sums.negative.data(), low_ == 0.0f ? nullptr : sums.rounding.data(),
   values_.size() * sizeof(std::int16_t) > kCachedBytes);
}

void QuantisedWeights::finish(MatrixView<const float> weights, std::span<const float> bias, const Context& context) {
  context.for_blocks(tiles(), kFinishedTiles, [&](std::size_t begin, std::size_t end) {
    for (std::size_t tile = begin; tile < end; ++tile) finish_tile(tile, weights, bias);
  });
}

void QuantisedWeights::finish_tile(std::size_t tile, MatrixView<const float> weights, std::span<const float> bias) {
  ColumnSums sums;
  const std::size_t first = tile * kTileColumns;
  const auto set_next = [&](std::size_t j, int exponent) {
    next_exponents_[j] = exponent;
    next_scales_[j] = std::ldexp(1.0f, exponent);
  };
  // The units of last time are nearly always right again; where they are too small, larger ones are.
  for (bool again = true; again;) {
    HWY_DYNAMIC_DISPATCH(add_sums)(std::span(sums_).subspan(tile * blocks(), blocks()), sums);
    again = false;
    for (std::size_t c = 0; c < kTileColumns; ++c) {
      if (sums.largest[c] < kTooLarge || next_exponents_[first + c] == kSmallestExponent) continue;
      set_next(first + c, next_exponents_[first + c] - 1);
      again = true;
    }
    for (std::size_t b = 0; again && b < blocks(); ++b) round_block(tile, b, weights);
  }
  std::copy_n(next_exponents_.begin() + static_cast<std::ptrdiff_t>(first), kTileColumns,
              exponents_.begin() + static_cast<std::ptrdiff_t>(first));

  for (std::size_t c = 0; c < std::min(kTileColumns, cols_ - first); ++c) {
    const std::size_t j = first + c;
    const double unit = this->unit(j);
    // Each weight is within half a unit of its rounded value.
    double sizes = unit * (sums.positive[c] - sums.negative[c] + 0.5 * static_cast<double>(rows_));
    if (sums.largest[c] >= kTooLarge) {
      sizes = 0.0;
      for (std::size_t i = 0; i < rows_; ++i) sizes += std::abs(double{weights(i, j)});
    }
    reach_[j] = static_cast<float>(1.001 * (std::abs(bias[j]) + sizes));
    offsets_[j] = bias[j] + low_ * unit * (sums.positive[c] + sums.negative[c]);
    roundings_[j] = low_ == 0.0f ? 0.5f * static_cast<float>(rows_) : 1.001f * sums.rounding[c];
    if (sums.largest[c] >= kTooLarge || !(reach_[j] < kLargestReach)) exponents_[j] = kNone;
  }
  // The next rounding is tried with units that fit these sums, so that it is seldom in vain.
  for (std::size_t c = 0; c < kTileColumns; ++c) {
    const int exponent = next_exponents_[first + c];
    if (sums.largest[c] < kRoom && exponent < kLargestExponent) set_next(first + c, exponent + 1);
    if (sums.largest[c] >= kFull && exponent > kSmallestExponent) set_next(first + c, exponent - 1);
  }
}

}  // namespace ergodic
#endif  // HWY_ONCE
