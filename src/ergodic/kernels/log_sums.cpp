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
constexpr std::size_t kMostFactors = 512;  // of at most 2 each: their product does not overflow

/// What has been added up: the sum of what is linear, and the product of the rest, whose logarithm is still to be
/// taken.
struct Partials {
  double sums[kPartials] = {};
  double products[kPartials] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
};

/// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|);  log(e^x + e^-x) = |x| + log(1 + e^-2|x|).
template <bool kEven>
void add_term(double x, double& sum, double& product) {
  const double size = std::abs(x);
  sum += kEven ? size : (x > 0.0 ? x : 0.0);
  product *= 1.0 + portable_exp(kEven ? -2.0 * size : -size);
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
template <bool kEven>
void add_terms(const double* x, Partials& partials) {
  for (std::size_t k = 0; k < kPartials; ++k) add_term<kEven>(x[k], partials.sums[k], partials.products[k]);
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
  const auto nothing = hn::Le(x, hn::Set(d, -708.0));  // not so if x is not a number, and then p is none
  return hn::IfThenElse(nothing, hn::Zero(d), hn::Mul(p, hn::BitCast(d, power)));
}

template <bool kEven>
HWY_INLINE void add_terms(const double* x, Partials& partials) {
  for (std::size_t k = 0; k < kPartials; k += hn::Lanes(d)) {
    const V value = hn::LoadU(d, x + k), size = hn::Abs(value);
    const V linear = kEven ? size : hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), value);
    const V factor = hn::Add(hn::Set(d, 1.0), exp_of(hn::Neg(kEven ? hn::Add(size, size) : size)));
    hn::StoreU(hn::Add(hn::LoadU(d, partials.sums + k), linear), d, partials.sums + k);
    hn::StoreU(hn::Mul(hn::LoadU(d, partials.products + k), factor), d, partials.products + k);
  }
}
#endif

template <bool kEven>
double sum_terms(std::span<const double> x) {
  double total = 0.0;
  for (std::size_t begin = 0; begin < x.size(); begin += kPartials * kMostFactors) {
    const auto part = x.subspan(begin, std::min(kPartials * kMostFactors, x.size() - begin));
    Partials partials;
    std::size_t k = 0;
    for (; k + kPartials <= part.size(); k += kPartials) add_terms<kEven>(part.data() + k, partials);
    for (; k < part.size(); ++k) {
      add_term<kEven>(part[k], partials.sums[k % kPartials], partials.products[k % kPartials]);
    }
    for (std::size_t p = 0; p < kPartials; ++p) total += partials.sums[p] + portable_log(partials.products[p]);
  }
  return total;
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
