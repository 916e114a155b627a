#include "ergodic/model/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/error.hpp"

namespace ergodic {

void require_differenceable(std::size_t parameters) {
  require(parameters <= kMaxDifferencedParameters,
          fmt::format("differences take two energies for each parameter, and so at most {} of them, found {}; give the "
                      "model a member add_statistics with its derivatives",
                      kMaxDifferencedParameters, parameters));
}

void require_real(const Layer& units) {
  require(real_valued(units), fmt::format("forces are on real units, found {}", name_of(units)));
}

CentralPair::CentralPair(float value) {
  // A power of two: values and steps are then exact in most cases. The cube root of the last bit of an energy would be
  // smaller, but a float cannot be moved by so little.
  const int exponent = value == 0.0f || !std::isfinite(value) ? 0 : std::max(0, std::ilogb(value) + 1);
  const float step = std::ldexp(1.0f, exponent - 10);
  below = value - step;
  above = value + step;
}

}  // namespace ergodic
