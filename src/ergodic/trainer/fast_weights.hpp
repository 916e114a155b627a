// Persistent chains that are moved by other parameters than those that learn (Tieleman and Hinton 2009): the fast ones
// on top of these follow the same gradient at the learning rate of the start, and decay,
//   fast <- 0.95 fast + (first rate / rate) (step of the parameters).
// Where the chains have stayed too long the energy rises under them, and they leave, also late in training, when the
// parameters themselves hardly move. Without steps the fast parameters vanish, and the chains are the model's own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ergodic/trainer/persistent_chains.hpp"

namespace ergodic {

class FastWeights : public PersistentChains {
 public:
  /// The rate is that of the start.
  FastWeights(Sweeps sweeps, Chains chains, const Simulator& model, double rate);

  ModelTerm advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override;
  void follow(const Simulator& model, const UpdateStep& done, Key key, const Context& context) override;

  /// fast_norm   root of the mean squared fast parameter
  Measures measures() const override;
  std::span<float> memory() override { return fast_; }

 private:
  double rate_;
  std::unique_ptr<Twin> twin_;  // that moves the chains
  std::vector<float> fast_;
  std::vector<float> before_;  // the model's parameters before the step
};

}  // namespace ergodic
