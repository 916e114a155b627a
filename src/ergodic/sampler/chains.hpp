// Chains: everything that a sampler may change, and all that a checkpoint of sampling needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/uncoupled.hpp"

namespace ergodic {

struct Chains {
  std::vector<State> layers;      ///< one state for each layer of the model, a row for each chain
  std::uint64_t sweep = 0;        ///< sweeps done so far; names the random numbers of the next
  std::uint64_t first_chain = 0;  ///< global index of row 0

  std::size_t count() const { return layers.empty() ? 0 : layers[0].chains(); }
};

/// What a sweep was like.
struct StepInfo {
  double accepted = 1.0;             ///< share of all proposals of all chains
  std::vector<double> swapped = {};  ///< by parallel tempering, the probability, averaged over chains, to accept the
                                     ///< swap of each level with the next
  std::vector<double> levels = {};   ///< and what each level accepted
};
inline StepInfo accepted_of(std::size_t accepted, std::size_t proposals) {
  return {static_cast<double>(accepted) / static_cast<double>(proposals)};
}

/// Chains at given states of the first layer; further layers are drawn given it, each with the numbers of `sweep`.
template <EnergyModel Model>
Chains start_at(const Model& model, State first, std::uint64_t sweep, Key key, const Context& context,
                std::uint64_t first_chain = 0) {
  Chains chains{{}, sweep, first_chain};
  const auto& layers = model.layers();
  const std::size_t count = first.chains();
  chains.layers.push_back(std::move(first));
  for (std::size_t block = 1; block < layers.size(); ++block) {
    chains.layers.push_back(make_state(layers[block], count));
  }
  if constexpr (GibbsModel<Model>) {
    for (std::size_t block = 1; block < layers.size(); ++block) {
      const Draw draw = key.at(Purpose::kInitialChains, sweep, static_cast<std::uint8_t>(block));
      model.resample(block, chains.layers, draw, first_chain, context);
    }
  }
  return chains;
}

/// Chains that know nothing of data: the first layer is drawn as if there were no couplings, or without any fields if
/// the model cannot do that; further layers given it.
template <EnergyModel Model>
Chains independent_start(const Model& model, std::size_t count, Key key, const Context& context,
                         std::uint64_t first_chain = 0) {
  const Draw draw = key.at(Purpose::kInitialChains);
  if constexpr (requires { model.draw_uncoupled(count, draw, first_chain); }) {
    return start_at(model, model.draw_uncoupled(count, draw, first_chain), 0, key, context, first_chain);
  } else {
    const Layer layer = first_layer(model);
    const std::vector<float> zeros(units_of(layer));
    const std::vector<double> ones(real_valued(layer) ? units_of(layer) : 0, 1.0);
    const Precision precision = real_valued(layer) ? Precision{zeros, ones} : Precision{};
    State first = draw_uncoupled(layer, zeros, precision, count, draw, first_chain);
    return start_at(model, std::move(first), 0, key, context, first_chain);
  }
}

/// Chains with these visible units. Hidden units that share their layer are drawn as if there were no couplings; those
/// of further layers are drawn given the first.
template <EnergyModel Model>
Chains start_at_visible(const Model& model, State visible, Key key, const Context& context) {
  if (visible.units() == units_of(first_layer(model))) return start_at(model, std::move(visible), 0, key, context);
  Chains out = independent_start(model, visible.chains(), key, context);
  for (std::size_t r = 0; r < visible.chains(); ++r) {
    for (std::size_t i = 0; i < visible.units(); ++i) out.layers[0].bits().set(r, i, visible.bits().get(r, i));
  }
  return out;
}

}  // namespace ergodic
