// The values that a site of any unit type can have, by which laws are summed or integrated; and small layers to hold
// them to.
#pragma once

#include <vector>

#include "brute_force.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic::test {

/// A value of a site as its units, with its weight in a sum or an integral.
struct SiteValue {
  std::vector<double> units;
  double weight = 1.0;
};

/// All values of one site. Integrals by Simpson's rule in steps of at most 0.005: the integrands of these tests,
/// e^(x I - gamma x^2 / 2) with |I| up to 6 and gamma from 0.5 to 2, have their peaks, of a deviation of 0.7 to 1.4,
/// within 12 of zero, so that at 40 nothing is left of them.
inline std::vector<SiteValue> values_of_site(const Layer& layer, const Site& site) {
  if (site.size > 1) {
    std::vector<SiteValue> out(site.size, {std::vector<double>(site.size), 1.0});
    for (std::size_t a = 0; a < site.size; ++a) out[a].units[a] = 1.0;
    return out;
  }
  if (!real_valued(layer)) return {{{levels_of(layer).low}, 1.0}, {{levels_of(layer).high}, 1.0}};
  constexpr int kSteps = 16000;
  const double begin = data_values(layer) == UnitValues::kNonnegativeReals ? 0.0 : -40.0;
  const double step = (40.0 - begin) / kSteps;
  std::vector<SiteValue> out;
  for (int k = 0; k <= kSteps; ++k) {
    const double simpson = k == 0 || k == kSteps ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
    out.push_back({{begin + k * step}, simpson * step / 3.0});
  }
  return out;
}

/// Layers of one site, and those of as few as have several parts.
inline std::vector<Layer> small_layers() {
  std::vector<Layer> out = layers_of_one_part(1);
  for (const Layer& layer : joined_layers(3)) out.push_back(layer);
  return out;
}

}  // namespace ergodic::test
