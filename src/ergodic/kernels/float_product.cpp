#include "ergodic/kernels/float_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/float_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
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

/// Adds `depth` terms to each output of a tile of kRows rows. The factors of its columns are packed: those of one term
/// lie side by side.
template <std::size_t kRows>
HWY_INLINE void add_terms(const float* HWY_RESTRICT a, const Factor& strides, const float* HWY_RESTRICT packed,
                          std::size_t depth, float* HWY_RESTRICT out, std::size_t out_stride) {
  const Floats d;
  hn::VFromD<Floats> sums[kRows][kTileVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) sums[r][v] = hn::LoadU(d, out + r * out_stride + v * kLanes);
  }
  for (std::size_t k = 0; k < depth; ++k, packed += kTileColumns, a += strides.column_stride) {
    hn::VFromD<Floats> columns[kTileVectors];
    for (std::size_t v = 0; v < kTileVectors; ++v) columns[v] = hn::Load(d, packed + v * kLanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a[r * strides.row_stride]);
      for (std::size_t v = 0; v < kTileVectors; ++v) sums[r][v] = hn::MulAdd(factor, columns[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) hn::StoreU(sums[r][v], d, out + r * out_stride + v * kLanes);
  }
}

/// The same for a number of rows that is known at run time.
template <std::size_t... kLess>
HWY_INLINE void add_terms_to(std::index_sequence<kLess...>, std::size_t rows, const float* a, const Factor& strides,
                             const float* packed, std::size_t depth, float* out, std::size_t out_stride) {
  ((rows == kLess + 1 ? add_terms<kLess + 1>(a, strides, packed, depth, out, out_stride) : void()), ...);
}

/// Rows [k, k + depth) of the columns [column, column + width) of b, zeros beyond.
void pack(const Factor& b, std::size_t k, std::size_t depth, std::size_t column, std::size_t width,
          float* HWY_RESTRICT packed) {
  if (width < kTileColumns) std::fill_n(packed, depth * kTileColumns, 0.0f);
  if (b.column_stride == 1) {
    for (std::size_t t = 0; t < depth; ++t) std::copy_n(b.at(k + t, column), width, packed + t * kTileColumns);
    return;
  }
  // Blocks of the transpose that the nearest cache holds, read along its rows.
  constexpr std::size_t kTerms = 16;
  for (std::size_t first = 0; first < depth; first += kTerms) {
    const std::size_t terms = std::min(kTerms, depth - first);
    for (std::size_t j = 0; j < width; ++j) {
      const float* from = b.at(k + first, column + j);
      float* to = packed + first * kTileColumns + j;
      for (std::size_t t = 0; t < terms; ++t) to[t * kTileColumns] = from[t * b.row_stride];
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
  if (width == kTileColumns) return add_terms_to(kAnyRows, rows, a, block.a, packed, depth, out, stride);
  // A tile that the edge cuts is computed beside the output.
  alignas(kCacheLine) std::array<float, kTileRows * kTileColumns> tile{};
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(out + r * stride, width, &tile[r * kTileColumns]);
  add_terms_to(kAnyRows, rows, a, block.a, packed, depth, tile.data(), kTileColumns);
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(&tile[r * kTileColumns], width, out + r * stride);
}

void add_block(const OutputBlock& block, float* HWY_RESTRICT packed) {
  for (std::size_t k = 0; k < block.a.cols; k += kDepth) {
    const std::size_t depth = std::min(kDepth, block.a.cols - k);
    const auto for_tiles = [&](const auto& f) HWY_ATTR {
      for (std::size_t j = 0; j < block.columns; j += kTileColumns) {
        f(block.column + j, std::min(kTileColumns, block.columns - j), packed + j * depth);
      }
    };
    for_tiles([&](std::size_t column, std::size_t width, float* to)
                  HWY_ATTR { pack(block.b, k, depth, column, width, to); });
    for (std::size_t i = 0; i < block.rows; i += kTileRows) {
      for_tiles([&](std::size_t column, std::size_t width, const float* from) HWY_ATTR {
        add_to_tile(block, block.row + i, std::min(kTileRows, block.rows - i), column, width, k, depth, from);
      });
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
