#include "ergodic/model/gaussian.hpp"

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

constexpr double kTwoPi = 6.283185307179586;

}  // namespace

double Gaussian::log_sum(const LayerFields& at) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    sum += 0.5 * (unit.t * unit.t - at.precision.logs[j]);
  }
  return sum + 0.5 * static_cast<double>(units) * portable_log(kTwoPi);
}

void Gaussian::means(const LayerFields& at, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    out[j] = static_cast<float>(unit.deviation * unit.t);
  }
}

void Gaussian::squares(const LayerFields& at, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(at, j);
    out[j] = static_cast<float>(unit.deviation * unit.deviation * (1.0 + unit.t * unit.t));
  }
}

void Gaussian::draw(const LayerFields& at, const DrawTarget& to) const { draw_rounded(*this, at, to); }

}  // namespace ergodic
