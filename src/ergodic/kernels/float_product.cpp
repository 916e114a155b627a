#include "ergodic/kernels/float_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/float_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

#include "ergodic/core/aligned.hpp"

// What all targets share.
#ifndef ERGODIC_FLOAT_PRODUCT_SHARED
#define ERGODIC_FLOAT_PRODUCT_SHARED
namespace ergodic {

namespace {
constexpr std::size_t kDepth = 256;         // terms of the chains that are added before the next columns' turn
constexpr std::size_t kBlockColumns = 128;  // of the output, whose factors a thread packs at a time
}  // namespace

/// A part of the outputs, and what it is made of.
struct OutputBlock {
  const Factor& a;
  const Factor& b;
  MatrixView<float> out;
  std::size_t row, rows, column, columns;
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_NATIVE_FMA && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
using Floats = hn::CappedTag<float, 16>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
// A tile of the output stays in registers: 24 sums of 32 registers with AVX-512 and NEON, 12 of 16 with AVX2.
constexpr std::size_t kTileVectors = kLanes == 4 ? 4 : 2, kTileRows = kLanes == 16 ? 12 : 6;
constexpr std::size_t kTileColumns = kTileVectors * kLanes;

/// Adds `depth` terms to each output of a tile of kRows rows and kVectors vectors. The factors of its columns are
/// packed: those of one term lie side by side. In a transpose those of the rows do so too, and need fewer addresses.
template <std::size_t kVectors, std::size_t kRows, bool kTransposed = false>
HWY_INLINE void add_terms(const float* HWY_RESTRICT a, const Factor& strides, const float* HWY_RESTRICT packed,
                          std::size_t depth, float* HWY_RESTRICT out, std::size_t out_stride) {
  const Floats d;
  hn::VFromD<Floats> sums[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::LoadU(d, out + r * out_stride + v * kLanes);
  }
  for (std::size_t k = 0; k < depth; ++k, packed += kTileColumns, a += strides.column_stride) {
    hn::VFromD<Floats> columns[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) columns[v] = hn::Load(d, packed + v * kLanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a[kTransposed ? r : r * strides.row_stride]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, columns[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, out + r * out_stride + v * kLanes);
  }
}

/// The same for a number of rows that is known at run time.
template <std::size_t kVectors, std::size_t... kLess>
HWY_INLINE void add_terms_to(std::index_sequence<kLess...>, std::size_t rows, const float* a, const Factor& strides,
                             const float* packed, std::size_t depth, float* out, std::size_t out_stride) {
  ((rows == kLess + 1 ? add_terms<kVectors, kLess + 1>(a, strides, packed, depth, out, out_stride) : void()), ...);
}

/// Columns of b whose factors lie side by side: whole vectors of a row go to all tiles at once, while rows further down
/// are on their way into the cache.
void pack_rows(const Factor& b, std::size_t k, std::size_t depth, std::size_t column, std::size_t width,
               float* HWY_RESTRICT packed) {
  const Floats d;
  constexpr std::size_t kAhead = 16, kLineFloats = kCacheLine / sizeof(float);
  const std::size_t whole = width / kTileColumns * kTileColumns;
  if (whole < width) std::fill_n(packed + whole * depth, depth * kTileColumns, 0.0f);
  for (std::size_t t = 0; t < depth; ++t) {
    const float* from = b.at(k + t, column);
    if (t + kAhead < depth) {
      for (std::size_t j = 0; j < width; j += kLineFloats) hwy::Prefetch(from + kAhead * b.row_stride + j);
    }
    for (std::size_t j = 0; j < whole; j += kTileColumns) {
      float* const to = packed + j * depth + t * kTileColumns;
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        hn::Store(hn::LoadU(d, from + j + v * kLanes), d, to + v * kLanes);
      }
    }
    if (whole < width) std::copy(from + whole, from + width, packed + whole * depth + t * kTileColumns);
  }
}

/// Columns of b whose factors lie one after the other, as in a transpose: blocks of it that the nearest cache holds,
/// read along its rows.
void pack_columns(const Factor& b, std::size_t k, std::size_t depth, std::size_t column, std::size_t width,
                  float* HWY_RESTRICT packed) {
  constexpr std::size_t kTerms = 16;
  for (std::size_t first = 0; first < width; first += kTileColumns, packed += depth * kTileColumns) {
    const std::size_t columns = std::min(kTileColumns, width - first);
    if (columns < kTileColumns) std::fill_n(packed, depth * kTileColumns, 0.0f);
    for (std::size_t t0 = 0; t0 < depth; t0 += kTerms) {
      const std::size_t terms = std::min(kTerms, depth - t0);
      for (std::size_t j = 0; j < columns; ++j) {
        const float* from = b.at(k + t0, column + first + j);
        float* to = packed + t0 * kTileColumns + j;
        for (std::size_t t = 0; t < terms; ++t) to[t * kTileColumns] = from[t * b.row_stride];
      }
    }
  }
}

/// Adds terms to a tile of the output at (row, column).
HWY_INLINE void add_to_tile(const OutputBlock& block, std::size_t row, std::size_t rows, std::size_t column,
                            std::size_t width, std::size_t k, std::size_t depth, const float* packed) {
  constexpr auto kAnyRows = std::make_index_sequence<kTileRows>();
  const float* const a = block.a.at(row, k);
  const std::size_t stride = block.out.cols();
  float* const out = block.out.data() + row * stride + column;
  if (width == kTileColumns && rows == kTileRows && block.a.row_stride == 1) {
    return add_terms<kTileVectors, kTileRows, true>(a, block.a, packed, depth, out, stride);
  }
  if (width == kTileColumns) return add_terms_to<kTileVectors>(kAnyRows, rows, a, block.a, packed, depth, out, stride);
  // A tile that the edge cuts is computed beside the output.
  alignas(kCacheLine) std::array<float, kTileRows * kTileColumns> tile{};
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(out + r * stride, width, &tile[r * kTileColumns]);
  if (width <= kLanes) {
    add_terms_to<1>(kAnyRows, rows, a, block.a, packed, depth, tile.data(), kTileColumns);
  } else {
    add_terms_to<kTileVectors>(kAnyRows, rows, a, block.a, packed, depth, tile.data(), kTileColumns);
  }
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(&tile[r * kTileColumns], width, out + r * stride);
}

void add_block(const OutputBlock& block, float* HWY_RESTRICT packed) {
  for (std::size_t k = 0; k < block.a.cols; k += kDepth) {
    const std::size_t depth = std::min(kDepth, block.a.cols - k);
    const auto pack = block.b.column_stride == 1 ? pack_rows : pack_columns;
    pack(block.b, k, depth, block.column, block.columns, packed);
    for (std::size_t i = 0; i < block.rows; i += kTileRows) {
      for (std::size_t j = 0; j < block.columns; j += kTileColumns) {
        add_to_tile(block, block.row + i, std::min(kTileRows, block.rows - i), block.column + j,
                    std::min(kTileColumns, block.columns - j), k, depth, packed + j * depth);
      }
    }
  }
}
#else
/// The definition.
void add_block(const OutputBlock& block, float*) {
  for (std::size_t i = block.row; i < block.row + block.rows; ++i) {
    float* const out = block.out.row(i).data();
    for (std::size_t k = 0; k < block.a.cols; ++k) {
      const float factor = *block.a.at(i, k);
      for (std::size_t j = block.column; j < block.column + block.columns; ++j) {
        out[j] = std::fma(factor, *block.b.at(k, j), out[j]);
      }
    }
  }
}
#endif

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(add_block);

constexpr std::size_t kMostBlockRows = 192, kRowMultiple = 12;  // of the rows of all tiles

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

void add_product(const Factor& a, const Factor& b, MatrixView<float> out, const Context& context) {
  assert(a.cols == b.rows && out.rows() == a.rows && out.cols() == b.cols);
  if (out.elements().empty()) return;
  // Rows are shared out evenly among as few blocks as there can be, since each packs its columns anew.
  const std::size_t even = ceil_div(out.rows(), ceil_div(out.rows(), kMostBlockRows));
  const std::size_t height = ceil_div(even, kRowMultiple) * kRowMultiple;
  const std::size_t across = ceil_div(out.cols(), kBlockColumns), down = ceil_div(out.rows(), height);
  context.for_blocks(across * down, 1, [&](std::size_t at, std::size_t) {
    thread_local AlignedVector<float> packed(kDepth * kBlockColumns);
    const std::size_t row = at / across * height, column = at % across * kBlockColumns;
    HWY_DYNAMIC_DISPATCH(add_block)
    ({a, b, out, row, std::min(height, out.rows() - row), column, std::min(kBlockColumns, out.cols() - column)},
     packed.data());
  });
}

}  // namespace ergodic
#endif  // HWY_ONCE
