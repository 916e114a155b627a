// What real units have in common: each in terms of its own deviation, and draws in float.
#pragma once

#include "ergodic/model/units.hpp"

namespace ergodic {

/// A real unit in units of its own deviation: z = x / deviation has the field t.
struct Standardised {
  Standardised(const LayerFields& at, std::size_t unit)
      : deviation(at.precision.deviations[unit]), t(at.fields[unit] * deviation) {}
  double deviation, t;
};

/// A draw by fields in double, which are rounded.
template <FloatPart Part>
void draw_rounded(const Part& part, const LayerFields& at, const DrawTarget& to) {
  const std::vector<float> fields(at.fields.begin(), at.fields.end()), deviations = float_deviations(at.precision);
  part.draw_by_floats({fields, deviations}, to);
}

/// The fields of normal units with these means.
inline void normal_fields(std::span<const double> means, std::span<const double> deviations, std::span<double> out) {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = means[k] / (deviations[k] * deviations[k]);
}

}  // namespace ergodic
