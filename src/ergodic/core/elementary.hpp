// Elementary functions that give the same bits on every CPU.
//
// libm's exp and log differ in the last bit between machines (it picks code by instruction set). Sampled states and
// trained weights must not, so the few functions on that path are written here from +, -, *, / and sqrt, which IEEE
// 754 fixes exactly. The whole project is compiled without contraction of multiply-adds for the same reason.
// Relative error of exp and log: a few 1e-16 over the whole range of double.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ergodic {

/// x = n ln 2 + r with |r| <= ln(2)/2. The lowest bits of `rounded` are n.
struct ExponentOf {
  static constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  double rounded, n, r;

  explicit ExponentOf(double x) {
    constexpr double kLog2e = 1.4426950408889634;
    constexpr double kLn2High = 6.93147180369123816490e-01;  // 33 bits, so that n * kLn2High is exact
    constexpr double kLn2Low = 1.90821492927058770002e-10;
    rounded = x * kLog2e + kRound;
    n = rounded - kRound;
    r = (x - n * kLn2High) - n * kLn2Low;
  }
  /// e^r, by Taylor to r^13: remainder below 5e-18.
  double mantissa() const {
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    return p * r * r + r + 1.0;
  }
};

/// e^x for |x| <= 700: the bits of portable_exp without its branches, so that the compiler makes vectors of loops.
inline double exp_within(double x) {
  const ExponentOf parts(x);
  return parts.mantissa() * std::bit_cast<double>((std::bit_cast<std::uint64_t>(parts.rounded) + 1023) << 52);
}

/// e^x. Zero below -708 (no subnormal results), infinity above 709.78, NaN for NaN.
inline double portable_exp(double x) {
  if (!(x > -708.0)) return std::isnan(x) ? x : 0.0;
  if (x > 709.78) return std::numeric_limits<double>::infinity();
  const ExponentOf parts(x);
  const auto half = static_cast<std::int64_t>(parts.n) / 2;  // 2^n in two factors: n may be 1024
  const auto rest = static_cast<std::int64_t>(parts.n) - half;
  const auto power = [](std::int64_t k) { return std::bit_cast<double>((static_cast<std::uint64_t>(k + 1023)) << 52); };
  return parts.mantissa() * power(half) * power(rest);
}

/// Natural logarithm for normal positive x; -infinity at 0, NaN below.
inline double portable_log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return x;
  auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);  // [1, 2)
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);  // |s| <= 0.1716; log m = 2 atanh s
  const double t = s * s;
  double p = 1.0 / 23.0;
  for (int k = 21; k >= 3; k -= 2) p = p * t + 1.0 / k;
  const auto n = static_cast<double>(exponent);
  return n * 6.93147180369123816490e-01 + (2.0 * s + (2.0 * s * t * p + n * 1.90821492927058770002e-10));
}

/// 1 / (1 + e^-x), accurate in both tails.
inline double sigmoid(double x) {
  const double e = portable_exp(-std::abs(x));
  return x >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

/// log(1 + e^x), without overflow.
inline double softplus(double x) {
  const double e = portable_exp(-std::abs(x));
  const double tail = e < 1e-8 ? e : portable_log(1.0 + e);
  return (x > 0.0 ? x : 0.0) + tail;
}

/// log(e^a + e^b), without overflow; minus infinity is the neutral element.
inline double log_add(double a, double b) {
  const double high = a > b ? a : b;
  const double low = a > b ? b : a;
  if (low == -std::numeric_limits<double>::infinity()) return high;
  return high + softplus(low - high);
}

/// A running sum of exponentials, kept relative to its largest term.
struct LogSum {
  double largest = -std::numeric_limits<double>::infinity();
  double scaled = 0.0;

  void add(double term) {
    if (term < largest - 80.0) return;  // e^-80 times 2^30 terms is far below the last bit
    if (term > largest) {
      scaled *= portable_exp(largest - term);
      largest = term;
    }
    scaled += portable_exp(term - largest);
  }
  double value() const { return scaled > 0.0 ? largest + portable_log(scaled) : largest; }
};

/// cos(pi t) for 0 <= t <= 1: minus the sine of pi (t - 1/2), by its Taylor series to the 21st power.
double cos_pi(double t);

/// The log of the integral of e^(t z - z^2 / 2) over z >= 0, and the mean of z under that weight. With t = -a the
/// integral is Mills' ratio of the normal at a. Relative error below 1e-12.
double log_positive_weight(double t);
double positive_mean(double t);

/// The quantile function of the standard normal, for 0 < p < 1 (Wichura's AS 241, 1988; relative error 1e-16).
double normal_quantile(double p);

}  // namespace ergodic
