#include "ergodic/kernels/real_sampling.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/real_sampling.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/real_draws.hpp"
#include "ergodic/kernels/rounded_product.hpp"

// What all targets share.
#ifndef ERGODIC_REAL_SAMPLING_SHARED
#define ERGODIC_REAL_SAMPLING_SHARED
namespace ergodic {

/// What fields are off by, for each unit: in terms of the norm of a row, of what was rounded off it, and of nothing.
struct ErrorBounds {
  float *by_size, *by_off, *alone;
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

using Floats = hn::CappedTag<float, 16>;
constexpr Floats kFloats{};
constexpr std::size_t kLanes = hn::MaxLanes(kFloats);

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

/// Bounds on what the fields of a row are off by.
void bound_errors(const RoundedNorms& row, const ErrorBounds& columns, float* HWY_RESTRICT out, std::size_t units) {
  const float *HWY_RESTRICT by_size = columns.by_size, *HWY_RESTRICT by_off = columns.by_off,
                            *HWY_RESTRICT alone = columns.alone;
  const float size = row.size, off = row.off;
  for (std::size_t j = 0; j < units; ++j) out[j] = size * by_size[j] + (off * by_off[j] + alone[j]);
}

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
HWY_EXPORT(dot);
HWY_EXPORT(bound_errors);
HWY_EXPORT(add_chains);

constexpr float kTooLarge = 0x1p50f;
constexpr std::size_t kFewRows = 16;       // for which rounding the weights costs more than it saves
constexpr std::size_t kMostRows = 512;     // whose fields are kept at a time
constexpr std::size_t kRowsOfThread = 16;  // that a thread rounds, or whose coins it throws

template <class T>
T* room_for(std::size_t count, AlignedVector<T>& memory) {
  memory.resize(std::max(memory.size(), count));
  return memory.data();
}

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
    const float gap = out.levels().gap(),
                roundoffs = kFloatRoundoff * 1.01f * (static_cast<float>(n) * 1.0625f + 48.0f);
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

bool sample_rows(const RealRows& call, const Context& context) {
  const Affine& map = call.map;
  const std::size_t n = call.x.cols(), count = call.x.rows(), units = map.bias.size();
  const std::size_t stride = words_of_rounded(n);
  const std::size_t padded = (units + kRoundedColumns - 1) / kRoundedColumns * kRoundedColumns;
  thread_local AlignedVector<std::int32_t> words_memory;
  thread_local AlignedVector<RoundedNorms> rows_memory, columns_memory;
  thread_local AlignedVector<float> fields_memory, errors_memory;
  std::int32_t* const words = room_for(count * stride, words_memory);
  const std::span<RoundedNorms> rows(room_for(count, rows_memory), count);
  RoundedNorms* const columns = room_for(padded, columns_memory);
  float* const fields = room_for(count * units, fields_memory);
  float* const errors = room_for(3 * units, errors_memory);
  const ErrorBounds bounds{errors, errors + units, errors + 2 * units};

  context.for_blocks(count, kRowsOfThread, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) round_row(call.x.row(r), words + r * stride, rows[r]);
  });
  if (!std::ranges::all_of(rows, [](const RoundedNorms& row) { return row.size < kTooLarge; })) return false;
  context.for_blocks(units, kRoundedColumns, [&](std::size_t column, std::size_t) {
    multiply_rounded({rows, words}, map.weights, map.bias, column, {columns + column, kRoundedColumns},
                     {fields, count, units});
  });
  bool fits = true;
  // The definition rounds once for each input, and both ways a few times for the units and for tempering.
  const float roundoffs = kFloatRoundoff * 1.01f * static_cast<float>(n + 32);
  for (std::size_t j = 0; j < units; ++j) {
    const auto base = std::abs(static_cast<float>(map.base_of(j)));
    fits = fits && columns[j].size < kTooLarge && std::abs(map.bias[j]) < kTooLarge && base < kTooLarge;
    bounds.by_size[j] = 1.001f * (columns[j].off + roundoffs * columns[j].size);
    bounds.by_off[j] = 1.001f * (columns[j].size + columns[j].off);
    bounds.alone[j] = 1.001f * roundoffs * (std::abs(map.bias[j]) + base);
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
      HWY_DYNAMIC_DISPATCH(bound_errors)(rows[r], bounds, error.data(), units);
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
  if (x.chains() < kFewRows || x.units() == 0 || x.units() > kMostRoundedInputs || !has_rounded_products()) {
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
