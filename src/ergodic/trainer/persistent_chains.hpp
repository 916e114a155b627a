// Persistent contrastive divergence (Tieleman 2008): chains that go on from update to update.
#pragma once

#include <cstdint>
#include <utility>

#include "ergodic/trainer/negative_phase.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

class PersistentChains : public NegativePhase {
 public:
  PersistentChains(Sweeps sweeps, Chains chains) : sweeps_(sweeps), chains_(std::move(chains)) {}

  ModelTerm advance(const Simulator& model, const Chains&, std::uint64_t update, Key key,
                    const Context& context) override {
    for (std::uint64_t s = 0; s < sweeps_.at(update); ++s) model.sweep(chains_, key, context);
    return &chains_;
  }

  Chains* chains() override { return &chains_; }

 protected:
  Sweeps sweeps_;
  Chains chains_;
};

}  // namespace ergodic
