#include "ergodic/kernels/couplings.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/couplings.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "ergodic/kernels/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// out(j, i) = in(i, j).
void transpose(const float* in, std::size_t in_stride, std::size_t rows, std::size_t cols, float* out,
               std::size_t out_stride) {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::CappedTag<float, 16> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  if (rows >= kLanes && cols >= kLanes) {
    // A last square that would be cut lies over the one before it.
    for (std::size_t begin = 0; begin < cols; begin += kLanes) {
      const std::size_t j = std::min(begin, cols - kLanes);
      for (std::size_t first = 0; first < rows; first += kLanes) {
        const std::size_t i = std::min(first, rows - kLanes);
        transpose_square(d, in + i * in_stride + j, in_stride, out + j * out_stride + i, out_stride);
      }
    }
    return;
  }
#endif
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) out[j * out_stride + i] = in[i * in_stride + j];
  }
}

/// Some whole rows of a block, which the next to read them finds in memory.
void copy_past_caches(const float* HWY_RESTRICT in, std::size_t rows, float* HWY_RESTRICT out, std::size_t stride) {
  const hn::CappedTag<float, 16> d;
  for (std::size_t i = 0; i < rows; ++i, in += kBlockRows, out += stride) {
    for (std::size_t j = 0; j < kBlockRows; j += hn::Lanes(d)) hn::Stream(hn::Load(d, in + j), d, out + j);
  }
  hwy::FlushStream();
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(transpose);
HWY_EXPORT(copy_past_caches);
}  // namespace

Couplings::Couplings(std::size_t rows, std::size_t cols, float rows_low, float columns_low)
    : transposed_(cols, rows), to_columns_(rows, cols, rows_low), to_rows_(cols, rows, columns_low) {}

void Couplings::renew_block(MatrixView<const float> weights, std::size_t row, std::size_t column) {
  assert(row % kBlock == 0 && column % kBlock == 0);
  const std::size_t n = weights.rows(), m = weights.cols();
  const std::size_t row_end = std::min(n, row + kBlock), column_end = std::min(m, column + kBlock);
  const float* const from = weights.data() + row * m + column;
  float* const to = transposed_.data() + column * n + row;
  alignas(kCacheLine) std::array<float, kBlock * kBlock> near;
  const bool past_caches = transposed_.elements().size_bytes() > kCachedBytes && n % kBlock == 0;
  const float* const turned = past_caches ? near.data() : to;
  const std::size_t stride = past_caches ? kBlock : n;
  // While the new weights are still in the nearest cache.
  const bool rounded = to_columns_.tiles() > 0;
  for (std::size_t j = column; rounded && j < column_end; j += kTileColumns) {
    to_columns_.round_block(j / kTileColumns, row / kBlockRows, from + (j - column), m);
  }
  HWY_DYNAMIC_DISPATCH(transpose)(from, m, row_end - row, column_end - column, past_caches ? near.data() : to, stride);
  if (past_caches) HWY_DYNAMIC_DISPATCH(copy_past_caches)(near.data(), column_end - column, to, n);
  for (std::size_t i = row; rounded && i < row_end; i += kTileColumns) {
    to_rows_.round_block(i / kTileColumns, column / kBlockRows, turned + (i - row), stride);
  }
}

void Couplings::renew_blocks(MatrixView<const float> weights, const Context& context) {
  context.for_blocks(weights.rows(), kBlock, [&](std::size_t row, std::size_t) {
    for (std::size_t column = 0; column < weights.cols(); column += kBlock) renew_block(weights, row, column);
  });
}

void Couplings::finish(MatrixView<const float> weights, std::span<const float> row_bias,
                       std::span<const float> column_bias, const Context& context) {
  context.for_blocks_of_all(
      2, [&](std::size_t k) { return k == 0 ? to_columns_.tiles() : to_rows_.tiles(); },
      QuantisedWeights::kFinishedTiles,
      [&](std::size_t k, std::size_t begin, std::size_t end) {
        for (std::size_t tile = begin; tile < end; ++tile) {
          k == 0 ? to_columns_.finish_tile(tile, weights, column_bias)
                 : to_rows_.finish_tile(tile, transposed_, row_bias);
        }
      });
}

void transpose(MatrixView<const float> from, MatrixView<float> to, const Context& context) {
  assert(from.rows() == to.cols() && from.cols() == to.rows());
  constexpr std::size_t kBlock = Couplings::kBlock;
  context.for_blocks(from.rows(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = 0; j < from.cols(); j += kBlock) {
      HWY_DYNAMIC_DISPATCH(transpose)
      (&from(begin, j), from.cols(), end - begin, std::min(kBlock, from.cols() - j), &to(j, begin), to.cols());
    }
  });
}

}  // namespace ergodic
#endif  // HWY_ONCE
