// Values: rows of data or of a layer before they are a state, packed bits or floats.
#pragma once

#include <variant>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/matrix.hpp"

namespace ergodic {

using Values = std::variant<Bits, Matrix<float>>;

}  // namespace ergodic
