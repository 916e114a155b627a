#include "ergodic/kernels/fields.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/fields.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/kernels/row_sum.hpp"

// What all targets share.
#ifndef ERGODIC_FIELDS_SHARED
#define ERGODIC_FIELDS_SHARED
namespace ergodic {

/// An input that is not zero.
struct Input {
  std::uint32_t unit;
  float value;
};

/// The rows of a table from some column on.
struct StridedRows {
  const float* data;
  std::size_t stride;
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Columns [first, first + kVectors * lanes) of one row. If all inputs are one, there is nothing to multiply.
template <bool kOnes, std::size_t kVectors, class D>
HWY_INLINE void sum_columns(D d, std::span<const Input> inputs, const Affine& map, std::size_t first, double* out) {
  const hn::Rebind<float, D> df;
  constexpr std::size_t kLanes = hn::MaxLanes(D{});
  const auto wide = [&](const float* from) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(df, from)); };
  hn::VFromD<D> sums[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] = wide(map.bias.data() + first + v * kLanes);
  const float* weights = map.weights.data() + first;
  for (const Input& input : inputs) {
    const auto value = hn::Set(d, double{input.value});
    const float* row = weights + input.unit * map.weights.cols();
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto weight = wide(row + v * kLanes);
      sums[v] = hn::Add(sums[v], kOnes ? weight : hn::Mul(value, weight));
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + first + v * kLanes);
}

/// The columns of a tile, for rows with these inputs.
template <bool kOnes>
HWY_INLINE void sum_tile_of(std::span<const std::vector<Input>> rows, const Affine& map, std::size_t first,
                            std::size_t last, MatrixView<double> out) {
  const hn::CappedTag<double, 4> d;
  const hn::CappedTag<double, 1> d1;
  constexpr std::size_t kVectors = 8, kWidth = kVectors * hn::MaxLanes(d);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t c = first;
    for (; c + kWidth <= last; c += kWidth) sum_columns<kOnes, kVectors>(d, rows[r], map, c, out.row(r).data());
    for (; c + hn::Lanes(d) <= last; c += hn::Lanes(d)) sum_columns<kOnes, 1>(d, rows[r], map, c, out.row(r).data());
    for (; c < last; ++c) sum_columns<kOnes, 1>(d1, rows[r], map, c, out.row(r).data());
  }
}

void sum_tile(bool ones, std::span<const std::vector<Input>> rows, const Affine& map, std::size_t first,
              std::size_t last, MatrixView<double> out) {
  ones ? sum_tile_of<true>(rows, map, first, last, out) : sum_tile_of<false>(rows, map, first, last, out);
}

/// Columns [first, last) of the sum, in so many vectors; the last may overlap the one before it.
template <std::size_t kVectors, class D>
HWY_INLINE void add_columns(D d, StridedRows table, std::span<const std::uint32_t> rows, std::size_t first,
                            std::size_t last, double* out) {
  const hn::Rebind<float, D> df;
  std::size_t at[kVectors];
  hn::VFromD<D> sums[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    at[v] = std::min(first + v * hn::Lanes(d), last - hn::Lanes(d));
    sums[v] = hn::LoadU(d, out + at[v]);
  }
  for (const std::uint32_t r : rows) {
    const float* HWY_RESTRICT row = table.data + r * table.stride;
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[v] = hn::Add(sums[v], hn::PromoteTo(d, hn::LoadU(df, row + at[v])));
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + at[v]);
}

template <std::size_t... kLess, class D>
HWY_INLINE void add_columns_by(std::index_sequence<kLess...>, D d, StridedRows table,
                               std::span<const std::uint32_t> rows, std::size_t first, std::size_t last, double* out) {
  const std::size_t vectors = (last - first + hn::Lanes(d) - 1) / hn::Lanes(d);
  ((vectors == kLess + 1 ? add_columns<kLess + 1>(d, table, rows, first, last, out) : void()), ...);
}

void add_named_rows(StridedRows table, std::span<const std::uint32_t> rows, std::span<double> sums) {
  double* out = sums.data();
  const hn::CappedTag<double, 4> d;
  const hn::CappedTag<double, 1> d1;
  constexpr std::size_t kMostVectors = 8;
  const auto add = [&](auto tag, std::size_t begin, std::size_t end) HWY_ATTR {
    const std::size_t width = kMostVectors * hn::Lanes(tag);
    for (std::size_t c = begin; c < end; c += width) {
      add_columns_by(std::make_index_sequence<kMostVectors>{}, tag, table, rows, c, std::min(end, c + width), out);
    }
  };
  // Vectors overlap within one group of them only: what an earlier group has stored must not be added to again.
  const std::size_t cols = sums.size(), lanes = hn::Lanes(d);
  const bool one_group = cols >= lanes && cols <= kMostVectors * lanes;
  const std::size_t whole = one_group ? cols : cols / lanes * lanes;
  add(d, 0, whole);
  add(d1, whole, cols);
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sum_tile);
HWY_EXPORT(add_named_rows);

constexpr std::size_t kColumnsAtATime = 32;  // of weights, which the cache keeps while rows pass
constexpr std::size_t kRowsAtATime = 32;

}  // namespace

void defined_fields(const State& x, std::size_t begin, std::size_t end, const Affine& map, MatrixView<double> out) {
  assert(out.rows() >= end - begin && out.cols() == map.bias.size());
  const bool ones = !x.real() && x.levels() == Levels{0.0f, 1.0f};
  std::array<std::vector<Input>, kRowsAtATime> inputs;
  for (std::size_t first = begin; first < end; first += kRowsAtATime) {
    const std::size_t rows = std::min(kRowsAtATime, end - first);
    for (std::size_t r = 0; r < rows; ++r) {
      inputs[r].clear();
      for_each_nonzero(x, first + r, [&](std::size_t i, float value) {
        inputs[r].push_back({static_cast<std::uint32_t>(i), value});
      });
    }
    const MatrixView<double> part(out.row(first - begin).data(), rows, out.cols());
    for (std::size_t column = 0; column < out.cols(); column += kColumnsAtATime) {
      HWY_DYNAMIC_DISPATCH(sum_tile)
      (ones, std::span(inputs).first(rows), map, column, std::min(out.cols(), column + kColumnsAtATime), part);
    }
    if (map.beta == 1.0) continue;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = 0; j < out.cols(); ++j) part(r, j) = map.tempered(part(r, j), j);
    }
  }
}

void defined_fields_of(const State& x, std::size_t row, const Affine& map, std::size_t first, std::span<double> out) {
  std::ranges::copy(map.bias.subspan(first, out.size()), out.begin());
  if (!x.real() && x.levels() == Levels{0.0f, 1.0f}) {
    thread_local std::vector<std::uint32_t> on;
    on.clear();
    for_each_set(x.bits().row(row), [&](std::size_t i) { on.push_back(static_cast<std::uint32_t>(i)); });
    add_rows(map.weights, on, out, first);
  } else {
    for_each_nonzero(x, row, [&](std::size_t i, float value) {
      const std::span<const float> weights = map.weights.row(i).subspan(first, out.size());
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += double{value} * weights[j];
    });
  }
  if (map.beta == 1.0) return;
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = map.tempered(out[j], first + j);
}

void add_rows(MatrixView<const float> table, std::span<const std::uint32_t> rows, std::span<double> out,
              std::size_t first) {
  assert(first + out.size() <= table.cols());
  HWY_DYNAMIC_DISPATCH(add_named_rows)({table.data() + first, table.cols()}, rows, out);
}

}  // namespace ergodic
#endif  // HWY_ONCE
