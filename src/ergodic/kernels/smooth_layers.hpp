// The layers of a perceptron of smooth units: products in double, for those in float are in float_product.hpp, and
// activations. Each sum is in one order, and which multiplications are fused with an addition is written down, so the
// bits are the same on every CPU.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

inline constexpr std::size_t kLayerLanes = 8;  ///< the columns of b are a multiple of this

/// out = a b + bias, each sum a chain of fused multiply-adds from the bias on in the order of b's rows. An empty bias
/// is zero. Columns of a beyond the rows of b are not looked at.
void multiply_layer(MatrixView<const double> a, MatrixView<const double> b, std::span<const double> bias,
                    MatrixView<double> out);

/// In place f -> f sigmoid(f); relative error of a few 1e-16 where |f| < 700.
void activate_smoothly(std::span<double> fields);
/// The same in float, with the derivative; off by less than 1e-6 of their size.
void activate_smoothly(std::span<float> fields, std::span<float> slopes);

}  // namespace ergodic
