// Metropolis sampling (Metropolis, Rosenbluth, Rosenbluth, Teller and Teller 1953): propose a change of the whole
// state, accept it if the energy falls, otherwise with probability exp(E(x) - E(x')), else keep x. Any energy will do,
// and Z is not needed.
//
// A proposal must be as likely as its way back. Real units are all moved by normal noise; of others a few sites, chosen
// at random, are flipped or given another letter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// The visible layer of an RBM by itself: its energy is the free energy.
struct VisibleMarginal {
  const Rbm& machine;

  const Layer& units() const { return machine.visible(); }
  std::vector<double> energy(const State& x, const Context& context) const { return machine.free_energy(x, context); }
};

struct Metropolis {
  double noise = 0.5;         ///< deviation of the noise on each real unit
  std::size_t flips = 1;      ///< sites that a proposal changes, of two-valued units and letters: one to so many
  std::size_t proposals = 0;  ///< in a sweep; 0: the sites divided by the flips, or one for real units
  Bits fixed = {};            ///< one row with a bit for each unit that must stay as it is; empty: none
};

/// The proposals of one sampler for one layer.
class Proposer {
 public:
  /// UsageError if nothing may change, or if the mask does not fit.
  Proposer(const Metropolis& kernel, const Layer& layer);

  std::size_t proposals() const { return proposals_; }
  /// What chain first_chain + r makes of row r.
  State propose(const State& x, const Draw& draw, std::uint64_t first_chain, const Context& context) const;
  /// Puts the rows of a proposal that are accepted in place of those of x, with their energies. Returns how many.
  std::size_t decide(const State& proposed, const std::vector<double>& energies, const Draw& draw,
                     std::uint64_t first_chain, State& x, std::vector<double>& own) const;

 private:
  double noise_;
  std::size_t flips_, proposals_, letters_;
  std::vector<std::uint32_t> free_;  // units, or sites, that may change
};

/// One sweep of all chains.
template <EnergyModel Model>
StepInfo step(const Metropolis& kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  const Proposer proposer(kernel, model.units());
  State& x = chains.layers[0];
  std::vector<double> energies = model.energy(x, context);
  std::size_t accepted = 0;
  for (std::size_t k = 0; k < proposer.proposals(); ++k) {
    const Draw draw = key.at(Purpose::kMetropolis, chains.sweep * proposer.proposals() + k);
    const State proposed = proposer.propose(x, draw, chains.first_chain, context);
    accepted += proposer.decide(proposed, model.energy(proposed, context), draw, chains.first_chain, x, energies);
  }
  ++chains.sweep;
  return {static_cast<double>(accepted) / static_cast<double>(proposer.proposals() * x.chains())};
}

/// The kernel with other noise after a sweep of warm-up, the k-th, counted from 0: less if too little was accepted
/// (Robbins and Monro 1951). Not to be used on draws that count, since what adapts to its past is no Markov chain.
Metropolis adapted(Metropolis kernel, const StepInfo& info, std::uint64_t k);

}  // namespace ergodic
