#include "ergodic/trainer/negative_phase.hpp"

#include <fmt/format.h>

#include "ergodic/sampler/tempering.hpp"

namespace ergodic {

void NegativePhase::put(LearnerState& state) {
  if (const Chains* own = chains()) state.chains = *own;
  state.phase.assign(memory().begin(), memory().end());
}

void NegativePhase::take(LearnerState& state) {
  if (state.phase.size() != memory().size()) {
    throw DataError(fmt::format("the checkpoint has {} numbers of the training method, expected {}", state.phase.size(),
                                memory().size()));
  }
  std::ranges::copy(state.phase, memory().begin());
  if (Chains* own = chains()) {
    const std::size_t layers = own->layers.size();
    *own = std::move(state.chains);
    start_levels(layers, *own);
  }
}

}  // namespace ergodic
