#include "ergodic/kernels/rounded_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/rounded_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ergodic/core/aligned.hpp"
#include "ergodic/kernels/nearest-inl.hpp"

// What all targets share.
#ifndef ERGODIC_ROUNDED_PRODUCT_SHARED
#define ERGODIC_ROUNDED_PRODUCT_SHARED
namespace ergodic {

namespace {
// The largest norms of rounded rows and columns. Rounding adds half of the root of the number of inputs to a norm, and
// the product must stay below 2^31.
constexpr float kRowNorm = 64000.0f, kColumnNorm = 32000.0f, kLargest = 32000.0f;
static_assert((64000.0 + 0.5 * 256) * (32000.0 + 0.5 * 256) < 0x1p31 && kMostRoundedInputs == 256 * 256);
constexpr float kTiny = 0x1p-60f;  // norms that are smaller are not told apart: their squares underflow

/// More than what sums of so many terms, and a few operations on them, round off in terms of themselves.
float slack_of(std::size_t terms) { return 1.0f + 4.0f * kFloatRoundoff * static_cast<float>(terms + 16); }

/// Bounds, given sums of squares: of the vector, and of what was rounded off in terms of the unit.
float size_of(float squares, float slack) { return std::sqrt(squares) * slack + kTiny; }
float off_of(float unit, float squares, float slack) { return unit * (std::sqrt(squares) * slack + 0.01f); }
}  // namespace

/// Some columns of the weights, rounded: the inputs 2 k and 2 k + 1 of column j are the halves of word 32 k + j.
struct RoundedPanel {
  std::int32_t* words;
  RoundedNorms* columns;
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
using Floats = hn::CappedTag<float, 16>;
using Integers = hn::RebindToSigned<Floats>;
constexpr Floats kFloats{};
constexpr Integers kIntegers{};
using Shorts = hn::Repartition<std::int16_t, Floats>;
constexpr Shorts kShorts{};
constexpr std::size_t kLanes = hn::MaxLanes(kFloats), kVectors = kRoundedColumns / kLanes;
// Sums that stay in registers: 24 of 32 with AVX-512 and NEON, where each has two parts, and 12 of 16 with others.
constexpr std::size_t kTileVectors = 2, kTileRows = kLanes == 16 ? 12 : 6;

bool has_pairs() { return true; }

/// Two factors rounded, one in each half of a word; adds the squares of what was rounded off to `off`.
HWY_INLINE hn::VFromD<Integers> round_pair(hn::VFromD<Floats> first, hn::VFromD<Floats> second,
                                           hn::VFromD<Floats> scale, hn::VFromD<Floats>& off) {
  const auto round = [&](hn::VFromD<Floats> v) HWY_ATTR {
    const auto exact = hn::Mul(v, scale);
    const auto rounded = nearest(exact);
    const auto rest = hn::Sub(exact, hn::ConvertTo(kFloats, rounded));
    off = hn::MulAdd(rest, rest, off);
    return rounded;
  };
  const auto low = round(first), high = round(second);
  return hn::Or(hn::And(low, hn::Set(kIntegers, 0xFFFF)), hn::ShiftLeft<16>(high));
}

/// Rounds n inputs of a row. `words` has room for a multiple of kRoundedColumns of them.
void round_inputs(const float* HWY_RESTRICT x, std::size_t n, std::int32_t* HWY_RESTRICT words, RoundedNorms& out) {
  const float slack = slack_of(n);
  auto squares = hn::Zero(kFloats), largest = hn::Zero(kFloats), off = hn::Zero(kFloats);
  alignas(kCacheLine) float last[2 * kLanes] = {};  // those that do not fill two vectors, and zeros
  const std::size_t whole = n / (2 * kLanes) * (2 * kLanes);
  std::copy(x + whole, x + n, last);
  const auto for_vectors = [&](const auto& f) HWY_ATTR {
    for (std::size_t i = 0; i < whole; i += 2 * kLanes) f(x + i, words + i / 2);
    if (whole < n) f(last, words + whole / 2);
  };
  for_vectors([&](const float* from, std::int32_t*) HWY_ATTR {
    for (std::size_t v = 0; v < 2; ++v) {
      const auto some = hn::LoadU(kFloats, from + v * kLanes);
      squares = hn::MulAdd(some, some, squares);
      largest = hn::Max(largest, hn::Abs(some));
    }
  });
  out.size = size_of(hn::GetLane(hn::SumOfLanes(kFloats, squares)), slack);
  const float most = hn::GetLane(hn::MaxOfLanes(kFloats, largest)) + kTiny;
  const float scale = std::min(kRowNorm / out.size, kLargest / most);
  out.unit = 1.0f / scale;
  for_vectors([&](const float* from, std::int32_t* to) HWY_ATTR {
    hn::VFromD<Floats> even, odd;
    hn::LoadInterleaved2(kFloats, from, even, odd);
    hn::StoreU(round_pair(even, odd, hn::Set(kFloats, scale), off), kIntegers, to);
  });
  out.off = off_of(out.unit, hn::GetLane(hn::SumOfLanes(kFloats, off)), slack);
}

/// Rounds kRoundedColumns columns of n weights.
void round_panel(const float* HWY_RESTRICT weights, std::size_t stride, std::size_t n, const RoundedPanel& out) {
  const float slack = slack_of(n);
  alignas(kCacheLine) static constexpr float kZeros[kRoundedColumns] = {};
  hn::VFromD<Floats> sums[kVectors], scales[kVectors];
  const auto for_pairs = [&](const auto& f) HWY_ATTR {
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(kFloats);
    for (std::size_t i = 0; i < n; i += 2) {
      const float *first = weights + i * stride, *second = i + 1 < n ? first + stride : kZeros;
      for (std::size_t v = 0; v < kVectors; ++v) {
        f(v, i / 2, hn::LoadU(kFloats, first + v * kLanes), hn::LoadU(kFloats, second + v * kLanes));
      }
    }
  };
  alignas(kCacheLine) float lanes[kRoundedColumns];
  const auto store_sums = [&]() HWY_ATTR {
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sums[v], kFloats, lanes + v * kLanes);
  };
  for_pairs([&](std::size_t v, std::size_t, hn::VFromD<Floats> first, hn::VFromD<Floats> second)
                HWY_ATTR { sums[v] = hn::Add(sums[v], hn::MulAdd(first, first, hn::Mul(second, second))); });
  store_sums();
  for (std::size_t c = 0; c < kRoundedColumns; ++c) {
    RoundedNorms& column = out.columns[c];
    column.size = size_of(lanes[c], slack);
    lanes[c] = kColumnNorm / column.size;
    column.unit = 1.0f / lanes[c];
  }
  for (std::size_t v = 0; v < kVectors; ++v) scales[v] = hn::Load(kFloats, lanes + v * kLanes);
  for_pairs([&](std::size_t v, std::size_t pair, hn::VFromD<Floats> first, hn::VFromD<Floats> second) HWY_ATTR {
    hn::Store(round_pair(first, second, scales[v], sums[v]), kIntegers,
              out.words + pair * kRoundedColumns + v * kLanes);
  });
  store_sums();
  for (std::size_t c = 0; c < kRoundedColumns; ++c) {
    out.columns[c].off = off_of(out.columns[c].unit, lanes[c], slack);
  }
}

/// Adds the products of the halves of each word to its sum, of which there may be two parts.
HWY_INLINE void add_pairs(hn::VFromD<Shorts> a, hn::VFromD<Shorts> b, hn::VFromD<Integers>& sum,
                          hn::VFromD<Integers>& more) {
#if HWY_TARGET == HWY_AVX3_DL
  // One instruction, which all CPUs of this target have, though Highway does not let the compiler know of it.
  (void)more;
  asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
#else
  sum = hn::ReorderWidenMulAccumulate(kIntegers, a, b, sum, more);
#endif
}

/// The sums of kRows rows and kTileVectors vectors of columns.
template <std::size_t kRows>
HWY_INLINE void multiply_tile(const std::int32_t* HWY_RESTRICT x, std::size_t stride, std::size_t pairs,
                              const std::int32_t* HWY_RESTRICT panel, std::int32_t* HWY_RESTRICT out) {
  hn::VFromD<Integers> sums[kRows][kTileVectors], more[kRows][kTileVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) sums[r][v] = more[r][v] = hn::Zero(kIntegers);
  }
  for (std::size_t k = 0; k < pairs; ++k, panel += kRoundedColumns, ++x) {
    hn::VFromD<Shorts> columns[kTileVectors];
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      columns[v] = hn::BitCast(kShorts, hn::Load(kIntegers, panel + v * kLanes));
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor = hn::BitCast(kShorts, hn::Set(kIntegers, x[r * stride]));
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        add_pairs(factor, columns[v], sums[r][v], more[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      hn::Store(hn::RearrangeToOddPlusEven(sums[r][v], more[r][v]), kIntegers, out + r * kRoundedColumns + v * kLanes);
    }
  }
}

/// The same for a number of rows that is known at run time.
template <std::size_t... kLess>
HWY_INLINE void multiply_rows(std::index_sequence<kLess...>, std::size_t rows, const std::int32_t* x,
                              std::size_t stride, std::size_t pairs, const std::int32_t* panel, std::int32_t* out) {
  ((rows == kLess + 1 ? multiply_tile<kLess + 1>(x, stride, pairs, panel, out) : void()), ...);
}

/// fields = bias + x W for `width` columns of all rows.
void multiply_panel(std::span<const RoundedNorms> rows, const std::int32_t* x, std::size_t stride, std::size_t pairs,
                    const RoundedPanel& panel, const float* bias, std::size_t width, float* HWY_RESTRICT out,
                    std::size_t out_stride) {
  alignas(kCacheLine) std::int32_t sums[kTileRows * kRoundedColumns];
  alignas(kCacheLine) float units[kRoundedColumns], biases[kRoundedColumns] = {}, fields[kRoundedColumns];
  for (std::size_t c = 0; c < kRoundedColumns; ++c) units[c] = panel.columns[c].unit;
  std::copy_n(bias, width, biases);
  for (std::size_t first = 0; first < rows.size(); first += kTileRows) {
    const std::size_t count = std::min(kTileRows, rows.size() - first);
    for (std::size_t c = 0; c < kRoundedColumns; c += kTileVectors * kLanes) {
      multiply_rows(std::make_index_sequence<kTileRows>(), count, x + first * stride, stride, pairs, panel.words + c,
                    sums + c);
    }
    for (std::size_t r = 0; r < count; ++r) {
      float* const to = out + (first + r) * out_stride;
      const auto unit = hn::Set(kFloats, rows[first + r].unit);
      for (std::size_t c = 0; c < kRoundedColumns; c += kLanes) {
        const auto sum = hn::ConvertTo(kFloats, hn::Load(kIntegers, sums + r * kRoundedColumns + c));
        const auto scale = hn::Mul(unit, hn::Load(kFloats, units + c));
        const auto field = hn::Add(hn::Load(kFloats, biases + c), hn::Mul(sum, scale));
        hn::StoreU(field, kFloats, (width == kRoundedColumns ? to : fields) + c);
      }
      if (width < kRoundedColumns) std::copy_n(fields, width, to);
    }
  }
}

#else
bool has_pairs() { return false; }
void round_inputs(const float*, std::size_t, std::int32_t*, RoundedNorms&) {}
void round_panel(const float*, std::size_t, std::size_t, const RoundedPanel&) {}
void multiply_panel(std::span<const RoundedNorms>, const std::int32_t*, std::size_t, std::size_t, const RoundedPanel&,
                    const float*, std::size_t, float*, std::size_t) {}
#endif

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(has_pairs);
HWY_EXPORT(round_inputs);
HWY_EXPORT(round_panel);
HWY_EXPORT(multiply_panel);
}  // namespace

bool has_rounded_products() { return HWY_DYNAMIC_DISPATCH(has_pairs)(); }

void round_row(std::span<const float> x, std::int32_t* words, RoundedNorms& out) {
  HWY_DYNAMIC_DISPATCH(round_inputs)(x.data(), x.size(), words, out);
}

void multiply_rounded(const RoundedRows& rows, MatrixView<const float> weights, std::span<const float> bias,
                      std::size_t first, std::span<RoundedNorms> columns, MatrixView<float> fields) {
  assert(columns.size() >= kRoundedColumns && fields.cols() == weights.cols() && weights.rows() <= kMostRoundedInputs);
  const std::size_t n = weights.rows(), pairs = (n + 1) / 2, units = weights.cols();
  const std::size_t width = std::min(kRoundedColumns, units - first);
  thread_local AlignedVector<std::int32_t> memory;
  thread_local AlignedVector<float> beside;
  memory.resize(std::max(memory.size(), pairs * kRoundedColumns));
  const RoundedPanel panel{memory.data(), columns.data()};
  const float* from = weights.data() + first;
  std::size_t stride = units;
  if (width < kRoundedColumns) {  // columns that are not there are zeros
    beside.assign(n * kRoundedColumns, 0.0f);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(from + i * units, width, beside.data() + i * kRoundedColumns);
    from = beside.data();
    stride = kRoundedColumns;
  }
  HWY_DYNAMIC_DISPATCH(round_panel)(from, stride, n, panel);
  HWY_DYNAMIC_DISPATCH(multiply_panel)
  (rows.norms, rows.words, words_of_rounded(n), pairs, panel, &bias[first], width, fields.data() + first, units);
}

}  // namespace ergodic
#endif  // HWY_ONCE
