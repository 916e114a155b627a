// A model at another temperature: p(x) = exp(-beta E(x)) / Z(beta).
//
// Any energy can be multiplied by beta, and so can its forces. A model with conditionals keeps them if it offers
// at_temperature(beta, context): a model of its own kind with all parameters multiplied, and log precisions of real
// units raised by log beta. With hidden units that is the joint energy E(x, v) at beta, whose visible layer is not the
// free energy at beta.
#pragma once

#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/model/concepts.hpp"

namespace ergodic {

/// An energy times beta. Holds a reference to the model.
template <EnergyModel Model>
struct Heated {
  const Model& model;
  double beta = 1.0;

  decltype(auto) layers() const { return model.layers(); }
  std::vector<double> energy(LayerStates x, const Context& context) const {
    std::vector<double> out = model.energy(x, context);
    for (double& energy : out) energy *= beta;
    return out;
  }
  Matrix<double> forces(const State& x, const Context& context) const requires SmoothModel<Model> {
    Matrix<double> out = model.forces(x, context);
    for (double& force : out.elements()) force *= beta;
    return out;
  }
};

template <EnergyModel Model>
auto at_temperature(const Model& model, double beta, const Context& context) {
  if constexpr (requires { model.at_temperature(beta, context); }) {
    return model.at_temperature(beta, context);
  } else {
    return Heated<Model>{model, beta};
  }
}

}  // namespace ergodic
