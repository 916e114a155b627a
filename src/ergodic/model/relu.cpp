#include "ergodic/model/relu.hpp"

#include <cmath>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

/// Moments of z >= 0 with density proportional to e^(t z - z^2 / 2).
struct Truncated {
  explicit Truncated(double t) : log_sum(log_positive_weight(t)), mean(positive_mean(t)), square(1.0 + t * mean) {}
  double log_sum, mean, square;
};

/// A draw of it, by rejection (Robert 1995): from the whole normal if most of it is allowed, else from an exponential
/// that touches the tail. Attempt k of a unit has its own numbers.
double draw_truncated(double t, const DrawTarget& to, std::size_t unit, std::size_t units) {
  const double a = -t, rate = 0.5 * (a + std::sqrt(a * a + 4.0));
  for (std::uint64_t index = unit;; index += units) {
    const TwoUniforms u(to.draw.words(to.chain, static_cast<std::uint32_t>(index)));
    if (t >= 0.0) {
      const double z = t + normal_quantile(u.first);
      if (z >= 0.0) return z;
    } else {
      const double z = -portable_log(u.first) / rate, miss = z + a - rate;
      if (u.second <= portable_exp(-0.5 * miss * miss)) return z;
    }
  }
}

}  // namespace

double Relu::log_sum(const LayerFields& at) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < units; ++j) {
    sum += Truncated(Standardised(at, j).t).log_sum - 0.5 * at.precision.logs[j];
  }
  return sum;
}

void Relu::means(const LayerFields& at, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    out[j] = static_cast<float>(unit.deviation * Truncated(unit.t).mean);
  }
}

void Relu::squares(const LayerFields& at, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    out[j] = static_cast<float>(unit.deviation * unit.deviation * Truncated(unit.t).square);
  }
}

void Relu::draw(const LayerFields& at, const DrawTarget& to) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    to.out.reals()(to.row, j) = static_cast<float>(unit.deviation * draw_truncated(unit.t, to, j, units));
  }
}

}  // namespace ergodic
