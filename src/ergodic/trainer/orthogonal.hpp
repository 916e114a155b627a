// The orthogonal factor of a matrix, by products alone: U V' of G = U S V'.
//
// Newton-Schulz iterations of an odd polynomial, X <- a X + b X X'X + c X (X'X)^2, take each singular value by itself
// and leave U and V as they are. The polynomial of Jordan and others (Muon, 2024) rises fast and settles loosely: after
// five iterations, singular values from a 500th of the norm up are between 0.68 and 1.21. Products in float that have
// one order of additions (kernels/float_product.hpp) make the same bits on every CPU, for any number of threads.
#pragma once

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"

namespace ergodic {

/// Makes all singular values about one, in place; a matrix of zeros stays, and one column is divided by its norm.
void orthogonalise(MatrixView<float> matrix, const Context& context);

}  // namespace ergodic
