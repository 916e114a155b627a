// A Boltzmann machine as it is seen by its pseudo-likelihood (Besag 1975): the energy is minus the
// pseudo-log-likelihood,
//   E(x) = -sum over units i of log p(x_i | all others),
// which needs no Z. So it learns by the data's side of the gradient alone, and for many data finds the same couplings.
#pragma once

#include <span>
#include <vector>

#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

struct PseudoLikelihood {
  Boltzmann& machine;

  std::span<const Layer> layers() const { return machine.layers(); }
  const Parameters& parameters() const { return machine.parameters(); }
  template <class Edit>
  void update(const Edit& edit, const Context& context) {
    machine.update(edit, context);
  }
  std::vector<double> energy(LayerStates x, const Context& context) const {
    std::vector<double> out = machine.pseudo_log_likelihood(x[0], context);
    for (double& value : out) value = -value;
    return out;
  }
  void add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                      const Context& context) const {
    machine.add_pseudo_statistics(x, row_weights, out, context);
  }
};

}  // namespace ergodic
