// Chains: everything that a sampler may change, and all that a checkpoint of sampling needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/rbm.hpp"

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
  std::vector<double> swapped = {};  ///< of parallel tempering: the probability, averaged over chains, to accept the
                                     ///< swap of each level with the next
  std::vector<double> levels = {};   ///< and what each level accepted
};
inline StepInfo accepted_of(std::size_t accepted, std::size_t proposals) {
  return {static_cast<double>(accepted) / static_cast<double>(proposals)};
}

/// Chains at a far start: the visible units drawn as if there were no couplings, the hidden ones given them.
Chains far_start(const Rbm& model, std::size_t count, Key key, const Context& context, std::uint64_t first_chain = 0);
/// The same for a machine of one layer.
Chains far_start(const Boltzmann& model, std::size_t count, Key key, const Context& context,
                 std::uint64_t first_chain = 0);

/// Chains at given visible states, the hidden units drawn given them with the numbers of `sweep`.
Chains start_at(const Rbm& model, State visible, std::uint64_t sweep, Key key, const Context& context,
                std::uint64_t first_chain = 0);

}  // namespace ergodic
