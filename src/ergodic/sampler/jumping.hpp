// Jumps between places that no path of likely states connects, for energies with a bowl, E(x) = B(x) + g(x) with
// exp(-B) a normal density: a jump proposes a draw of the bowl, wherever the chain is, and is accepted by Metropolis'
// and Hastings' rule with probability min(1, exp(g(x) - g(x'))) (the independence sampler of Tierney 1994). In a few
// dimensions many are accepted, and the chain forgets where it was. In many dimensions none is, and nothing is lost but
// the time: what else moves the chain is right by itself.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/neural.hpp"
#include "ergodic/sampler/acceptance.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// Energies with a bowl, and the bowl's own energy B.
template <class M>
concept BowlModel = EnergyModel<M> && requires(const M& model, const State& x, const Context& context) {
  { model.bowl() } -> std::convertible_to<const Bowl&>;
  { model.bowl_energy(x, context) } -> std::convertible_to<std::vector<double>>;
};

/// A jump of all chains, then a sweep of the inner sampler. What was accepted is the inner sampler's. Units that are
/// fixed in it stay in both: those of a bowl are independent, so that a draw of the others is one given these.
template <class Inner>
struct Jumping {
  Inner inner;
};

template <BowlModel Model, class Inner>
StepInfo step(const Jumping<Inner>& kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  static_assert(kFirstBowlNumber == kFirstProposalNumber);
  const Draw draw = key.at(Purpose::kJump, chains.sweep);
  State& x = chains.layers[0];
  Proposal proposal{draw_of(model.bowl(), x.chains(), draw, chains.first_chain), {}};
  if (kernel.inner.fixed.rows() > 0) {
    for_each_set(kernel.inner.fixed.row(0), [&](std::size_t unit) {
      for (std::size_t r = 0; r < x.chains(); ++r) proposal.x.reals()(r, unit) = x.reals()(r, unit);
    });
  }
  std::vector<double> energies = model.energy(x, context);
  proposal.energies = model.energy(proposal.x, context);
  proposal.log_odds = model.bowl_energy(proposal.x, context);  // q(x) / q(x') = exp(B(x') - B(x))
  const std::vector<double> here = model.bowl_energy(x, context);
  for (std::size_t r = 0; r < here.size(); ++r) proposal.log_odds[r] -= here[r];
  accept(proposal, draw, chains.first_chain, x, energies);
  if constexpr (requires { adjusted_step(kernel.inner, model, chains, energies, key, context); }) {
    if (kernel.inner.adjusted) return adjusted_step(kernel.inner, model, chains, std::move(energies), key, context);
  }
  return step(kernel.inner, model, chains, key, context);
}

template <class Inner>
Jumping<Inner> adapted(Jumping<Inner> kernel, const StepInfo& info, std::uint64_t k) {
  return {adapted(std::move(kernel.inner), info, k)};
}

}  // namespace ergodic
