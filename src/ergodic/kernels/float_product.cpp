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
constexpr std::size_t kDepth = 256;         // most terms of the chains that are added before the next columns' turn
constexpr std::size_t kBlockColumns = 256;  // of the output, whose factors a thread packs at a time
// Packing pays if what is packed is read often, and lies far apart.
constexpr std::size_t kFewRows = 40, kNear = 16384;  // floats

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
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
/// of the columns lie side by side from b[k * b_term] on, as many as whole vectors have.
struct Tile {
  const float* a;
  std::size_t a_row, a_term;
  const float* b;
  std::size_t b_term, depth;
  float* out;
  std::size_t out_stride;
  std::size_t last;  // columns in the last vector
};

// Only the first lanes of a cut vector are read and written: what is behind them may not be there, or be another
// thread's.
template <bool kCut>
HWY_INLINE hn::VFromD<Floats> load_first(std::size_t count, const float* from) {
  if (!kCut) return hn::LoadU(Floats(), from);
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(kCacheLine) std::array<float, kLanes> lanes{};
  std::copy_n(from, count, lanes.data());
  return hn::Load(Floats(), lanes.data());
#else
  return hn::MaskedLoad(hn::FirstN(Floats(), count), Floats(), from);
#endif
}

template <bool kCut>
HWY_INLINE void store_first(hn::VFromD<Floats> v, std::size_t count, float* to) {
  if (!kCut) return hn::StoreU(v, Floats(), to);
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(kCacheLine) std::array<float, kLanes> lanes;
  hn::Store(v, Floats(), lanes.data());
  std::copy_n(lanes.data(), count, to);
#else
  hn::BlendedStore(v, hn::FirstN(Floats(), count), Floats(), to);
#endif
}

/// Adds its terms to the sums of a tile of kVectors vectors in a row, the last of which may be cut. kSum counts the
/// sums: only with indices that the compiler knows does GCC keep them in registers and nowhere else.
template <std::size_t kVectors, bool kCut, std::size_t... kSum>
HWY_INLINE void add_terms_to_sums(const Tile& tile, std::index_sequence<kSum...>) {
  const Floats d;
  constexpr auto cut = [](std::size_t sum) { return kCut && (sum + 1) % kVectors == 0; };
  constexpr auto place = [](std::size_t sum, std::size_t stride) {
    return sum / kVectors * stride + sum % kVectors * kLanes;
  };
  // Copies: for all the compiler knows, a vector that is stored may change the tile.
  const auto [a_first, a_row, a_term, b_first, b_term, depth, out, out_stride, last] = tile;
  hn::VFromD<Floats> sums[] = {load_first<cut(kSum)>(last, out + place(kSum, out_stride))...};
  const float *HWY_RESTRICT a = a_first, *HWY_RESTRICT b = b_first;
  for (std::size_t k = depth; k > 0; --k, a += a_term, b += b_term) {
    ((sums[kSum] =
          hn::MulAdd(hn::Set(d, a[kSum / kVectors * a_row]), hn::LoadU(d, b + kSum % kVectors * kLanes), sums[kSum])),
     ...);
  }
  (store_first<cut(kSum)>(sums[kSum], last, out + place(kSum, out_stride)), ...);
}

template <std::size_t kVectors, std::size_t kRows, bool kCut>
void add_terms(const Tile& tile) {
  add_terms_to_sums<kVectors, kCut>(tile, std::make_index_sequence<kRows * kVectors>());
}

using AddTerms = void (*)(const Tile&);

/// add_terms for each number of rows, and of vectors in a row. A number is looked up faster than compared.
template <bool kCut, std::size_t... kAt>
constexpr std::array<AddTerms, sizeof...(kAt)> tile_sizes(std::index_sequence<kAt...>) {
  return {add_terms<kAt % kTileVectors + 1, kAt / kTileVectors + 1, kCut>...};
}

HWY_INLINE void add_to_tile(const Tile& tile, std::size_t rows, std::size_t vectors) {
  constexpr auto kSizes = std::make_index_sequence<kTileRows * kTileVectors>();
  static constexpr std::array kWhole = tile_sizes<false>(kSizes), kCut = tile_sizes<true>(kSizes);
  (tile.last == kLanes ? kWhole : kCut)[(rows - 1) * kTileVectors + vectors - 1](tile);
}

/// Packs columns of b whose factors lie side by side: whole vectors of a row go to all tiles at once, while rows
/// further down are on their way into the cache. Lanes that no column has keep what is there: their sums are not
/// stored.
void pack_rows(const Factor& b, float* HWY_RESTRICT packed) {
  const Floats d;
  constexpr std::size_t kAhead = 16, kLineFloats = kCacheLine / sizeof(float);
  const std::size_t whole = b.cols / kTileColumns * kTileColumns;
  for (std::size_t k = 0; k < b.rows; ++k) {
    const float* const from = b.at(k, 0);
    if (k + kAhead < b.rows) {
      for (std::size_t j = 0; j < b.cols; j += kLineFloats) hwy::Prefetch(from + kAhead * b.row_stride + j);
    }
    float* to = packed + k * kTileColumns;
    for (std::size_t j = 0; j < whole; j += kTileColumns, to += kTileColumns * b.rows) {
      for (std::size_t v = 0; v < kTileColumns; v += kLanes) hn::Store(hn::LoadU(d, from + j + v), d, to + v);
    }
    if (whole < b.cols) std::copy(from + whole, from + b.cols, to);
  }
}

/// A vector of four floats each of some columns of a transpose: the first, the fifth, the ninth, ... of `columns`.
template <class D>
HWY_INLINE hn::VFromD<D> load_fours(D d, const float* const* columns, std::size_t k) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, columns[0] + k);
  } else {
    constexpr hn::Half<D> half;
    return hn::Combine(d, load_fours(half, columns + hn::MaxLanes(half), k), load_fours(half, columns, k));
  }
}

/// Packs columns of b whose factors lie one after the other, as in a transpose: four terms of a vector of columns at a
/// time. Lanes that no column has repeat the last one.
void pack_columns(const Factor& b, float* HWY_RESTRICT packed) {
  const Floats d;
  for (std::size_t j = 0; j < b.cols; j += kLanes) {
    std::array<const float*, kLanes> columns;
    for (std::size_t u = 0; u < kLanes; ++u) columns[u] = b.at(0, std::min(j + u, b.cols - 1));
    float* to = packed + j / kTileColumns * kTileColumns * b.rows + j % kTileColumns;
    std::size_t k = 0;
    for (; k + 4 <= b.rows; k += 4, to += 4 * kTileColumns) {
      const auto c0 = load_fours(d, &columns[0], k), c1 = load_fours(d, &columns[1], k);
      const auto c2 = load_fours(d, &columns[2], k), c3 = load_fours(d, &columns[3], k);
      const auto low02 = hn::InterleaveLower(d, c0, c2), low13 = hn::InterleaveLower(d, c1, c3);
      const auto high02 = hn::InterleaveUpper(d, c0, c2), high13 = hn::InterleaveUpper(d, c1, c3);
      hn::Store(hn::InterleaveLower(d, low02, low13), d, to);
      hn::Store(hn::InterleaveUpper(d, low02, low13), d, to + kTileColumns);
      hn::Store(hn::InterleaveLower(d, high02, high13), d, to + 2 * kTileColumns);
      hn::Store(hn::InterleaveUpper(d, high02, high13), d, to + 3 * kTileColumns);
    }
    for (; k < b.rows; ++k, to += kTileColumns) {
      for (std::size_t u = 0; u < kLanes; ++u) to[u] = columns[u][k];
    }
  }
}

/// How many of a block's first columns are read where they are. No vector of them may reach beyond the last column.
std::size_t columns_in_place(const OutputBlock& block, std::size_t depth) {
  const bool packing_pays = block.rows > kFewRows && depth * block.b.row_stride > kNear;
  if (block.b.column_stride != 1 || packing_pays) return 0;
  return block.columns % kLanes == 0 ? block.columns : block.columns / kTileColumns * kTileColumns;
}

/// The largest part of which equal ones, but for the last, make up `count`, with none above `most`. A small rest would
/// take as long as a part.
std::size_t even_part(std::size_t count, std::size_t most) { return ceil_div(count, ceil_div(count, most)); }

/// Adds `depth` terms to the chains of a block.
void add_slice(const OutputBlock& block, std::size_t k, std::size_t depth, float* HWY_RESTRICT packed) {
  const std::size_t in_place = columns_in_place(block, depth);
  if (in_place < block.columns) {
    const auto pack = block.b.column_stride == 1 ? pack_rows : pack_columns;
    pack(block.b.block(k, depth, block.column + in_place, block.columns - in_place), packed);
  }
  const std::size_t stride = block.out.cols(), height = even_part(block.rows, kTileRows);
  for (std::size_t i = block.row, end = block.row + block.rows; i < end; i += height) {
    Tile tile{.a = block.a.at(i, k),
              .a_row = block.a.row_stride,
              .a_term = block.a.column_stride,
              .b = nullptr,
              .b_term = 0,
              .depth = depth,
              .out = nullptr,
              .out_stride = stride,
              .last = 0};
    for (std::size_t j = 0; j < block.columns; j += kTileColumns) {
      const std::size_t width = std::min(kTileColumns, block.columns - j), vectors = ceil_div(width, kLanes);
      const bool here = j < in_place;
      tile.b = here ? block.b.at(k, block.column + j) : packed + (j - in_place) * depth;
      tile.b_term = here ? block.b.row_stride : kTileColumns;
      tile.out = block.out.data() + i * stride + block.column + j;
      tile.last = width - (vectors - 1) * kLanes;
      add_to_tile(tile, std::min(height, end - i), vectors);
    }
  }
}

void add_block(const OutputBlock& block, float* HWY_RESTRICT packed) {
  const std::size_t terms = block.a.cols, depth = even_part(std::max<std::size_t>(terms, 1), kDepth);
  for (std::size_t k = 0; k < terms; k += depth) add_slice(block, k, std::min(depth, terms - k), packed);
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
constexpr std::size_t kLeastWork = 1 << 18;                     // multiply-adds that are worth the call of a thread

}  // namespace

void add_product(const Factor& a, const Factor& b, MatrixView<float> out, const Context& context) {
  assert(a.cols == b.rows && out.rows() == a.rows && out.cols() == b.cols);
  if (out.elements().empty()) return;
  // A column would take a lane of each vector; turned into a row it takes all of them.
  if (out.cols() == 1 && out.rows() > 1) {
    return add_product(b.transposed(), a.transposed(), {out.data(), 1, out.rows()}, context);
  }
  // Several threads take smaller blocks, so that they are done at about the same time.
  const std::size_t threads = context.thread_count(), width = threads > 1 ? kBlockColumns / 2 : kBlockColumns;
  const std::size_t across = ceil_div(out.cols(), width);
  // Rows are shared out evenly among few blocks, since each packs its columns anew; among more if a thread had none.
  const std::size_t worth_a_thread = out.elements().size() * a.cols / kLeastWork;
  const std::size_t wanted =
      std::max(ceil_div(out.rows(), kMostBlockRows), std::min(ceil_div(threads, across), worth_a_thread));
  const std::size_t height = ceil_div(ceil_div(out.rows(), wanted), kRowMultiple) * kRowMultiple;
  const std::size_t down = ceil_div(out.rows(), height);
  context.for_blocks(across * down, 1, [&](std::size_t at, std::size_t) {
    thread_local AlignedVector<float> packed(kDepth * kBlockColumns);
    const std::size_t row = at / across * height, column = at % across * width;
    HWY_DYNAMIC_DISPATCH(add_block)
    ({a, b, out, row, std::min(height, out.rows() - row), column, std::min(width, out.cols() - column)}, packed.data());
  });
}

}  // namespace ergodic
#endif  // HWY_ONCE
