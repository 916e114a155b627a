// No model term: for an energy that is the negative log of a probability already, such as the pseudo-likelihood
// (model/pseudo_likelihood.hpp).
#pragma once

#include "ergodic/trainer/negative_phase.hpp"

namespace ergodic {

class Normalised : public NegativePhase {
 public:
  ModelTerm advance(const Simulator&, const Chains&, std::uint64_t, Key, const Context&) override {
    return Statistics{};
  }
};

}  // namespace ergodic
