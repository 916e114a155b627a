// Persistent contrastive divergence (Tieleman 2008): chains that go on from update to update.
#pragma once

#include <cstddef>
#include <utility>

#include "ergodic/trainer/negative_phase.hpp"

namespace ergodic {

class PersistentChains : public NegativePhase {
 public:
  PersistentChains(std::size_t steps, Chains chains) : steps_(steps), chains_(std::move(chains)) {}

  ModelTerm advance(const Simulator& model, const Chains&, std::uint64_t, Key key, const Context& context) override {
    for (std::size_t s = 0; s < steps_; ++s) model.sweep(chains_, key, context);
    return &chains_;
  }

  Chains* chains() override { return &chains_; }

 private:
  std::size_t steps_;
  Chains chains_;
};

}  // namespace ergodic
