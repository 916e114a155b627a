// Hamiltonian sampling of real units (Duane, Kennedy, Pendleton and Roweth 1987; Neal 2011): each chain is given normal
// momenta p and moves along H(x, p) = E(x) + p^2/2 by leapfrog steps,
//   p += s/2 f(x),   x += s p,   p += s/2 f(x),   f = -dE/dx,
// which keep volume and can be walked back. The end is accepted with probability min(1, exp(H - H')): H changes by
// O(s^2) only, however far the way.
//
// The step of each sweep and chain is random within a tenth, so that no orbit closes after the same number of steps.
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

struct Hmc {
  double step = 0.1;           ///< s
  std::size_t leapfrogs = 10;  ///< steps before an end is accepted or not
  Bits fixed = {};             ///< one row with a bit for each unit that must stay as it is; empty: none
};

/// Chains on their way: positions and momenta.
class LeapfrogPath {
 public:
  /// Momenta drawn for chain first_chain + r. UsageError unless the units are gaussian, some may change, and there is a
  /// step.
  LeapfrogPath(const Hmc& kernel, const Layer& layer, State x, const Draw& draw, std::uint64_t first_chain);

  const State& x() const { return x_; }
  State& x() { return x_; }
  /// p^2/2 of each chain.
  std::vector<double> kinetic_energies() const;
  /// p += share * s f.
  void kick(double share, const Matrix<double>& forces);
  /// x += s p. A row that would leave the numbers stays where it is, and is lost.
  void drift(const Context& context);
  bool lost(std::size_t row) const { return lost_[row] != 0; }

 private:
  State x_;
  std::vector<std::uint32_t> free_;
  Matrix<double> momenta_;     // [chains, free units]
  std::vector<double> steps_;  // by row
  std::vector<char> lost_;
};

/// Leapfrog steps, given the forces where the trajectory is.
template <SmoothModel Model>
void move(LeapfrogPath& trajectory, std::size_t leapfrogs, const Model& model, const Context& context) {
  trajectory.kick(0.5, model.forces(trajectory.x(), context));
  for (std::size_t k = 0; k < leapfrogs; ++k) {
    trajectory.drift(context);
    trajectory.kick(k + 1 < leapfrogs ? 1.0 : 0.5, model.forces(trajectory.x(), context));
  }
}

/// log exp(K - K') of each chain; minus infinity for those that were lost.
std::vector<double> kinetic_log_odds(const std::vector<double>& before, const LeapfrogPath& after);

/// One trajectory of all chains.
template <SmoothModel Model>
StepInfo step(const Hmc& kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  const Draw draw = key.at(Purpose::kHamiltonian, chains.sweep);
  State& x = chains.layers[0];
  LeapfrogPath trajectory(kernel, first_layer(model), x, draw, chains.first_chain);
  const std::vector<double> kinetic = trajectory.kinetic_energies();
  move(trajectory, kernel.leapfrogs, model, context);
  std::vector<double> energies = model.energy(x, context);
  Proposal proposal{std::move(trajectory.x()), {}, kinetic_log_odds(kinetic, trajectory)};
  proposal.energies = model.energy(proposal.x, context);
  ++chains.sweep;
  return accepted_of(accept(proposal, draw, chains.first_chain, x, energies), x.chains());
}

/// The kernel with another step after a sweep of warm-up, as adapted_step has it: 0.8 of the ends are to be accepted,
/// between the 0.65 that is best in many dimensions (Beskos and others 2013) and safety.
Hmc adapted(Hmc kernel, const StepInfo& info, std::uint64_t k);

}  // namespace ergodic
