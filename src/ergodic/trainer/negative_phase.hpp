// Negative phases: how the model's side of the gradient is found. Training methods differ only here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

class NegativePhase {
 public:
  virtual ~NegativePhase() = default;

  /// Adds -1 times the model's mean statistics to `out`, for the update whose data is `batch`.
  virtual void subtract_statistics(const Rbm& model, const State& batch, std::uint64_t update, Key key, Statistics& out,
                                   const Context& context) = 0;

  /// The chains that live on between updates, for checkpoints; null if there are none.
  virtual Chains* chains() { return nullptr; }
};

/// Contrastive divergence (Hinton 2002): `steps` sweeps from the data itself. Cheap, biased.
std::unique_ptr<NegativePhase> contrastive_divergence(std::size_t steps);

/// Persistent contrastive divergence (Tieleman 2008): chains that go on from update to update.
std::unique_ptr<NegativePhase> persistent_chains(std::size_t steps, Chains chains);

/// The exact expectation, by enumeration of the smaller layer.
std::unique_ptr<NegativePhase> exact_enumeration();

}  // namespace ergodic
