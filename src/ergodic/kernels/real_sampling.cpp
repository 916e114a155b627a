#include "ergodic/kernels/real_sampling.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/real_sampling.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <span>
#include <utility>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/nearest-inl.hpp"
#include "ergodic/kernels/real_draws.hpp"

// What all targets share.
#ifndef ERGODIC_REAL_SAMPLING_SHARED
#define ERGODIC_REAL_SAMPLING_SHARED
namespace ergodic {

namespace {
constexpr std::size_t kPanel = 32;  // columns that are rounded and multiplied at a time
constexpr std::size_t kMostInputs = std::size_t{1} << 16;
// The largest norms of rounded rows and columns. Rounding adds half of the root of the number of inputs to a norm, and
// the product must stay below 2^31.
constexpr float kRowNorm = 64000.0f, kColumnNorm = 32000.0f, kLargest = 32000.0f;
static_assert((64000.0 + 0.5 * 256) * (32000.0 + 0.5 * 256) < 0x1p31);
constexpr float kTiny = 0x1p-60f;  // norms that are smaller are not told apart: their squares underflow
constexpr float kTooLarge = 0x1p50f;
constexpr float kRoundoff = 0x1p-24f;

/// More than what sums of so many terms, and a few operations on them, round off in terms of themselves.
float slack_of(std::size_t terms) { return 1.0f + 4.0f * kRoundoff * static_cast<float>(terms + 16); }
}  // namespace

/// A rounded vector: its unit, and bounds on its norm and on that of what was rounded off.
struct RoundedNorms {
  float unit = 0.0f, size = 0.0f, off = 0.0f;

  /// Given sums of squares: of the vector, and of what was rounded off in terms of the unit.
  static float size_of(float squares, float slack) { return std::sqrt(squares) * slack + kTiny; }
  void set_off(float squares, float slack) { off = unit * (std::sqrt(squares) * slack + 0.01f); }
};

/// Some columns of the weights, rounded: the inputs 2 k and 2 k + 1 of column j are the halves of word 32 k + j.
struct RoundedPanel {
  std::int32_t* words;
  RoundedNorms* columns;
};

/// A coin that is still open.
struct OpenUnit {
  const float* x;
  std::size_t row;
  OpenCoin coin;
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
constexpr hn::Repartition<std::int16_t, Floats> kShorts{};
constexpr std::size_t kLanes = hn::MaxLanes(kFloats), kVectors = kPanel / kLanes;
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

/// Rounds n inputs of a row. `words` has room for a multiple of kPanel of them.
void round_row(const float* HWY_RESTRICT x, std::size_t n, std::int32_t* HWY_RESTRICT words, RoundedNorms& out) {
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
  out.size = RoundedNorms::size_of(hn::GetLane(hn::SumOfLanes(kFloats, squares)), slack);
  const float most = hn::GetLane(hn::MaxOfLanes(kFloats, largest)) + kTiny;
  const float scale = std::min(kRowNorm / out.size, kLargest / most);
  out.unit = 1.0f / scale;
  for_vectors([&](const float* from, std::int32_t* to) HWY_ATTR {
    hn::VFromD<Floats> even, odd;
    hn::LoadInterleaved2(kFloats, from, even, odd);
    hn::StoreU(round_pair(even, odd, hn::Set(kFloats, scale), off), kIntegers, to);
  });
  out.set_off(hn::GetLane(hn::SumOfLanes(kFloats, off)), slack);
}

/// Rounds kPanel columns of n weights.
void round_panel(const float* HWY_RESTRICT weights, std::size_t stride, std::size_t n, const RoundedPanel& out) {
  const float slack = slack_of(n);
  alignas(kCacheLine) static constexpr float kZeros[kPanel] = {};
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
  alignas(kCacheLine) float lanes[kPanel];
  const auto store_sums = [&]() HWY_ATTR {
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sums[v], kFloats, lanes + v * kLanes);
  };
  for_pairs([&](std::size_t v, std::size_t, hn::VFromD<Floats> first, hn::VFromD<Floats> second)
                HWY_ATTR { sums[v] = hn::Add(sums[v], hn::MulAdd(first, first, hn::Mul(second, second))); });
  store_sums();
  for (std::size_t c = 0; c < kPanel; ++c) {
    RoundedNorms& column = out.columns[c];
    column.size = RoundedNorms::size_of(lanes[c], slack);
    lanes[c] = kColumnNorm / column.size;
    column.unit = 1.0f / lanes[c];
  }
  for (std::size_t v = 0; v < kVectors; ++v) scales[v] = hn::Load(kFloats, lanes + v * kLanes);
  for_pairs([&](std::size_t v, std::size_t pair, hn::VFromD<Floats> first, hn::VFromD<Floats> second) HWY_ATTR {
    hn::Store(round_pair(first, second, scales[v], sums[v]), kIntegers, out.words + pair * kPanel + v * kLanes);
  });
  store_sums();
  for (std::size_t c = 0; c < kPanel; ++c) out.columns[c].set_off(lanes[c], slack);
}

/// The sums of kRows rows and kTileVectors vectors of columns.
template <std::size_t kRows>
HWY_INLINE void multiply_tile(const std::int32_t* HWY_RESTRICT x, std::size_t stride, std::size_t pairs,
                              const std::int32_t* HWY_RESTRICT panel, std::int32_t* HWY_RESTRICT out) {
  hn::VFromD<Integers> sums[kRows][kTileVectors], more[kRows][kTileVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) sums[r][v] = more[r][v] = hn::Zero(kIntegers);
  }
  for (std::size_t k = 0; k < pairs; ++k, panel += kPanel, ++x) {
    decltype(hn::Zero(kShorts)) columns[kTileVectors];
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      columns[v] = hn::BitCast(kShorts, hn::Load(kIntegers, panel + v * kLanes));
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto factor = hn::BitCast(kShorts, hn::Set(kIntegers, x[r * stride]));
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        sums[r][v] = hn::ReorderWidenMulAccumulate(kIntegers, factor, columns[v], sums[r][v], more[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      hn::Store(hn::RearrangeToOddPlusEven(sums[r][v], more[r][v]), kIntegers, out + r * kPanel + v * kLanes);
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
  alignas(kCacheLine) std::int32_t sums[kTileRows * kPanel];
  alignas(kCacheLine) float units[kPanel], biases[kPanel] = {}, fields[kPanel];
  for (std::size_t c = 0; c < kPanel; ++c) units[c] = panel.columns[c].unit;
  std::copy_n(bias, width, biases);
  for (std::size_t first = 0; first < rows.size(); first += kTileRows) {
    const std::size_t count = std::min(kTileRows, rows.size() - first);
    for (std::size_t c = 0; c < kPanel; c += kTileVectors * kLanes) {
      multiply_rows(std::make_index_sequence<kTileRows>(), count, x + first * stride, stride, pairs, panel.words + c,
                    sums + c);
    }
    for (std::size_t r = 0; r < count; ++r) {
      float* const to = out + (first + r) * out_stride;
      const auto unit = hn::Set(kFloats, rows[first + r].unit);
      for (std::size_t c = 0; c < kPanel; c += kLanes) {
        const auto sum = hn::ConvertTo(kFloats, hn::Load(kIntegers, sums + r * kPanel + c));
        const auto scale = hn::Mul(unit, hn::Load(kFloats, units + c));
        const auto field = hn::Add(hn::Load(kFloats, biases + c), hn::Mul(sum, scale));
        hn::StoreU(field, kFloats, (width == kPanel ? to : fields) + c);
      }
      if (width < kPanel) std::copy_n(fields, width, to);
    }
  }
}

/// The sum of a_i b_i in any order, each term being added to one of at least 16 sums.
float dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t n) {
  hn::VFromD<Floats> sums[4] = {hn::Zero(kFloats), hn::Zero(kFloats), hn::Zero(kFloats), hn::Zero(kFloats)};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (std::size_t s = 0; s < 4; ++s) {
      const std::size_t at = i + s * kLanes;
      sums[s] = hn::MulAdd(hn::LoadU(kFloats, a + at), hn::LoadU(kFloats, b + at), sums[s]);
    }
  }
  alignas(kCacheLine) float last[2][4 * kLanes] = {};
  std::copy(a + i, a + n, last[0]);
  std::copy(b + i, b + n, last[1]);
  for (std::size_t s = 0; s < 4; ++s) {
    sums[s] = hn::MulAdd(hn::Load(kFloats, last[0] + s * kLanes), hn::Load(kFloats, last[1] + s * kLanes), sums[s]);
  }
  return hn::GetLane(hn::SumOfLanes(kFloats, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}
#else
bool has_pairs() { return false; }
void round_row(const float*, std::size_t, std::int32_t*, RoundedNorms&) {}
void round_panel(const float*, std::size_t, std::size_t, const RoundedPanel&) {}
void multiply_panel(std::span<const RoundedNorms>, const std::int32_t*, std::size_t, std::size_t, const RoundedPanel&,
                    const float*, std::size_t, float*, std::size_t) {}
float dot(const float*, const float*, std::size_t) { return 0.0f; }
#endif

/// The fields of some units by the definition, side by side, since each addition waits for the one before it.
void add_chains(std::span<const OpenUnit> units, const Affine& map, std::span<float> fields) {
  constexpr std::size_t kChains = 8;
  const std::size_t n = map.weights.rows();
  for (std::size_t first = 0; first < units.size(); first += kChains) {
    const std::size_t count = std::min(kChains, units.size() - first);
    const float *x[kChains], *w[kChains];
    float sums[kChains] = {};
    for (std::size_t c = 0; c < kChains; ++c) {
      const OpenUnit& unit = units[first + std::min(c, count - 1)];
      x[c] = unit.x;
      w[c] = map.transposed.row(unit.coin.unit).data();
      sums[c] = map.bias[unit.coin.unit];
    }
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t c = 0; c < kChains; ++c) sums[c] = std::fma(x[c][k], w[c][k], sums[c]);
    }
    std::copy_n(sums, count, fields.data() + first);
  }
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(has_pairs);
HWY_EXPORT(round_row);
HWY_EXPORT(round_panel);
HWY_EXPORT(multiply_panel);
HWY_EXPORT(dot);
HWY_EXPORT(add_chains);

constexpr std::size_t kFewRows = 16;       // for which rounding the weights costs more than it saves
constexpr std::size_t kMostRows = 512;     // whose fields are kept at a time
constexpr std::size_t kRowsOfThread = 16;  // whose coins a thread throws

template <class T>
T* room_for(std::size_t count, AlignedVector<T>& memory) {
  memory.resize(std::max(memory.size(), count));
  return memory.data();
}

/// A bound on what a field is off by: |x| per_size + |dx| per_off + always.
struct ColumnErrors {
  const float *per_size, *per_off, *always;
};

/// A draw of some rows.
struct RealRows {
  MatrixView<const float> x;
  const Affine& map;
  const Draw& draw;
  std::uint32_t first_chain;
  State& out;
  std::size_t first_row;

  float tempered(float field, std::size_t unit) const {
    return map.beta == 1.0 ? field : static_cast<float>(map.beta) * field + static_cast<float>(map.base_of(unit));
  }
  std::uint32_t chain(std::size_t row) const { return first_chain + static_cast<std::uint32_t>(row); }

  /// Decides what coins the sum in float, in any order, can decide. Returns how many are left.
  std::size_t decide(std::span<OpenUnit> open, std::span<const RoundedNorms> rows, const RoundedNorms* columns) const {
    const std::size_t n = x.cols();
    const float gap = out.levels().gap(), roundoffs = kRoundoff * 1.01f * (static_cast<float>(n) * 1.0625f + 48.0f);
    std::size_t left = 0;
    for (const OpenUnit& unit : open) {
      const std::size_t j = unit.coin.unit;
      const float* const weights = map.transposed.row(j).data();
      const float bias = map.bias[j], field = tempered(HWY_DYNAMIC_DISPATCH(dot)(unit.x, weights, n) + bias, j);
      const float off = roundoffs * (rows[unit.row].size * columns[j].size + std::abs(bias) +
                                     std::abs(static_cast<float>(map.base_of(j))));
      const auto upper = static_cast<float>(unit.coin.coarse);
      constexpr float kMargin = 0.1f;  // 2^16 times the error of the sigmoid, and roundoffs
      const bool on = upper + 1.0f + kMargin <= 65536.0f * approximate_sigmoid(gap * (field - off));
      const bool sure = on || upper - kMargin >= 65536.0f * approximate_sigmoid(gap * (field + off));
      if (on) out.bits().set(first_row + unit.row, j, true);
      open[left] = unit;
      left += sure ? 0 : 1;
    }
    return left;
  }

  /// Decides the rest by the definition.
  void define(std::span<const OpenUnit> open) const {
    thread_local AlignedVector<float> memory;
    const std::span<float> fields(room_for(open.size(), memory), open.size());
    HWY_DYNAMIC_DISPATCH(add_chains)(open, map, fields);
    for (std::size_t k = 0; k < open.size(); ++k) {
      const auto& [inputs, row, coin] = open[k];
      const double p = sigmoid(double{out.levels().gap()} * double{tempered(fields[k], coin.unit)});
      if (falls_below(p, coin.coarse, draw, chain(row), coin.unit)) out.bits().set(first_row + row, coin.unit, true);
    }
  }
};

/// Rounds the weights of some columns and multiplies all rows by them. False if they are too large.
bool find_panel(const RealRows& call, std::span<const RoundedNorms> rows, const std::int32_t* words, std::size_t column,
                RoundedNorms* columns, float* fields) {
  const std::size_t n = call.x.cols(), pairs = (n + 1) / 2, units = call.map.bias.size();
  const std::size_t width = std::min(kPanel, units - column), stride = (n + kPanel - 1) / kPanel * kPanel / 2;
  thread_local AlignedVector<std::int32_t> panel_memory;
  thread_local AlignedVector<float> beside;
  const RoundedPanel panel{room_for(pairs * kPanel, panel_memory), columns + column};
  const float* from = call.map.weights.data() + column;
  std::size_t from_stride = units;
  if (width < kPanel) {  // columns that are not there are zeros
    float* const padded = room_for(n * kPanel, beside);
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(std::copy_n(from + i * units, width, padded + i * kPanel), padded + (i + 1) * kPanel, 0.0f);
    }
    from = padded;
    from_stride = kPanel;
  }
  HWY_DYNAMIC_DISPATCH(round_panel)(from, from_stride, n, panel);
  HWY_DYNAMIC_DISPATCH(multiply_panel)
  (rows, words, stride, pairs, panel, &call.map.bias[column], width, fields + column, units);
  return std::all_of(panel.columns, panel.columns + width, [](const RoundedNorms& c) { return c.size < kTooLarge; });
}

bool sample_rows(const RealRows& call, const Context& context) {
  const Affine& map = call.map;
  const std::size_t n = call.x.cols(), count = call.x.rows(), units = map.bias.size();
  const std::size_t stride = (n + kPanel - 1) / kPanel * kPanel / 2;
  const std::size_t padded = (units + kPanel - 1) / kPanel * kPanel;
  thread_local AlignedVector<std::int32_t> words_memory;
  thread_local AlignedVector<RoundedNorms> rows_memory, columns_memory;
  thread_local AlignedVector<float> fields_memory, errors_memory;
  std::int32_t* const words = room_for(count * stride, words_memory);
  const std::span<RoundedNorms> rows(room_for(count, rows_memory), count);
  RoundedNorms* const columns = room_for(padded, columns_memory);
  float* const fields = room_for(count * units, fields_memory);
  float* const errors = room_for(3 * units, errors_memory);

  for (std::size_t r = 0; r < count; ++r) {
    HWY_DYNAMIC_DISPATCH(round_row)(call.x.row(r).data(), n, words + r * stride, rows[r]);
    if (!(rows[r].size < kTooLarge)) return false;
  }
  std::atomic<bool> fits = true;
  context.for_blocks(units, kPanel, [&](std::size_t column, std::size_t) {
    if (!find_panel(call, rows, words, column, columns, fields)) fits = false;
  });
  // The definition rounds once for each input, and both ways a few times for the units and for tempering.
  const float roundoffs = kRoundoff * 1.01f * static_cast<float>(n + 32);
  for (std::size_t j = 0; j < units; ++j) {
    const auto base = std::abs(static_cast<float>(map.base_of(j)));
    if (!(std::abs(map.bias[j]) < kTooLarge && base < kTooLarge)) fits = false;
    errors[j] = 1.001f * (columns[j].off + roundoffs * columns[j].size);
    errors[units + j] = 1.001f * (columns[j].size + columns[j].off);
    errors[2 * units + j] = 1.001f * roundoffs * (std::abs(map.bias[j]) + base);
  }
  if (!fits) return false;

  const float gap = call.out.levels().gap();
  context.for_blocks(count, kRowsOfThread, [&](std::size_t begin, std::size_t end) {
    thread_local AlignedVector<float> error_memory;
    thread_local AlignedVector<OpenCoin> coins_memory;
    thread_local AlignedVector<OpenUnit> open_memory;
    const std::span<float> error(room_for(units, error_memory), units);
    const std::span<OpenCoin> coins(room_for(units, coins_memory), units);
    OpenUnit* const open = room_for((end - begin) * units, open_memory);
    std::size_t left = 0;
    for (std::size_t r = begin; r < end; ++r) {
      const std::span<float> row(fields + r * units, units);
      if (map.beta != 1.0) {
        for (std::size_t j = 0; j < units; ++j) row[j] = call.tempered(row[j], j);
      }
      for (std::size_t j = 0; j < units; ++j) {
        error[j] = rows[r].size * errors[j] + (rows[r].off * errors[units + j] + errors[2 * units + j]);
      }
      const std::size_t found =
          draw_sure_coins({row}, error, gap, call.draw, call.chain(r), call.out.bits().row(call.first_row + r), coins);
      for (std::size_t k = 0; k < found; ++k) {
        const std::span<const float> weights = map.transposed.row(coins[k].unit);
        for (std::size_t i = 0; i < n; i += kCacheLine / sizeof(float)) hwy::Prefetch(&weights[i]);
        open[left + k] = {call.x.row(r).data(), r, coins[k]};
      }
      left += call.decide({open + left, found}, rows, columns);
    }
    call.define({open, left});
  });
  return true;
}

}  // namespace

bool sample_given_reals(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                        const Context& context) {
  if (x.chains() < kFewRows || x.units() == 0 || x.units() > kMostInputs || !HWY_DYNAMIC_DISPATCH(has_pairs)()) {
    return false;
  }
  for (std::size_t first = 0; first < x.chains(); first += kMostRows) {
    const std::size_t rows = std::min(kMostRows, x.chains() - first);
    const MatrixView<const float> some(x.reals().row(first).data(), rows, x.units());
    if (!sample_rows({some, map, draw, static_cast<std::uint32_t>(first_chain + first), out, first}, context)) {
      return false;
    }
  }
  return true;
}

}  // namespace ergodic
#endif  // HWY_ONCE
