#include "ergodic/kernels/log_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/log_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/float_sampling.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kPartials = 8;
constexpr float kSmallStep = 0.1f;  // half of a step times a field: what is left out is then below 1e-7 of the change
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
  const auto nothing = hn::Le(x, hn::Set(d, -708.0));  // false if x is NaN, and then p is NaN
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

/// What softplus changes by in a small step d = 2h about the middle m, for each d: with s = sigmoid(m x),
///   x (s + (h x)^2 / 6 s (1 - s) (1 - 2s)),
/// up to (h x)^4 / 1000. Sums of eight partials, and the largest |x|.
struct SmallChanges {
  double sums[kPartials] = {};
  float largest = 0.0f;
};

HWY_INLINE void add_change(float x, float middle, float half, double& sum, float& largest) {
  const float s = approximate_sigmoid(middle * x), h = half * x;
  const float curve = s * (1.0f - s) * (1.0f - 2.0f * s);
  sum += double{x * (s + h * h * (1.0f / 6.0f) * curve)};
  largest = std::max(largest, std::abs(x));
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
HWY_INLINE void add_changes(std::span<const double> x, float middle, float half, SmallChanges& out) {
  for (std::size_t k = 0; k < x.size() / kPartials * kPartials; ++k) {
    add_change(static_cast<float>(x[k]), middle, half, out.sums[k % kPartials], out.largest);
  }
}
#else
/// approximate_sigmoid, operation for operation.
template <class DF, class VF = hn::VFromD<DF> >
HWY_INLINE VF sigmoid_of(DF df, VF x) {
  const hn::RebindToUnsigned<DF> du;
  const auto set = [&](float value) HWY_ATTR { return hn::Set(df, value); };
  VF y = hn::Neg(x);
  y = hn::IfThenElse(hn::Gt(y, set(-80.0f)), y, set(-80.0f));
  y = hn::IfThenElse(hn::Lt(y, set(80.0f)), y, set(80.0f));
  const VF round = set(12582912.0f);
  const VF shifted = hn::Add(hn::Mul(y, set(1.44269504f)), round), n = hn::Sub(shifted, round);
  const VF r = hn::Sub(hn::Sub(y, hn::Mul(n, set(0.693359375f))), hn::Mul(n, set(-2.12194440e-4f)));
  VF p = set(1.0f / 720.0f);
  for (const float c : {1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f}) p = hn::Add(hn::Mul(p, r), set(c));
  p = hn::Add(hn::Add(hn::Mul(hn::Mul(p, r), r), r), set(1.0f));
  const VF power = hn::BitCast(df, hn::ShiftLeft<23>(hn::Add(hn::BitCast(du, shifted), hn::Set(du, 127u))));
  return hn::Div(set(1.0f), hn::Add(set(1.0f), hn::Mul(p, power)));
}

/// Groups of eight, as many as there are.
HWY_INLINE void add_changes(std::span<const double> x, float middle, float half, SmallChanges& out) {
  const hn::CappedTag<float, kPartials> df;
  const hn::Half<decltype(df)> dh;
  constexpr std::size_t kLanes = hn::MaxLanes(df), kHalf = kLanes / 2, kVectors = kPartials / kLanes;
  static_assert(kHalf == hn::MaxLanes(d));
  const auto one = hn::Set(df, 1.0f);
  V sums[2 * kVectors];
  for (V& sum : sums) sum = hn::Zero(d);
  auto largest = hn::Zero(df);
  for (std::size_t k = 0; k + kPartials <= x.size(); k += kPartials) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const double* from = x.data() + k + v * kLanes;
      const auto lower = hn::DemoteTo(dh, hn::LoadU(d, from)), upper = hn::DemoteTo(dh, hn::LoadU(d, from + kHalf));
      const auto value = hn::Combine(df, upper, lower);
      const auto s = sigmoid_of(df, hn::Mul(hn::Set(df, middle), value)), h = hn::Mul(hn::Set(df, half), value);
      const auto curve = hn::Mul(hn::Mul(s, hn::Sub(one, s)), hn::Sub(one, hn::Mul(hn::Set(df, 2.0f), s)));
      const auto corrected = hn::Add(s, hn::Mul(hn::Mul(hn::Mul(h, h), hn::Set(df, 1.0f / 6.0f)), curve));
      const auto term = hn::Mul(value, corrected);
      sums[2 * v] = hn::Add(sums[2 * v], hn::PromoteTo(d, hn::LowerHalf(dh, term)));
      sums[2 * v + 1] = hn::Add(sums[2 * v + 1], hn::PromoteTo(d, hn::UpperHalf(dh, term)));
      largest = hn::Max(largest, hn::Abs(value));
    }
  }
  for (std::size_t v = 0; v < 2 * kVectors; ++v) hn::StoreU(sums[v], d, out.sums + v * kHalf);
  out.largest = hn::GetLane(hn::MaxOfLanes(df, largest));
}
#endif

/// The change by a small step; NaN if the step is not small.
double small_change(std::span<const double> x, double from, double to) {
  const auto middle = static_cast<float>(0.5 * (from + to)), half = static_cast<float>(0.5 * (to - from));
  SmallChanges changes;
  add_changes(x, middle, half, changes);
  for (std::size_t k = x.size() / kPartials * kPartials; k < x.size(); ++k) {
    add_change(static_cast<float>(x[k]), middle, half, changes.sums[k % kPartials], changes.largest);
  }
  if (!(std::abs(half) * changes.largest < kSmallStep)) return std::numeric_limits<double>::quiet_NaN();
  double total = 0.0;
  for (const double sum : changes.sums) total += sum;
  return (to - from) * total;
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(softplus_terms);
HWY_EXPORT(log_cosh_terms);
HWY_EXPORT(small_change);
}  // namespace

double sum_softplus(std::span<const double> x) { return HWY_DYNAMIC_DISPATCH(softplus_terms)(x); }
double sum_log_cosh(std::span<const double> x) { return HWY_DYNAMIC_DISPATCH(log_cosh_terms)(x); }

double softplus_change(std::span<const double> x, double from, double to) {
  const double change = HWY_DYNAMIC_DISPATCH(small_change)(x, from, to);
  if (!std::isnan(change)) return change;
  std::vector<double> scaled(x.size());
  const auto at = [&](double t) {
    for (std::size_t k = 0; k < x.size(); ++k) scaled[k] = t * x[k];
    return sum_softplus(scaled);
  };
  return at(to) - at(from);
}

}  // namespace ergodic
#endif  // HWY_ONCE
