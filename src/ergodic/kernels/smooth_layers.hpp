// The layers of a perceptron of smooth units, in double: products, activations and gradients. Each sum is in one order
// and no operation is contracted, so the bits are the same on every CPU.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

inline constexpr std::size_t kLayerLanes = 8;  ///< the columns of b are a multiple of this

/// out = a b + bias, each sum from the bias on in the order of b's rows. An empty bias is zero. Columns of a beyond the
/// rows of b are not looked at.
void multiply_layer(MatrixView<const double> a, MatrixView<const double> b, std::span<const double> bias,
                    MatrixView<double> out);

/// In place f -> f sigmoid(f), with the derivative.
void activate_smoothly(std::span<double> fields, std::span<double> slopes);

/// out(i, j) += sum over rows r, in ascending order, of (weight_r x(r, i)) y(r, j). Columns of x and y beyond those of
/// out are not looked at.
void add_weighted_outer(std::span<const double> row_weights, MatrixView<const double> x, MatrixView<const double> y,
                        MatrixView<double> out);

}  // namespace ergodic
