// What real units have in common: each in terms of its own deviation, and the random numbers that it is drawn from.
#pragma once

#include "ergodic/model/units.hpp"

namespace ergodic {

/// A real unit in units of its own deviation: z = x / deviation has the field t.
struct Standardised {
  Standardised(const LayerFields& at, std::size_t unit)
      : deviation(at.precision.deviations[unit]), t(at.fields[unit] * deviation) {}
  double deviation, t;
};

/// Two uniform numbers in (0, 1).
struct TwoUniforms {
  explicit TwoUniforms(const Words& w) : first(between(w[0], w[1])), second(between(w[2], w[3])) {}
  static double between(std::uint32_t low, std::uint32_t high) {
    const std::uint64_t grid = ((std::uint64_t{high} << 32) | low) >> 12;
    return (static_cast<double>(grid) + 0.5) * 0x1p-52;
  }
  double first, second;
};

/// The fields of normal units with these means.
inline void normal_fields(std::span<const double> means, std::span<const double> deviations, std::span<double> out) {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = means[k] / (deviations[k] * deviations[k]);
}

}  // namespace ergodic
