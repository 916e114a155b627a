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

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sum_tile);

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

}  // namespace ergodic
#endif  // HWY_ONCE
