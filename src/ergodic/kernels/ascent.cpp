#include "ergodic/kernels/ascent.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/ascent.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Steps one vector of weights in row i, from column j on.
template <bool kDecay, class D>
HWY_INLINE void ascend_vector(D d, const Ascent& a, std::size_t i, std::size_t j,
                              const float* HWY_RESTRICT difference) {
  const auto mu = hn::Set(d, a.row_offset[i]), dx = hn::Set(d, a.row_change[i]);
  float* HWY_RESTRICT weights = a.weights.data() + i * a.weights.cols() + j;
  auto w = hn::LoadU(d, weights);
  auto g = hn::Sub(hn::LoadU(d, difference), hn::Mul(mu, hn::LoadU(d, a.column_change.data() + j)));
  g = hn::Mul(hn::Set(d, a.scale), hn::Sub(g, hn::Mul(dx, hn::LoadU(d, a.column_offset.data() + j))));
  if constexpr (kDecay) {
    const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    const auto sign = hn::Sub(hn::IfThenElseZero(hn::Gt(w, zero), one), hn::IfThenElseZero(hn::Lt(w, zero), one));
    g = hn::Sub(hn::Sub(g, hn::Mul(hn::Set(d, a.l2), w)), hn::Mul(hn::Set(d, a.l1), sign));
  }
  if (!a.velocity.empty()) {
    float* HWY_RESTRICT velocity = a.velocity.data() + i * a.weights.cols() + j;
    g = hn::Add(hn::Mul(hn::Set(d, a.momentum), hn::LoadU(d, velocity)), g);
    hn::StoreU(g, d, velocity);
  }
  hn::StoreU(hn::Add(w, hn::Mul(hn::Set(d, a.rate), g)), d, weights);
}

template <bool kDecay>
HWY_INLINE void ascend_rows(const Ascent& a, std::size_t first_row, std::size_t first_column,
                            MatrixView<const float> difference, std::size_t width) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> d1;
  for (std::size_t r = 0; r < difference.rows(); ++r) {
    const float* row = difference.data() + r * difference.cols();
    std::size_t c = 0;
    for (; c + hn::Lanes(d) <= width; c += hn::Lanes(d)) {
      ascend_vector<kDecay>(d, a, first_row + r, first_column + c, row + c);
    }
    for (; c < width; ++c) ascend_vector<kDecay>(d1, a, first_row + r, first_column + c, row + c);
  }
}

void ascend_tile(const Ascent& a, std::size_t first_row, std::size_t first_column, MatrixView<const float> difference) {
  const std::size_t width = std::min(difference.cols(), a.weights.cols() - first_column);
  if (a.l1 != 0.0f || a.l2 != 0.0f) {
    ascend_rows<true>(a, first_row, first_column, difference, width);
  } else {
    ascend_rows<false>(a, first_row, first_column, difference, width);
  }
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(ascend_tile);
}

void ascend(const Ascent& ascent, std::size_t first_row, std::size_t first_column, MatrixView<const float> difference) {
  assert(first_row + difference.rows() <= ascent.weights.rows() && first_column < ascent.weights.cols());
  HWY_DYNAMIC_DISPATCH(ascend_tile)(ascent, first_row, first_column, difference);
}

}  // namespace ergodic
#endif  // HWY_ONCE
