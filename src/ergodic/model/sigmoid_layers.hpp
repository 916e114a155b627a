// Means on their way up layers of sigmoids: what the layers that machines are taken for (Machine::network_layers) make
// of rows.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/network.hpp"

namespace ergodic {

/// sigmoid(h W + b), layer after layer, in float; the values themselves without layers.
Matrix<float> raised(std::span<const NetworkLayer> layers, Matrix<float> values, const Context& context);

/// h W + b of one layer.
Matrix<float> fields_of(const NetworkLayer& layer, const Matrix<float>& values, const Context& context);

}  // namespace ergodic
