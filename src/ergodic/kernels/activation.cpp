#include "ergodic/kernels/activation.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/activation.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>

#include "ergodic/kernels/ars-inl.hpp"

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

/// e^x for |x| <= 87, beyond that of the end; relative error below 1e-7.
template <class D, class V = hn::VFromD<D> >
HWY_INLINE V exp_of(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto set = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  const V y = hn::Min(hn::Max(x, set(-87.0f)), set(87.0f));
  const V round = set(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = hn::Add(hn::Mul(y, set(1.44269504f)), round), n = hn::Sub(shifted, round);
  // ln 2 in two parts, the first of which has few enough bits for an exact product.
  const V r = hn::Sub(hn::Sub(y, hn::Mul(n, set(0.693359375f))), hn::Mul(n, set(-2.12194440e-4f)));
  V p = set(1.0f / 5040.0f);
  for (const float c : {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f}) {
    p = hn::Add(hn::Mul(p, r), set(c));
  }
  // The last bits of `shifted` are n: as an exponent, with its bias of 127, they make 2^n.
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(du, shifted), hn::Set(du, 127u)))));
}

template <class D>
HWY_INLINE void sigmoid_at(D d, float* x) {
  const auto one = hn::Set(d, 1.0f);
  hn::StoreU(hn::Div(one, hn::Add(one, exp_of(d, hn::Neg(hn::LoadU(d, x))))), d, x);
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
