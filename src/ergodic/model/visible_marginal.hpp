// The visible layer of a model by itself: the hidden units are summed out, and its energy is the free energy F(x).
// Samplers of any energy work on it, and those that need forces do if the visible units are gaussian.
#pragma once

#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/concepts.hpp"

namespace ergodic {

template <MarginalModel Model>
struct VisibleMarginal {
  const Model& machine;

  auto layers() const { return std::span<const Layer>(machine.layers()).first(1); }
  std::vector<double> energy(LayerStates x, const Context& context) const { return machine.free_energy(x[0], context); }
  /// -dF/dx, a row for each row of x. UsageError unless the visible units are gaussian.
  Matrix<double> forces(const State& x, const Context& context) const requires requires {
    machine.free_energy_forces(x, context);
  }
  { return machine.free_energy_forces(x, context); }
};
template <class Model>
VisibleMarginal(const Model&) -> VisibleMarginal<Model>;

}  // namespace ergodic
