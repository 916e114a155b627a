// The visible layer of an RBM by itself: the hidden units are summed out, and its energy is the free energy F(x).
// Samplers of any energy work on it, and those that need forces do if the visible units are gaussian.
#pragma once

#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

struct VisibleMarginal {
  const Rbm& machine;

  const Layer& units() const { return machine.visible(); }
  std::vector<double> energy(const State& x, const Context& context) const { return machine.free_energy(x, context); }
  /// -dF/dx_i = b_i - gamma_i x_i + sum_j W_ij E[v_j | x]. UsageError unless the visible units are gaussian.
  Matrix<double> forces(const State& x, const Context& context) const;
};

}  // namespace ergodic
