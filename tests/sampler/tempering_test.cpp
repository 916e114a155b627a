#include "ergodic/sampler/tempering.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/sampler/metropolis.hpp"

namespace ergodic {
namespace {

/// Visible units that are all on or all off, with a barrier between that Gibbs sampling hardly ever crosses: a hidden
/// unit v = +-1 with field 3 to each of ten spins. By symmetry both valleys weigh the same.
Rbm two_valleys() {
  Rbm out(Spin{10}, Spin{1});
  out.update([](Parameters& p) { std::ranges::fill(p["weights"], 1.5f); }, {});
  return out;
}

double share_up(const State& x) {
  double up = 0.0;
  for (std::size_t r = 0; r < x.chains(); ++r) up += x.bits().get(r, 0) ? 1.0 : 0.0;
  return up / static_cast<double>(x.chains());
}

TEST(Tempering, CrossesABarrierThatGibbsDoesNot) {
  const Rbm rbm = two_valleys();
  constexpr std::size_t kChains = 1000;
  Chains alone = start_at(rbm, rbm.make_state(Rbm::kVisible, kChains), 0, Key{1}, {});
  Chains chains = alone;
  Replicas<Rbm> replicas(rbm, geometric_ladder(6, 0.05), {});
  Tempered<Gibbs> kernel{std::vector<Gibbs>(6)};
  for (int s = 0; s < 300; ++s) step(Gibbs{}, rbm, alone, Key{2}, {});
  for (int s = 0; s < 300; ++s) step(kernel, replicas, chains, Key{2}, {});
  EXPECT_LT(share_up(alone.layers[0]), 0.1);
  EXPECT_NEAR(share_up(chains.layers[0]), 0.5, 4.0 * 0.5 / std::sqrt(kChains));
}

TEST(Tempering, TheLadderAdaptsUntilAllPairsSwapEquallyOften) {
  const Rbm rbm = test::random_machine(Bernoulli{30}, Bernoulli{20}, 0.6, 3);
  Chains chains = far_start(rbm, 400, Key{1}, {});
  Replicas<Rbm> replicas(rbm, geometric_ladder(6, 0.02), {});
  Tempered<Gibbs> kernel{std::vector<Gibbs>(6)};
  const auto spread_of = [](const std::vector<double>& swapped) {
    const auto [least, most] = std::ranges::minmax(swapped);
    return most - least;
  };
  double before = 0.0;
  for (std::uint64_t k = 0; k < 300; ++k) {
    const StepInfo info = step(kernel, replicas, chains, Key{2}, {});
    if (k == 20) before = spread_of(info.swapped);
    kernel = adapted(std::move(kernel), info, k);
    replicas.adapt(info, k, {});
  }
  std::vector<double> swapped(5);
  for (int k = 0; k < 50; ++k) {
    const StepInfo info = step(kernel, replicas, chains, Key{2}, {});
    for (std::size_t l = 0; l < 5; ++l) swapped[l] += info.swapped[l] / 50;
  }
  // A swap rate near 1/2 of 400 chains has an error of 0.025, averaged over 50 sweeps less; gains end at 1/17.
  EXPECT_LT(spread_of(swapped), 0.05);
  EXPECT_GT(before, 0.1) << "there was nothing to adapt";
  EXPECT_EQ(replicas.betas().front(), 1.0);
  EXPECT_NEAR(replicas.betas().back(), 0.02, 1e-15);
  EXPECT_TRUE(std::ranges::is_sorted(replicas.betas(), std::greater<>()));
}

TEST(Tempering, PairsTakeTurns) {
  // All energies the same: every swap is taken. States tell where they are from.
  Chains chains;
  for (std::size_t k = 0; k < 4; ++k) {
    chains.layers.push_back(State(1, 4, Bernoulli::kLevels));
    chains.layers[k].bits().set(0, k, true);
  }
  const auto where = [&] {
    std::vector<std::size_t> out;
    for (const State& level : chains.layers)
      out.push_back(static_cast<std::size_t>(std::countr_zero(level.bits().row(0)[0])));
    return out;
  };
  const double betas[] = {1.0, 0.5, 0.3, 0.1};
  const Draw draw = Key{1}.at(Purpose::kTest);
  EXPECT_EQ(swap_neighbours(betas, Matrix<double>(4, 1), draw, 0, chains), std::vector<double>(3, 1.0));
  EXPECT_EQ(where(), (std::vector<std::size_t>{1, 0, 3, 2}));
  swap_neighbours(betas, Matrix<double>(4, 1), draw, 1, chains);
  EXPECT_EQ(where(), (std::vector<std::size_t>{1, 3, 0, 2}));
}

TEST(Tempering, SwapsAreAcceptedByTheirRule) {
  constexpr std::size_t kChains = 20000;
  Chains chains{{State(kChains, 1, Bernoulli::kLevels), State(kChains, 1, Bernoulli::kLevels)}};
  Matrix<double> energies(2, kChains);
  for (std::size_t r = 0; r < kChains; ++r) {
    chains.layers[1].bits().set(r, 0, true);
    energies(0, r) = 1.0;
    energies(1, r) = 3.0;
  }
  const double betas[] = {1.0, 0.4}, p = std::exp(-0.6 * 2.0);
  EXPECT_NEAR(swap_neighbours(betas, energies, Key{1}.at(Purpose::kTest), 0, chains)[0], p, 1e-12);
  EXPECT_NEAR(share_up(chains.layers[0]), p, 4.0 * std::sqrt(p * (1.0 - p) / kChains));
}

TEST(Tempering, RefusesLaddersThatAreNone) {
  EXPECT_THROW(geometric_ladder(1, 0.1), UsageError);
  EXPECT_THROW(geometric_ladder(3, 0.0), UsageError);
  EXPECT_THROW(geometric_ladder(3, 1.0), UsageError);
}

}  // namespace
}  // namespace ergodic
