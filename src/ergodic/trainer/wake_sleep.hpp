// The wake-sleep algorithm (Hinton, Dayan, Frey and Neal 1995) for the directed layers of a deep belief network.
//
// Wake: with layers drawn up from data, generative weights ascend log p(h_k | h_{k+1}). Sleep: with layers drawn down
// from the network's own chains, recognition weights ascend log q(h_{k+1} | h_k). Both are logistic regressions of one
// layer on another; products are in float, in a fixed order (kernels/float_product.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/dbn.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// The gradient of the mean over rows of log p(a layer | the other one).
struct ConditionalGradient {
  Matrix<float> weights;    ///< [visible, hidden]
  std::vector<float> bias;  ///< of the layer that is predicted
};

/// With the states of both layers of a machine of {0,1} units; `block` is the layer that is predicted.
ConditionalGradient conditional_gradient(const Rbm& machine, std::size_t block, std::span<const State> layers,
                                         const Context& context);

/// A step along it, less l2 times the weights.
struct ConditionalStep {
  double rate = 0.0;
  double l2 = 0.0;
};

/// Moves all directed layers of a network: `awake` and `asleep` are values, h_1, ..., h_{L-1}, drawn up and down.
void wake_sleep_step(Dbn& model, std::span<const State> awake, std::span<const State> asleep, ConditionalStep step,
                     const Context& context);

}  // namespace ergodic
