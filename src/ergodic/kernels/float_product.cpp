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
#ifndef KD
#define KD 256
#endif
constexpr std::size_t kDepth = KD;         // terms of the chains that are added before the next columns' turn
#ifndef BC
#define BC 256
#endif
#ifndef FR
#define FR 40
#endif
#ifndef NW
#define NW 128
#endif
#ifndef PF
#define PF 1
#endif
constexpr std::size_t kFewRows=FR, kNarrow=NW;
constexpr std::size_t kBlockColumns = BC;  // of the output, whose factors a thread packs at a time
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
constexpr std::size_t kTileColumns = kTileVectors * kLanes, kPackedRows = (kTileRows + 3) / 4 * 4;

/// A tile of the output, and where its terms are: the factor of row r in term k is a[r * a_row + k * a_term], and those
/// of the columns lie side by side from b[k * b_term] on.
struct Tile {
  const float* a;
  std::size_t a_row, a_term;
  const float* b;
  std::size_t b_term;
  std::size_t depth;
  float* out;
  std::size_t out_stride;
  std::size_t last;  // columns in the last vector
  const float* next;
};

/// Reads and writes the first lanes of a vector without a touch of what is behind them.
HWY_INLINE hn::VFromD<Floats> load_first(std::size_t count, const float* from) {
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(kCacheLine) std::array<float, kLanes> lanes{};
  std::copy_n(from, count, lanes.data());
  return hn::Load(Floats(), lanes.data());
#else
  return hn::MaskedLoad(hn::FirstN(Floats(), count), Floats(), from);
#endif
}

HWY_INLINE void store_first(hn::VFromD<Floats> v, std::size_t count, float* to) {
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(kCacheLine) std::array<float, kLanes> lanes;
  hn::Store(v, Floats(), lanes.data());
  std::copy_n(lanes.data(), count, to);
#else
  hn::BlendedStore(v, hn::FirstN(Floats(), count), Floats(), to);
#endif
}

/// Adds its terms to each output of a tile of kRows rows and kVectors vectors, the last of which may be cut.
template <std::size_t kVectors, std::size_t kRows, bool kCut>
void add_terms(const Tile& tile) {
  const Floats d;
  const std::size_t last = tile.last;
  const auto load = [&](const float* from, std::size_t v) HWY_ATTR {
    return kCut && v + 1 == kVectors ? load_first(last, from + v * kLanes) : hn::LoadU(d, from + v * kLanes);
  };
  hn::VFromD<Floats> sums[kRows][kVectors];
  const std::size_t out_stride = tile.out_stride, a_row = tile.a_row, a_term = tile.a_term, b_term = tile.b_term;
  float* const out = tile.out;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = load(out + r * out_stride, v);
  }
  if (PF) for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) hwy::Prefetch(tile.next + r * out_stride + v * 16);
  }
  const float *HWY_RESTRICT a = tile.a, *HWY_RESTRICT b = tile.b;
  for (std::size_t k = tile.depth; k > 0; --k, a += a_term, b += b_term) {
    hn::VFromD<Floats> columns[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) columns[v] = hn::LoadU(d, b + v * kLanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a[r * a_row]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, columns[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* const to = out + r * out_stride + v * kLanes;
      if (kCut && v + 1 == kVectors) {
        store_first(sums[r][v], last, to);
      } else {
        hn::StoreU(sums[r][v], d, to);
      }
    }
  }
}

using AddTerms = void (*)(const Tile&);

/// add_terms for each number of rows, of vectors, and with a whole or a cut last vector.
struct TileKernels {
  std::array<std::array<std::array<AddTerms, 2>, kTileVectors>, kTileRows> at;
};

template <std::size_t... kRow, std::size_t... kVector>
constexpr TileKernels all_kernels(std::index_sequence<kRow...>, std::index_sequence<kVector...> vectors) {
  TileKernels out{};
  const auto set_row = [&out]<std::size_t kR, std::size_t... kV>(std::index_sequence<kV...>) {
    ((out.at[kR][kV] = {add_terms<kV + 1, kR + 1, false>, add_terms<kV + 1, kR + 1, true>}), ...);
  };
  (set_row.template operator()<kRow>(vectors), ...);
  return out;
}

constexpr TileKernels kKernels =
    all_kernels(std::make_index_sequence<kTileRows>(), std::make_index_sequence<kTileVectors>());

/// Packs units whose factors of one term lie side by side. `packed` has panels of kWidth units, term after term.
template <std::size_t kWidth>
HWY_INLINE void pack_straight(const Factor& from, float* HWY_RESTRICT packed) {
  constexpr std::size_t kAhead = 16, kLineFloats = kCacheLine / sizeof(float);
  const std::size_t whole = from.cols / kWidth * kWidth;
  for (std::size_t k = 0; k < from.rows; ++k) {
    const float* const row = from.at(k, 0);
    if (k + kAhead < from.rows) {
      for (std::size_t j = 0; j < from.cols; j += kLineFloats) hwy::Prefetch(row + kAhead * from.row_stride + j);
    }
    float* to = packed + k * kWidth;
    for (std::size_t j = 0; j < whole; j += kWidth, to += kWidth * from.rows) {
      for (std::size_t v = 0; v < kWidth; v += kLanes) hn::Store(hn::LoadU(Floats(), row + j + v), Floats(), to + v);
    }
    if (whole < from.cols) std::copy(row + whole, row + from.cols, to);
  }
}

/// Four terms of units, each of which has its own side by side, from vectors of which each block of four lanes is one
/// unit's.
template <class D>
HWY_INLINE hn::VFromD<D> load_blocks(D d, const float* from, std::size_t stride, const std::size_t* places) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from + places[0] * stride);
  } else {
    constexpr hn::Half<D> half;
    constexpr std::size_t kBlocks = hn::MaxLanes(D()) / 8;
    return hn::Combine(d, load_blocks(half, from, stride, places + 4 * kBlocks),
                       load_blocks(half, from, stride, places));
  }
}

/// The same for units whose terms lie side by side, as in a transpose. Lanes that no unit has repeat the last one.
template <std::size_t kWidth, class D>
HWY_INLINE void pack_turned(const D d, const Factor& from, float* HWY_RESTRICT packed) {
  constexpr std::size_t kGroup = hn::MaxLanes(D());
  static_assert(kWidth % kGroup == 0);
  const std::size_t stride = from.column_stride, depth = from.rows;
  for (std::size_t j = 0; j < from.cols; j += kGroup) {
    float* to = packed + j / kWidth * kWidth * depth + j % kWidth;
    const float* in = from.at(0, j);
    std::size_t places[kGroup];
    for (std::size_t u = 0; u < kGroup; ++u) places[u] = std::min(u, from.cols - 1 - j);
    std::size_t k = 0;
    for (; k + 4 <= depth; k += 4, in += 4, to += 4 * kWidth) {
      const auto u0 = load_blocks(d, in, stride, places), u1 = load_blocks(d, in, stride, places + 1);
      const auto u2 = load_blocks(d, in, stride, places + 2), u3 = load_blocks(d, in, stride, places + 3);
      const auto low02 = hn::InterleaveLower(d, u0, u2), low13 = hn::InterleaveLower(d, u1, u3);
      const auto high02 = hn::InterleaveUpper(d, u0, u2), high13 = hn::InterleaveUpper(d, u1, u3);
      hn::StoreU(hn::InterleaveLower(d, low02, low13), d, to);
      hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, to + kWidth);
      hn::StoreU(hn::InterleaveLower(d, high02, high13), d, to + 2 * kWidth);
      hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, to + 3 * kWidth);
    }
    for (; k < depth; ++k, ++in, to += kWidth) {
      for (std::size_t u = 0; u < kGroup; ++u) to[u] = in[places[u] * stride];
    }
  }
}

/// Packs the factors of units: columns of `from`, whose rows are terms.
template <std::size_t kWidth, class D>
HWY_INLINE void pack(D d, const Factor& from, float* HWY_RESTRICT packed) {
  if (from.column_stride == 1) return pack_straight<kWidth>(from, packed);
  pack_turned<kWidth>(d, from, packed);
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Adds `depth` terms of the chains to a block of the output.
void add_terms_to_block(const OutputBlock& block, std::size_t k, std::size_t depth,
                        float* HWY_RESTRICT packed_b) {
  // Columns whose factors are read where they are. A vector of them must not reach beyond the last.
  const bool in_place = block.b.column_stride == 1 && (block.rows <= kFewRows || block.b.row_stride <= kNarrow);
  const std::size_t whole = block.columns % kLanes == 0 ? block.columns : block.columns / kTileColumns * kTileColumns;
  const std::size_t packed_from = in_place ? whole : 0;
  pack<kTileColumns>(Floats(), block.b.block(k, depth, block.column + packed_from, block.columns - packed_from),
                     packed_b);
  const std::size_t stride = block.out.cols();
  const std::size_t height = ceil_div(block.rows, ceil_div(block.rows, kTileRows));  // tiles as even as can be
  for (std::size_t i = 0; i < block.rows; i += height) {
    const std::size_t rows = std::min(height, block.rows - i);
    const Factor a = block.a.block(block.row + i, rows, k, depth);
    for (std::size_t j = 0; j < block.columns; j += kTileColumns) {
      const std::size_t width = std::min(kTileColumns, block.columns - j), vectors = ceil_div(width, kLanes);
      const std::size_t last = width - (vectors - 1) * kLanes;
      const bool packed = j >= packed_from;
      const float* const b = packed ? packed_b + (j - packed_from) * depth : block.b.at(k, block.column + j);
      const std::size_t b_term = packed ? kTileColumns : block.b.row_stride;
      float* const out = block.out.data() + (block.row + i) * stride + block.column + j;
      kKernels.at[rows - 1][vectors - 1][last < kLanes](
          {a.data, a.row_stride, a.column_stride, b, b_term, depth, out, stride, last, j + kTileColumns < block.columns ? out + kTileColumns : out - j + rows * stride});
    }
  }
}

void add_block(const OutputBlock& block, float* HWY_RESTRICT packed) {
  const std::size_t terms = block.a.cols;
  if (terms == 0) return;
  const std::size_t depth = ceil_div(terms, ceil_div(terms, kDepth));
  for (std::size_t k = 0; k < terms; k += depth) {
    add_terms_to_block(block, k, std::min(depth, terms - k), packed);
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
