// Metropolis sampling (Metropolis, Rosenbluth, Rosenbluth, Teller and Teller 1953): propose a change of the whole
// state, accept it if the energy falls, otherwise with probability exp(E(x) - E(x')), else keep x. Any energy will do,
// and Z is not needed.
//
// A proposal must be as likely as its way back. Real units are all moved by normal noise, and reflected at 0 if they
// are relu; of others a few sites, chosen at random, are flipped or given another letter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/sampler/acceptance.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

struct Metropolis {
  double noise = 0.5;               ///< deviation of the noise on each real unit
  std::size_t flips = 1;            ///< sites that a proposal changes, of two-valued units and letters: one to so many
  std::size_t proposals = 0;        ///< in a sweep; 0: the sites divided by the flips, or one for real units
  Bits fixed = {};                  ///< one row with a bit for each unit that must stay as it is; empty: none
  std::vector<double> scales = {};  ///< what the noise on each real unit is multiplied by; empty: 1
};

/// The proposals of one sampler for one layer.
class Proposer {
 public:
  /// UsageError if nothing may change, or if the mask does not fit.
  Proposer(const Metropolis& kernel, const Layer& layer);

  std::size_t proposals() const { return proposals_; }
  /// What chain first_chain + r makes of row r.
  State propose(const State& x, const Draw& draw, std::uint64_t first_chain, const Context& context) const;

 private:
  double noise_;
  std::vector<double> scales_;
  std::size_t flips_, proposals_;
  bool positive_;           // values below 0 are reflected
  std::vector<Site> free_;  // that may change
};

/// One sweep of all chains.
template <EnergyModel Model>
StepInfo step(const Metropolis& kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  const Proposer proposer(kernel, first_layer(model));
  State& x = chains.layers[0];
  std::vector<double> energies = model.energy(x, context);
  std::size_t accepted = 0;
  for (std::size_t k = 0; k < proposer.proposals(); ++k) {
    const Draw draw = key.at(Purpose::kMetropolis, chains.sweep * proposer.proposals() + k);
    Proposal proposal{proposer.propose(x, draw, chains.first_chain, context), {}};
    proposal.energies = model.energy(proposal.x, context);
    accepted += accept(proposal, draw, chains.first_chain, x, energies);
  }
  ++chains.sweep;
  return accepted_of(accepted, proposer.proposals() * x.chains());
}

/// The kernel with other noise after a sweep of warm-up, as adapted_step has it.
Metropolis adapted(Metropolis kernel, const StepInfo& info, std::uint64_t k);

}  // namespace ergodic
