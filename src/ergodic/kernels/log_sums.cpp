#include "ergodic/kernels/log_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/log_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "ergodic/core/elementary.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kPartials = 8;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
template <bool kEven>
void add_terms(const double* x, double* partials) {
  for (std::size_t k = 0; k < kPartials; ++k) {
    const double size = std::abs(x[k]);
    partials[k] += kEven ? size + softplus(-2.0 * size) : softplus(x[k]);
  }
}
#else
using D = hn::CappedTag<double, 4>;
using V = hn::VFromD<D>;
constexpr D d;

HWY_INLINE V times_plus(V a, V b, double c) { return hn::Add(hn::Mul(a, b), hn::Set(d, c)); }

/// portable_exp for x <= 0.
HWY_INLINE V exp_of(V x) {
  const hn::RebindToSigned<D> di;
  const V round = hn::Set(d, 6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer
  const V shifted = hn::Add(hn::Mul(x, hn::Set(d, 1.4426950408889634)), round);
  const V n = hn::Sub(shifted, round);
  const V high = hn::Sub(x, hn::Mul(n, hn::Set(d, 6.93147180369123816490e-01)));
  const V r = hn::Sub(high, hn::Mul(n, hn::Set(d, 1.90821492927058770002e-10)));
  V p = hn::Set(d, 1.0 / 6227020800.0);
  p = times_plus(p, r, 1.0 / 479001600.0);
  p = times_plus(p, r, 1.0 / 39916800.0);
  p = times_plus(p, r, 1.0 / 3628800.0);
  p = times_plus(p, r, 1.0 / 362880.0);
  p = times_plus(p, r, 1.0 / 40320.0);
  p = times_plus(p, r, 1.0 / 5040.0);
  p = times_plus(p, r, 1.0 / 720.0);
  p = times_plus(p, r, 1.0 / 120.0);
  p = times_plus(p, r, 1.0 / 24.0);
  p = times_plus(p, r, 1.0 / 6.0);
  p = times_plus(p, r, 0.5);
  p = hn::Add(hn::Add(hn::Mul(hn::Mul(p, r), r), r), hn::Set(d, 1.0));
  // The last bits of `shifted` are n: as an exponent, with its bias of 1023, they make 2^n.
  const auto power = hn::ShiftLeft<52>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, 1023)));
  return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, -708.0)), hn::Mul(p, hn::BitCast(d, power)));
}

/// portable_log(1 + e) for 0 <= e <= 1.
HWY_INLINE V log1p_of(V e) {
  const V one = hn::Set(d, 1.0), sum = hn::Add(one, e);
  const auto large = hn::Gt(sum, hn::Set(d, 1.4142135623730951));
  const V m = hn::IfThenElse(large, hn::Mul(sum, hn::Set(d, 0.5)), sum);
  const V n = hn::IfThenElseZero(large, one);
  const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V t = hn::Mul(s, s);
  V p = hn::Set(d, 1.0 / 23.0);
  for (int k = 21; k >= 3; k -= 2) p = times_plus(p, t, 1.0 / k);
  const V twice = hn::Mul(hn::Set(d, 2.0), s);
  const V rest = hn::Add(hn::Mul(hn::Mul(twice, t), p), hn::Mul(n, hn::Set(d, 1.90821492927058770002e-10)));
  return hn::Add(hn::Mul(n, hn::Set(d, 6.93147180369123816490e-01)), hn::Add(twice, rest));
}

/// log(1 + e^-size), for size >= 0.
HWY_INLINE V softplus_tail(V size) {
  const V e = exp_of(hn::Neg(size));
  return hn::IfThenElse(hn::Lt(e, hn::Set(d, 1e-8)), e, log1p_of(e));
}

template <bool kEven>
HWY_INLINE V term(V x) {
  const V size = hn::Abs(x);
  const V sum = kEven ? hn::Add(size, softplus_tail(hn::Add(size, size)))
                      : hn::Add(hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x), softplus_tail(size));
  return hn::IfThenElse(hn::Eq(x, x), sum, x);  // NaN stays what it is
}

template <bool kEven>
HWY_INLINE void add_terms(const double* x, double* partials) {
  for (std::size_t k = 0; k < kPartials; k += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, partials + k), term<kEven>(hn::LoadU(d, x + k))), d, partials + k);
  }
}
#endif

template <bool kEven>
double sum_terms(std::span<const double> x) {
  double partials[kPartials] = {};
  std::size_t k = 0;
  for (; k + kPartials <= x.size(); k += kPartials) add_terms<kEven>(x.data() + k, partials);
  for (std::size_t rest = 0; k < x.size(); ++k, ++rest) {
    const double size = std::abs(x[k]);
    partials[rest] += kEven ? size + softplus(-2.0 * size) : softplus(x[k]);
  }
  double sum = 0.0;
  for (const double partial : partials) sum += partial;
  return sum;
}

double softplus_terms(std::span<const double> x) { return sum_terms<false>(x); }
double log_cosh_terms(std::span<const double> x) { return sum_terms<true>(x); }

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(softplus_terms);
HWY_EXPORT(log_cosh_terms);
}  // namespace

double sum_softplus(std::span<const double> x) { return HWY_DYNAMIC_DISPATCH(softplus_terms)(x); }
double sum_log_cosh(std::span<const double> x) { return HWY_DYNAMIC_DISPATCH(log_cosh_terms)(x); }

}  // namespace ergodic
#endif  // HWY_ONCE
