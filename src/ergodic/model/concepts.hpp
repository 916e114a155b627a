// What a model can offer, and so which functions take it: a sampler or a trainer asks for the weakest of these concepts
// that it needs. Any type that has the members is a model like ours.
//
// A model has one or more layers of units, known at run time, and a joint energy of all of them. The first layer holds
// the visible units; those of a Boltzmann machine on a graph are followed by its hidden ones in the same layer.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

/// A state of each layer of a model, all with the same chains. A view: one state alone is that of the only layer.
class LayerStates {
 public:
  LayerStates(const State& only) : states_(&only, 1) {}
  LayerStates(std::span<const State> states) : states_(states) {}
  LayerStates(const std::vector<State>& states) : states_(states) {}

  std::size_t size() const { return states_.size(); }
  const State& operator[](std::size_t layer) const { return states_[layer]; }
  std::size_t chains() const { return states_[0].chains(); }

 private:
  std::span<const State> states_;
};

/// Layers of units with an energy E for each chain: p = exp(-E)/Z. Enough for Metropolis sampling.
template <class M>
concept EnergyModel = requires(const M& model, LayerStates x, const Context& context) {
  { model.layers() } -> std::ranges::random_access_range;
  { model.layers()[0] } -> std::convertible_to<const Layer&>;
  { model.energy(x, context) } -> std::convertible_to<std::vector<double>>;
};

/// One real layer, and the forces -dE/dx on it, a row for each row of x. Enough for Langevin and Hamiltonian sampling.
template <class M>
concept SmoothModel = EnergyModel<M> && requires(const M& model, const State& x, const Context& context) {
  { model.forces(x, context) } -> std::convertible_to<Matrix<double>>;
};

/// Each layer can be drawn given the others. Row r draws the random numbers of chain first_chain + r.
template <class M>
concept GibbsModel = EnergyModel<M> &&
    requires(const M& model, std::span<State> layers, const Draw& draw, const Context& context) {
  model.resample(std::size_t{}, layers, draw, std::uint64_t{}, context);
};

/// The hidden units can be summed over: F(x) = -log sum over v of exp(-E(x, v)) of visible states.
template <class M>
concept MarginalModel = EnergyModel<M> && requires(const M& model, const State& visible, const Context& context) {
  { model.free_energy(visible, context) } -> std::convertible_to<std::vector<double>>;
};

/// An energy with parameters.
template <class M>
concept ParametricModel = EnergyModel<M> &&
    requires(M& model, const M& constant, void (*edit)(Parameters&), const Context& context) {
  { constant.parameters() } -> std::convertible_to<const Parameters&>;
  model.update(edit, context);
};

/// A parametric energy with derivatives: add_statistics adds row_weight * -dE/dtheta over the rows, with one row weight
/// for all or one for each row. Enough for training, together with a sampler. differences.hpp has the derivatives of
/// any energy.
template <class M>
concept TrainableModel = ParametricModel<M> &&
    requires(const M& model, const State& x, std::span<const double> row_weights, Statistics& out,
             const Context& context) {
  model.add_statistics(x, row_weights, out, context);
};

// ---- Questions that every model answers, by what it offers ----

/// The layer that samplers of an energy work on.
template <EnergyModel M>
Layer first_layer(const M& model) {
  return model.layers()[0];
}

/// The units that data sets.
template <EnergyModel M>
Layer visible_layer(const M& model) {
  if constexpr (requires { model.visible_layer(); }) {
    return model.visible_layer();
  } else {
    return first_layer(model);
  }
}

/// The visible units of states of the first layer.
template <EnergyModel M>
State visible_part(const M& model, const State& first) {
  if constexpr (requires { model.visible_part(first); }) {
    return model.visible_part(first);
  } else {
    return first;
  }
}

/// How likely a model finds the states of each chain: F of the visible layer if hidden ones can be summed over, else
/// the joint energy.
template <EnergyModel M>
std::vector<double> marginal_energy(const M& model, LayerStates x, const Context& context) {
  if constexpr (MarginalModel<M>) {
    return model.free_energy(x[0], context);
  } else {
    return model.energy(x, context);
  }
}

}  // namespace ergodic
