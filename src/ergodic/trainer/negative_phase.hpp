// Negative phases: how the model's side of the gradient is found. Training methods differ only here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// The model's side: states that stand for its distribution, or its mean statistics themselves.
using ModelTerm = std::variant<const Chains*, Statistics>;

class NegativePhase {
 public:
  virtual ~NegativePhase() = default;

  /// The model's side for an update; `data` holds its rows, with hidden states drawn given them. Chains in the result
  /// stay valid until the next call.
  virtual ModelTerm advance(const Rbm& model, const Chains& data, std::uint64_t update, Key key,
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
