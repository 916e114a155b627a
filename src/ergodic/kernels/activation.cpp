#include "ergodic/kernels/activation.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/activation.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>

#include "ergodic/kernels/ars-inl.hpp"
#include "ergodic/kernels/float_math-inl.hpp"

// What all targets share.
#ifndef ERGODIC_ACTIVATION_SHARED
#define ERGODIC_ACTIVATION_SHARED
namespace ergodic {

/// A unit is left out if its 16 random bits are below the limit.
struct DroppedShare {
  std::uint32_t limit;
  float scale;  // of the others
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void sigmoid_at(D d, float* x) {
  hn::StoreU(sigmoid_of(d, hn::LoadU(d, x)), d, x);
}

void sigmoid_all(std::span<float> x) {
  const hn::CappedTag<float, 16> d;
  const hn::CappedTag<float, 1> d1;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= x.size(); i += hn::Lanes(d)) sigmoid_at(d, x.data() + i);
  for (; i < x.size(); ++i) sigmoid_at(d1, x.data() + i);
}

constexpr std::size_t kBlocksAtATime = 8, kUnitsOfBlock = 8;

/// Some blocks of random words, beginning with that of a counter.
HWY_INLINE void words_from(const Draw& draw, const Words& counter, Words* out) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  draw.words(counter[1], counter[0], {out, kBlocksAtATime});
#else
  ars_words<kBlocksAtATime>(draw.keys(), ars_counters(ArsTag<kBlocksAtATime>(), counter, {1, 0, 0, 0}), out);
#endif
}

template <class D>
HWY_INLINE void drop_at(D d, const DroppedShare& dropped, const std::uint16_t* drawn, float* x) {
  const hn::RebindToSigned<D> di;
  const auto numbers = hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::uint16_t, D>(), drawn));
  const auto out = hn::RebindMask(d, hn::Lt(numbers, hn::Set(di, static_cast<std::int32_t>(dropped.limit))));
  hn::StoreU(hn::IfThenZeroElse(out, hn::Mul(hn::Set(d, dropped.scale), hn::LoadU(d, x))), d, x);
}

void drop_some(const DroppedShare& dropped, const Draw& draw, std::uint32_t chain, std::span<float> x) {
  const hn::CappedTag<float, 16> d;
  const hn::CappedTag<float, 1> d1;
  constexpr std::size_t kUnits = kBlocksAtATime * kUnitsOfBlock;
  alignas(64) Words words[kBlocksAtATime];
  alignas(64) std::uint16_t drawn[kUnits];
  static_assert(sizeof(words) == sizeof(drawn));
  for (std::size_t first = 0; first < x.size(); first += kUnits) {
    words_from(draw, draw.counter(chain, static_cast<std::uint32_t>(first / kUnitsOfBlock)), words);
    hwy::CopyBytes<sizeof(words)>(words, drawn);
    const std::size_t units = std::min(kUnits, x.size() - first);
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= units; i += hn::Lanes(d)) drop_at(d, dropped, drawn + i, x.data() + first + i);
    for (; i < units; ++i) drop_at(d1, dropped, drawn + i, x.data() + first + i);
  }
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sigmoid_all);
HWY_EXPORT(drop_some);
}  // namespace

void apply_sigmoid(std::span<float> x) { HWY_DYNAMIC_DISPATCH(sigmoid_all)(x); }

void drop_out(double share, const Draw& draw, std::uint32_t chain, std::span<float> x) {
  const DroppedShare dropped{static_cast<std::uint32_t>(share * 65536.0), static_cast<float>(1.0 / (1.0 - share))};
  HWY_DYNAMIC_DISPATCH(drop_some)(dropped, draw, chain, x);
}

}  // namespace ergodic
#endif  // HWY_ONCE
