// What a machine can offer, and so which functions take it: a sampler or a trainer asks for the weakest of these that
// it needs. A type of anybody's own that has the members is a machine like ours.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

/// One layer of units with an energy E(x) for each row of a state: p(x) = exp(-E(x))/Z. The first layer of its chains
/// is its state. Enough for Metropolis sampling.
template <class M>
concept EnergyModel = requires(const M& model, const State& x, const Context& context) {
  { model.units() } -> std::convertible_to<Layer>;
  { model.energy(x, context) } -> std::convertible_to<std::vector<double>>;
};

/// Real units, and the forces -dE/dx on them, a row for each row of x. Enough for Langevin and Hamiltonian sampling.
template <class M>
concept SmoothModel = EnergyModel<M> && requires(const M& model, const State& x, const Context& context) {
  { model.forces(x, context) } -> std::convertible_to<Matrix<double>>;
};

/// A model of layers, each of which can be drawn given the rest. Row r draws the numbers of chain first_chain + r.
template <class M>
concept GibbsModel = requires(const M& model, std::span<State> layers, const Draw& draw, const Context& context) {
  { M::kLayers } -> std::convertible_to<std::size_t>;
  model.resample(std::size_t{}, layers, draw, std::uint64_t{}, context);
};

/// An energy with parameters.
template <class M>
concept ParametricModel = EnergyModel<M> &&
    requires(M& model, const M& constant, void (*edit)(Parameters&), const Context& context) {
  { constant.parameters() } -> std::convertible_to<const Parameters&>;
  model.update(edit, context);
};

/// The same with the derivatives by them: adds row_weight * -dE/dtheta over the rows, with one row weight or one for
/// each row. Enough for training, together with a sampler. differences.hpp has them for any energy.
template <class M>
concept TrainableModel = ParametricModel<M> &&
    requires(const M& model, const State& x, std::span<const double> row_weights, Statistics& out,
             const Context& context) {
  model.add_statistics(x, row_weights, out, context);
};

}  // namespace ergodic
