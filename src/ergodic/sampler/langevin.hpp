// Langevin sampling of real units: a small step along the forces f = -dE/dx, and noise,
//   x' = x + s^2/2 f(x) + s z,   z normal.
// Unadjusted, every step is taken, and the distribution is wrong by O(s^2): a normal unit of variance v gets the
// variance v / (1 - s^2 / (4 v)) (Roberts and Tweedie 1996; Parisi 1981). Adjusted (MALA: Besag 1994), a step is
// accepted or not by Metropolis' and Hastings' rule, since x' from x is not as likely as x from x', and nothing is
// wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/acceptance.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

struct Langevin {
  double step = 0.1;     ///< s, the deviation of the noise on each unit
  bool adjusted = true;  ///< whether steps are accepted or not; otherwise all are taken
  Bits fixed = {};       ///< one row with a bit for each unit that must stay as it is; empty: none
};

/// The steps of one sampler for one layer.
class LangevinProposer {
 public:
  /// UsageError unless the units are gaussian, some may change, and the step is positive.
  LangevinProposer(const Langevin& kernel, const Layer& layer);

  /// What chain first_chain + r makes of row r. A row that would leave the numbers stays, and is counted by `lost`.
  State propose(const State& x, const Matrix<double>& forces, const Draw& draw, std::uint64_t first_chain,
                const Context& context);
  /// log q(x | x') / q(x' | x) of each chain; minus infinity for rows that were lost.
  std::vector<double> log_odds(const State& x, const Matrix<double>& forces, const State& proposed,
                               const Matrix<double>& forces_there) const;
  /// NumericError if rows were lost, for the sampler that takes every step.
  void require_none_lost() const;

 private:
  double step_;
  std::vector<std::uint32_t> free_;
  std::vector<char> lost_;  // by row
};

/// One adjusted step of all chains, whose energies are known.
template <SmoothModel Model>
StepInfo adjusted_step(const Langevin& kernel, const Model& model, Chains& chains, std::vector<double> energies,
                       Key key, const Context& context) {
  LangevinProposer proposer(kernel, first_layer(model));
  const Draw draw = key.at(Purpose::kLangevin, chains.sweep++);
  State& x = chains.layers[0];
  const Matrix<double> forces = model.forces(x, context);
  Proposal proposal{proposer.propose(x, forces, draw, chains.first_chain, context), {}};
  proposal.energies = model.energy(proposal.x, context);
  proposal.log_odds = proposer.log_odds(x, forces, proposal.x, model.forces(proposal.x, context));
  return accepted_of(accept(proposal, draw, chains.first_chain, x, energies), x.chains());
}

/// One step of all chains.
template <SmoothModel Model>
StepInfo step(const Langevin& kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  State& x = chains.layers[0];
  if (kernel.adjusted) return adjusted_step(kernel, model, chains, model.energy(x, context), key, context);
  LangevinProposer proposer(kernel, first_layer(model));
  const Draw draw = key.at(Purpose::kLangevin, chains.sweep++);
  State proposed = proposer.propose(x, model.forces(x, context), draw, chains.first_chain, context);
  proposer.require_none_lost();
  x = std::move(proposed);
  return {};
}

/// The kernel with another step after a sweep of warm-up, as adapted_step has it: 0.57 of the steps are to be accepted
/// (Roberts and Rosenthal 1998). Unadjusted, it stays.
Langevin adapted(Langevin kernel, const StepInfo& info, std::uint64_t k);

}  // namespace ergodic
