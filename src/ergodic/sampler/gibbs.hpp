// Block Gibbs sampling (Geman and Geman 1984): each layer in turn is drawn anew given the others. A sweep leaves the
// model's distribution where it is, and from any start comes closer to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

struct Gibbs {
  /// A bit for each visible unit that must stay as it is: one row for all chains, or a row for each; empty: none.
  Bits fixed = {};
};

/// One sweep over all layers, the first of them first.
template <GibbsModel Model>
StepInfo step(const Gibbs& kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  const std::size_t blocks = model.layers().size();
  for (std::size_t block = 0; block < blocks; ++block) {
    const Draw draw = key.at(Purpose::kGibbs, chains.sweep, static_cast<std::uint8_t>(block));
    if (kernel.fixed.rows() == 0) {
      model.resample(block, chains.layers, draw, chains.first_chain, context);
    } else if constexpr (requires { model.resample_given(kernel.fixed, block, chains.layers, draw, 0, context); }) {
      model.resample_given(kernel.fixed, block, chains.layers, draw, chains.first_chain, context);
    } else {
      throw UsageError("this machine cannot keep some of its units as they are");
    }
  }
  ++chains.sweep;
  return {};
}

/// There is nothing to adapt.
inline Gibbs adapted(Gibbs kernel, const StepInfo&, std::uint64_t) { return kernel; }

}  // namespace ergodic
