// Block Gibbs sampling (Geman and Geman 1984): each layer in turn is drawn anew given the others. A sweep leaves the
// model's distribution where it is, and from any start comes closer to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

struct Gibbs {};

/// One sweep over all layers, the first of them first.
template <GibbsModel Model>
StepInfo step(Gibbs, const Model& model, Chains& chains, Key key, const Context& context) {
  for (std::size_t block = 0; block < Model::kLayers; ++block) {
    const Draw draw = key.at(Purpose::kGibbs, chains.sweep, static_cast<std::uint8_t>(block));
    model.resample(block, chains.layers, draw, chains.first_chain, context);
  }
  ++chains.sweep;
  return {};
}

}  // namespace ergodic
