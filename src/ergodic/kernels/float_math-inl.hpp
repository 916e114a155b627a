// Elementary functions of floats in vectors, for each target: built from +, -, *, / and sqrt, none of which is
// contracted, so that the bits are the same on every CPU.

// Included once for each target.
#if defined(ERGODIC_KERNELS_FLOAT_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_FLOAT_MATH_INL
#undef ERGODIC_KERNELS_FLOAT_MATH_INL
#else
#define ERGODIC_KERNELS_FLOAT_MATH_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The polynomial in x with these coefficients, the highest first.
template <class D, class V = hn::VFromD<D>, std::size_t kCount>
HWY_INLINE V polynomial_of(D d, V x, const float (&coefficients)[kCount]) {
  V p = hn::Set(d, coefficients[0]);
  for (std::size_t k = 1; k < kCount; ++k) p = hn::Add(hn::Mul(p, x), hn::Set(d, coefficients[k]));
  return p;
}

/// e^x for |x| <= 87, beyond that of the end; relative error below 1e-7.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V exp_of(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V y = hn::Min(hn::Max(x, hn::Set(d, -87.0f)), hn::Set(d, 87.0f));
  const V round = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = hn::Add(hn::Mul(y, hn::Set(d, 1.44269504f)), round), n = hn::Sub(shifted, round);
  // ln 2 in two parts, the first of which has few enough bits for an exact product.
  const V r = hn::Sub(hn::Sub(y, hn::Mul(n, hn::Set(d, 0.693359375f))), hn::Mul(n, hn::Set(d, -2.12194440e-4f)));
  static constexpr float kTaylor[] = {1.0f / 5040.0f, 1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f,
                                      1.0f / 6.0f,    0.5f,          1.0f,          1.0f};
  // The last bits of `shifted` are n: as an exponent, with its bias of 127, they make 2^n.
  return hn::Mul(polynomial_of(d, r, kTaylor),
                 hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(du, shifted), hn::Set(du, 127u)))));
}

/// 1 / (1 + e^-x), off by less than 2e-7.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V sigmoid_of(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp_of(d, hn::Neg(x))));
}

/// log x for normal positive x; relative error below 3e-7.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V log_of(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));  // less that of sqrt(1/2)
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));            // [sqrt(1/2), sqrt(2))
  const V one = hn::Set(d, 1.0f), n = hn::ConvertTo(d, exponent);
  const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one)), t = hn::Mul(s, s), twice = hn::Add(s, s);
  static constexpr float kSeries[] = {1.0f / 9.0f, 1.0f / 7.0f, 1.0f / 5.0f, 1.0f / 3.0f};  // of artanh
  const V tail = hn::Mul(hn::Mul(twice, t), polynomial_of(d, t, kSeries));
  const V low = hn::Add(hn::Add(twice, tail), hn::Mul(n, hn::Set(d, -2.12194440e-4f)));
  return hn::Add(hn::Mul(n, hn::Set(d, 0.693359375f)), low);
}

/// The cosine and the sine of 2 pi / 2^32 times 32 bits.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void turn_of(D d, hn::VFromD<hn::RebindToUnsigned<D>> bits, V& cosine, V& sine) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto quarter = hn::ShiftRight<30>(hn::Add(bits, hn::Set(du, 0x20000000u)));  // the nearest
  const auto rest = hn::BitCast(di, hn::Sub(bits, hn::ShiftLeft<30>(quarter)));
  const V x = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, 1.46291807926715968e-9f)), square = hn::Mul(x, x);
  static constexpr float kSine[] = {1.0f / 362880.0f, -1.0f / 5040.0f, 1.0f / 120.0f, -1.0f / 6.0f};
  static constexpr float kCosine[] = {1.0f / 40320.0f, -1.0f / 720.0f, 1.0f / 24.0f, -0.5f, 1.0f};
  const V s = hn::Add(x, hn::Mul(hn::Mul(x, square), polynomial_of(d, square, kSine)));
  const V c = polynomial_of(d, square, kCosine);
  const auto one = hn::Set(du, 1u), two = hn::Set(du, 2u);
  const auto odd = hn::RebindMask(d, hn::Eq(hn::And(quarter, one), one));
  const auto sign = [&](auto q) HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<30>(hn::And(q, two))); };
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), sign(hn::Add(quarter, one)));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), sign(quarter));
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
