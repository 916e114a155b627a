// Block Gibbs sampling (Geman and Geman 1984): each layer in turn is drawn anew given the others. A sweep leaves the
// model's distribution where it is, and from any start comes closer to it.
#pragma once

#include <concepts>
#include <cstddef>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// A model of layers, each of which can be drawn given the rest.
template <class M>
concept GibbsModel = requires(const M& model, std::span<State> layers, const Draw& draw, const Context& context) {
  { M::kLayers } -> std::convertible_to<std::size_t>;
  model.resample(std::size_t{}, layers, draw, std::uint64_t{}, context);
};

struct Gibbs {};

/// One sweep over all layers, the first of them first.
template <GibbsModel Model>
void step(Gibbs, const Model& model, Chains& chains, Key key, const Context& context) {
  for (std::size_t block = 0; block < Model::kLayers; ++block) {
    const Draw draw = key.at(Purpose::kGibbs, chains.sweep, static_cast<std::uint8_t>(block));
    model.resample(block, chains.layers, draw, chains.first_chain, context);
  }
  ++chains.sweep;
}

}  // namespace ergodic
