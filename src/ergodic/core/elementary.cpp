#include "ergodic/core/elementary.hpp"

#include <span>

namespace ergodic {
namespace {

double polynomial(std::span<const double> coefficients, double x) {
  double value = 0.0;
  for (std::size_t k = coefficients.size(); k-- > 0;) value = value * x + coefficients[k];
  return value;
}

// Three rational approximations: the centre, the shoulders, the far tails.
constexpr double kCentreTop[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                 1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                 3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr double kCentreBottom[] = {1.0,
                                    4.2313330701600911252e1,
                                    6.8718700749205790830e2,
                                    5.3941960214247511077e3,
                                    2.1213794301586595867e4,
                                    3.9307895800092710610e4,
                                    2.8729085735721942674e4,
                                    5.2264952788528545610e3};
constexpr double kShoulderTop[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                   3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double kShoulderBottom[] = {1.0,
                                      2.05319162663775882187e0,
                                      1.67638483018380384940e0,
                                      6.89767334985100004550e-1,
                                      1.48103976427480074590e-1,
                                      1.51986665636164571966e-2,
                                      5.47593808499534494600e-4,
                                      1.05075007164441684324e-9};
constexpr double kTailTop[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                               2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double kTailBottom[] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};

// Mills' ratio R(a) of the normal: R(a) = 1 / (a + 1 / (a + 2 / (a + 3 / ...))), which converges fast where a is large.
constexpr double kLargeMills = 3.0;
constexpr int kMillsTerms = 24;

/// 1 / (a + 2 / (a + 3 / ...)), so that R(a) = 1 / (a + rest).
double mills_rest(double a) {
  double rest = 0.0;
  for (int k = kMillsTerms; k >= 1; --k) rest = k / (a + rest);
  return rest;
}

/// R(a) for |a| < 3: half of the normal, minus or plus the part between 0 and a.
double small_mills(double a) {
  double term = a, sum = a;  // a + a^3 / 3 + a^5 / 15 + ...
  for (int k = 3; std::abs(term) > 1e-17 * std::abs(sum); k += 2) sum += term *= a * a / k;
  return 1.2533141373155003 * portable_exp(0.5 * a * a) - sum;
}

}  // namespace

double log_positive_weight(double t) {
  const double a = -t;
  if (a >= kLargeMills) return -portable_log(a + mills_rest(a));
  if (a > -kLargeMills) return portable_log(small_mills(a));
  // Nearly the whole normal: sqrt(2 pi) e^(t^2 / 2), minus the tail beyond t.
  const double tail = portable_exp(-0.5 * t * t) / (2.5066282746310002 * (t + mills_rest(t)));
  return 0.9189385332046727 + 0.5 * t * t + portable_log(1.0 - tail);
}

double positive_mean(double t) {
  const double a = -t;
  if (a >= kLargeMills) return mills_rest(a);
  return t + portable_exp(-log_positive_weight(t));
}

double cos_pi(double t) {
  const double x = 3.141592653589793 * (t - 0.5);
  const double square = x * x;
  double series = 1.0;  // sin(x)/x = 1 - x^2/(2*3) (1 - x^2/(4*5) (...))
  for (int k = 20; k >= 2; k -= 2) series = 1.0 - square / (k * (k + 1)) * series;
  return -x * series;
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentreTop, r) / polynomial(kCentreBottom, r);
  }
  const double r = std::sqrt(-portable_log(q < 0.0 ? p : 1.0 - p));
  const double magnitude = r <= 5.0 ? polynomial(kShoulderTop, r - 1.6) / polynomial(kShoulderBottom, r - 1.6)
                                    : polynomial(kTailTop, r - 5.0) / polynomial(kTailBottom, r - 5.0);
  return q < 0.0 ? -magnitude : magnitude;
}

}  // namespace ergodic
