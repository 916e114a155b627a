// Persistent chains that die or multiply by the weight that each step gives them (Carbone, Hua, Coste and
// Vanden-Eijnden 2023). So they stand for the model also where it has modes between which no sweep leads.
#pragma once

#include <vector>

#include "ergodic/trainer/persistent_chains.hpp"

namespace ergodic {

class PopulationChains : public PersistentChains {
 public:
  using PersistentChains::PersistentChains;

  ModelTerm advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override;
  void follow(const Simulator& model, const UpdateStep& done, Key key, const Context& context) override;

  /// effective_share   of the chains, as the last step weighed them; far below 1 it was too large to be followed
  Measures measures() const override { return {{"effective_share", effective_share_}}; }

 private:
  std::vector<double> energies_;  // before the step
  double effective_share_ = 1.0;
};

}  // namespace ergodic
