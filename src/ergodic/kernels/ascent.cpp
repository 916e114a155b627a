#include "ergodic/kernels/ascent.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/ascent.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "ergodic/core/aligned.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kColumns = PairCounts::kColumns;

/// What all rows of a part share. Held apart from the Ascent, so that the compiler knows that no store changes it.
struct Part {
  float count_weight, scale, rate, momentum, l2;
  bool pulled;  // weights towards zero
  std::array<float, kColumns> column_offset{}, column_change{}, column_l1{};
};

/// A row of the part, and where it lies.
template <class Count>
struct Row {
  float offset, change;
  const Count* HWY_RESTRICT counts;
  const float* HWY_RESTRICT earlier;  // null: nothing was counted earlier
  float* HWY_RESTRICT weights;
  float* HWY_RESTRICT velocity;  // null: no momentum
};

/// Steps one vector of weights, from column c on. If kPlain, nothing but the counts and the rate changes the weights.
template <bool kPlain, class D, class Count>
HWY_INLINE void ascend_vector(D d, const Part& part, const Row<Count>& row, std::size_t c) {
  const auto w = hn::LoadU(d, row.weights + c);
  const auto count = hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(hn::Rebind<Count, D>(), row.counts + c));
  auto g = hn::Mul(hn::Set(d, part.count_weight), hn::ConvertTo(d, count));
  if (!kPlain && row.earlier) g = hn::Add(hn::LoadU(d, row.earlier + c), g);
  g = hn::Sub(g, hn::Mul(hn::Set(d, row.offset), hn::LoadU(d, part.column_change.data() + c)));
  g = hn::Sub(g, hn::Mul(hn::Set(d, row.change), hn::LoadU(d, part.column_offset.data() + c)));
  if constexpr (!kPlain) {
    g = hn::Mul(hn::Set(d, part.scale), g);
    if (part.pulled) {
      const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f);
      const auto sign = hn::Sub(hn::IfThenElseZero(hn::Gt(w, zero), one), hn::IfThenElseZero(hn::Lt(w, zero), one));
      g = hn::Sub(hn::Sub(g, hn::Mul(hn::Set(d, part.l2), w)), hn::Mul(hn::LoadU(d, part.column_l1.data() + c), sign));
    }
    if (row.velocity) {
      g = hn::Add(hn::Mul(hn::Set(d, part.momentum), hn::LoadU(d, row.velocity + c)), g);
      hn::StoreU(g, d, row.velocity + c);
    }
  }
  hn::StoreU(hn::Add(w, hn::Mul(hn::Set(d, part.rate), g)), d, row.weights + c);
}

template <bool kPlain, class Count>
void ascend_rows(const Ascent& a, std::size_t first_row, std::size_t first_column, const PairBlock& difference,
                 MatrixView<const Count> counts) {
  const hn::CappedTag<float, 16> d;
  const hn::CappedTag<float, 1> d1;
  const std::size_t stride = a.weights.cols(), width = std::min(kColumns, stride - first_column);
  Part part{difference.weight, a.scale, a.rate, a.momentum, a.l2, a.l2 != 0.0f || !a.column_l1.empty()};
  std::copy_n(a.column_offset.data() + first_column, width, part.column_offset.data());
  std::copy_n(a.column_change.data() + first_column, width, part.column_change.data());
  if (!a.column_l1.empty()) std::copy_n(a.column_l1.data() + first_column, width, part.column_l1.data());
  constexpr std::size_t kAhead = 8;  // rows whose weights are on their way into the cache
  for (std::size_t r = 0; r < counts.rows(); ++r) {
    const std::size_t i = first_row + r, place = i * stride + first_column, from = r * kColumns;
    const Row<Count> row{a.row_offset[i],          a.row_change[i],
                         counts.data() + from,     difference.earlier ? difference.earlier + from : nullptr,
                         a.weights.data() + place, a.velocity.empty() ? nullptr : a.velocity.data() + place};
    if (i + kAhead < a.weights.rows()) {
      const auto fetch = [&](const float* later) {
        for (std::size_t c = 0; c < width; c += kCacheLine / sizeof(float)) hwy::Prefetch(later + c);
        hwy::Prefetch(later + width - 1);  // a row that does not begin on a line ends on one more
      };
      fetch(row.weights + kAhead * stride);
      if (!kPlain && row.velocity) fetch(row.velocity + kAhead * stride);
    }
    std::size_t c = 0;
    for (; c + hn::Lanes(d) <= width; c += hn::Lanes(d)) ascend_vector<kPlain>(d, part, row, c);
    for (; c < width; ++c) ascend_vector<kPlain>(d1, part, row, c);
  }
}

void ascend_part(const Ascent& a, std::size_t first_row, std::size_t first_column, const PairBlock& difference) {
  const bool plain =
      !difference.earlier && a.velocity.empty() && a.column_l1.empty() && a.l2 == 0.0f && a.scale == 1.0f;
  const auto ascend_by = [&](auto counts) {
    plain ? ascend_rows<true>(a, first_row, first_column, difference, counts)
          : ascend_rows<false>(a, first_row, first_column, difference, counts);
  };
  if (const auto* narrow = std::get_if<MatrixView<const std::int8_t>>(&difference.counts)) {
    ascend_by(*narrow);
  } else {
    ascend_by(std::get<MatrixView<const std::int16_t>>(difference.counts));
  }
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(ascend_part);
}

void ascend(const Ascent& ascent, std::size_t first_row, std::size_t first_column, const PairBlock& difference) {
  assert(first_row + difference.rows() <= ascent.weights.rows() && first_column < ascent.weights.cols());
  HWY_DYNAMIC_DISPATCH(ascend_part)(ascent, first_row, first_column, difference);
}

}  // namespace ergodic
#endif  // HWY_ONCE
