// The same machine at another temperature: p(x) = exp(-beta E(x)) / Z(beta).
//
// An energy is multiplied, and so are its forces. A machine with conditionals keeps them: it becomes one of the same
// kind with all parameters multiplied, the precisions of real units too, so that log gamma grows by log beta. With
// hidden units that is the joint energy E(x, v) at beta, whose visible layer is not the free energy at beta.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// An energy at beta. Holds a reference to the machine.
template <EnergyModel Model>
struct Heated {
  const Model& machine;
  double beta = 1.0;

  decltype(auto) units() const { return machine.units(); }
  std::vector<double> energy(const State& x, const Context& context) const {
    std::vector<double> out = machine.energy(x, context);
    for (double& energy : out) energy *= beta;
    return out;
  }
  Matrix<double> forces(const State& x, const Context& context) const requires SmoothModel<Model> {
    Matrix<double> out = machine.forces(x, context);
    for (double& force : out.elements()) force *= beta;
    return out;
  }
};

template <EnergyModel Model>
Heated<Model> tempered(const Model& machine, double beta, const Context&) {
  return {machine, beta};
}
Rbm tempered(const Rbm& machine, double beta, const Context& context);
Boltzmann tempered(const Boltzmann& machine, double beta, const Context& context);

/// The layers of a machine in its chains.
template <class Model>
constexpr std::size_t layers_of() {
  if constexpr (GibbsModel<Model>) {
    return Model::kLayers;
  } else {
    return 1;
  }
}

/// The energy of all layers of a machine together, for each chain.
template <EnergyModel Model>
std::vector<double> joint_energy(const Model& machine, std::span<const State> layers, const Context& context) {
  return machine.energy(layers[0], context);
}
inline std::vector<double> joint_energy(const Rbm& machine, std::span<const State> layers, const Context& context) {
  return machine.energy(layers[Rbm::kVisible], layers[Rbm::kHidden], context);
}

}  // namespace ergodic
