#include "ergodic/kernels/ascent.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/ascent.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One row of the part, with what all its columns share. Held apart from the Ascent, so that the compiler knows that no
/// store changes it.
struct Row {
  float offset, change, scale, rate, momentum, l1, l2, count_weight;
  const std::int16_t* HWY_RESTRICT counts;
  const float* HWY_RESTRICT earlier;
  const float* HWY_RESTRICT column_offset;
  const float* HWY_RESTRICT column_change;
  float* HWY_RESTRICT weights;
  float* HWY_RESTRICT velocity;
};

/// Steps one vector of weights, from column c on.
template <bool kMomentum, bool kDecay, class D>
HWY_INLINE void ascend_vector(D d, const Row& row, std::size_t c) {
  const auto w = hn::LoadU(d, row.weights + c);
  const auto count = hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(hn::Rebind<std::int16_t, D>(), row.counts + c));
  const auto earlier = row.earlier ? hn::LoadU(d, row.earlier + c) : hn::Zero(d);
  auto g = hn::Add(earlier, hn::Mul(hn::Set(d, row.count_weight), hn::ConvertTo(d, count)));
  g = hn::Sub(g, hn::Mul(hn::Set(d, row.offset), hn::LoadU(d, row.column_change + c)));
  g = hn::Sub(g, hn::Mul(hn::Set(d, row.change), hn::LoadU(d, row.column_offset + c)));
  g = hn::Mul(hn::Set(d, row.scale), g);
  if constexpr (kDecay) {
    const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    const auto sign = hn::Sub(hn::IfThenElseZero(hn::Gt(w, zero), one), hn::IfThenElseZero(hn::Lt(w, zero), one));
    g = hn::Sub(hn::Sub(g, hn::Mul(hn::Set(d, row.l2), w)), hn::Mul(hn::Set(d, row.l1), sign));
  }
  if constexpr (kMomentum) {
    g = hn::Add(hn::Mul(hn::Set(d, row.momentum), hn::LoadU(d, row.velocity + c)), g);
    hn::StoreU(g, d, row.velocity + c);
  }
  hn::StoreU(hn::Add(w, hn::Mul(hn::Set(d, row.rate), g)), d, row.weights + c);
}

template <bool kMomentum, bool kDecay>
void ascend_rows(const Ascent& a, std::size_t first_row, std::size_t first_column, const PairBlock& difference,
                 std::size_t width) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> d1;
  constexpr std::size_t kAhead = 8;  // rows whose weights are on their way into the cache
  const std::size_t stride = a.weights.cols();
  for (std::size_t r = 0; r < difference.counts.rows(); ++r) {
    const std::size_t i = first_row + r, place = i * stride + first_column, from = r * difference.counts.cols();
    const Row row{a.row_offset[i],
                  a.row_change[i],
                  a.scale,
                  a.rate,
                  a.momentum,
                  a.l1,
                  a.l2,
                  difference.weight,
                  difference.counts.data() + from,
                  difference.earlier ? difference.earlier + from : nullptr,
                  a.column_offset.data() + first_column,
                  a.column_change.data() + first_column,
                  a.weights.data() + place,
                  kMomentum ? a.velocity.data() + place : nullptr};
    if (i + kAhead < a.weights.rows()) {
      for (std::size_t c = 0; c < width; c += 16) {
        hwy::Prefetch(row.weights + kAhead * stride + c);
        if constexpr (kMomentum) hwy::Prefetch(row.velocity + kAhead * stride + c);
      }
    }
    std::size_t c = 0;
    for (; c + hn::Lanes(d) <= width; c += hn::Lanes(d)) ascend_vector<kMomentum, kDecay>(d, row, c);
    for (; c < width; ++c) ascend_vector<kMomentum, kDecay>(d1, row, c);
  }
}

void ascend_tile(const Ascent& a, std::size_t first_row, std::size_t first_column, const PairBlock& difference) {
  const std::size_t width = std::min(difference.counts.cols(), a.weights.cols() - first_column);
  const bool momentum = !a.velocity.empty(), decay = a.l1 != 0.0f || a.l2 != 0.0f;
  const auto ascend_with = momentum ? (decay ? ascend_rows<true, true> : ascend_rows<true, false>)
                                    : (decay ? ascend_rows<false, true> : ascend_rows<false, false>);
  ascend_with(a, first_row, first_column, difference, width);
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(ascend_tile);
}

void ascend(const Ascent& ascent, std::size_t first_row, std::size_t first_column, const PairBlock& difference) {
  assert(first_row + difference.counts.rows() <= ascent.weights.rows() && first_column < ascent.weights.cols());
  HWY_DYNAMIC_DISPATCH(ascend_tile)(ascent, first_row, first_column, difference);
}

}  // namespace ergodic
#endif  // HWY_ONCE
