#include "ergodic/kernels/activation.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/activation.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

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

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sigmoid_all);
}  // namespace

void apply_sigmoid(std::span<float> x) { HWY_DYNAMIC_DISPATCH(sigmoid_all)(x); }

}  // namespace ergodic
#endif  // HWY_ONCE
