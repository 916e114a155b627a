#include "ergodic/sampler/simulated_annealing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "boltzmann_machines.hpp"
#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/sampler/langevin.hpp"
#include "ergodic/sampler/metropolis.hpp"

namespace ergodic {
namespace {

/// Spins on an open 4 x 4 grid with couplings +-1 at random (Edwards and Anderson 1975).
Boltzmann spin_glass(std::uint64_t seed) {
  Boltzmann out(Spin{16}, grid_graph(4, 4, Border::kOpen));
  const Draw draw = Key{seed}.at(Purpose::kTest);
  out.update(
      [&](Parameters& p) {
        for (std::uint32_t e = 0; e < p["couplings"].size(); ++e) {
          p["couplings"][e] = draw.below(2, 0, e) == 0 ? -1.0f : 1.0f;
        }
      },
      {});
  return out;
}

template <class Inner>
void expect_ground_states() {
  const State all = test::all_states(Spin{16});
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Boltzmann glass = spin_glass(seed);
    const double ground = std::ranges::min(glass.energy(all, {}));
    Chains chains = independent_start(glass, 100, Key{seed}, {});
    const Lowest lowest = anneal(Annealed<Inner>{{}, 300}, glass, chains, Key{seed}, {});
    // In 300 sweeps hardly a chain of 16 spins misses; nine of ten is asked for.
    EXPECT_GE(std::ranges::count(lowest.energies, ground), 90) << seed;
    EXPECT_GE(std::ranges::min(lowest.energies), ground);
    EXPECT_EQ(glass.energy(lowest.layers[0], {}), lowest.energies);
  }
}

TEST(SimulatedAnnealing, FindsGroundStatesOfSpinGlassesByGibbs) { expect_ground_states<Gibbs>(); }
TEST(SimulatedAnnealing, FindsGroundStatesOfSpinGlassesByMetropolis) { expect_ground_states<Metropolis>(); }

TEST(SimulatedAnnealing, FindsTheMinimumOfASmoothEnergy) {
  Rbm rbm(Gaussian{3}, Bernoulli{1});
  rbm.update([](Parameters& p) { std::ranges::fill(p["visible_bias"], 2.0f); }, {});
  const VisibleMarginal marginal{rbm};  // normal around 2
  Chains chains{{State(Matrix<float>(50, 3))}};
  const Lowest lowest = anneal(Annealed<Langevin>{{}, 500, 0.1, 1e4}, marginal, chains, Key{1}, {});
  for (const float value : lowest.layers[0].reals().elements()) EXPECT_NEAR(value, 2.0f, 0.1f);  // ten deviations
}

TEST(SimulatedAnnealing, CoolsFromTheFirstTemperatureToTheLast) {
  const Annealed<Gibbs> kernel{{}, 11, 0.1, 10.0};
  EXPECT_DOUBLE_EQ(kernel.beta(0), 0.1);
  EXPECT_NEAR(kernel.beta(5), 1.0, 1e-12);
  EXPECT_NEAR(kernel.beta(10), 10.0, 1e-11);
}

}  // namespace
}  // namespace ergodic
