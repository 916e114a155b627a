// Contrastive divergence (Hinton 2002): chains that start at the data in each update.
#pragma once

#include <cstddef>

#include "ergodic/trainer/negative_phase.hpp"

namespace ergodic {

class ContrastiveDivergence : public NegativePhase {
 public:
  explicit ContrastiveDivergence(std::size_t steps) : steps_(steps) {}

  ModelTerm advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override;

 private:
  std::size_t steps_;
  Chains chains_;
};

}  // namespace ergodic
