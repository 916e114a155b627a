// A network of max(0, .) that begins where a network of sigmoids is.
//
// Rectified units are trained further than sigmoids, which saturate; but machines with two-valued hidden units give
// sigmoids. So each unit s = sigma(f) is replaced by the line in max(0, f) that is closest to it over some rows,
//   s  ~  a max(0, f) + c,
// by least squares. The slope a goes into the weights and the bias of the unit, as a max(0, f) = max(0, a f), and the
// constant c into the biases of the layer above.
#pragma once

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/network.hpp"

namespace ergodic {

/// `rows` are inputs of the network.
Network rectified(const Network& sigmoids, const Matrix<float>& rows, const Context& context);

}  // namespace ergodic
