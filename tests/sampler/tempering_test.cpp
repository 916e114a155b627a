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

/// The mean swap rates over some sweeps.
std::vector<double> swap_rates(const Replicas<Rbm>& replicas, Chains& chains, int sweeps) {
  const Tempered<Gibbs> kernel{std::vector<Gibbs>(replicas.levels())};
  std::vector<double> out(replicas.levels() - 1);
  for (int s = 0; s < sweeps; ++s) {
    const StepInfo info = step(kernel, replicas, chains, Key{2}, {});
    for (std::size_t l = 0; l < out.size(); ++l) out[l] += info.swapped[l] / sweeps;
  }
  return out;
}

TEST(Tempering, TheLadderAdaptsUntilAllPairsSwapEquallyOften) {
  const Rbm rbm = test::random_machine(Bernoulli{20}, Bernoulli{15}, 0.6, 3);
  Chains chains = independent_start(rbm, 200, Key{1}, {});
  Replicas<Rbm> replicas(rbm, geometric_ladder(5, 0.02), {});
  Tempered<Gibbs> kernel{std::vector<Gibbs>(5)};
  const auto spread_of = [](const std::vector<double>& swapped) {
    const auto [least, most] = std::ranges::minmax(swapped);
    return most - least;
  };
  swap_rates(replicas, chains, 30);
  EXPECT_GT(spread_of(swap_rates(replicas, chains, 30)), 0.1) << "there was nothing to adapt";
  for (std::uint64_t k = 0; k < 200; ++k) {
    const StepInfo info = step(kernel, replicas, chains, Key{2}, {});
    kernel = adapted(std::move(kernel), info, k);
    replicas.adapt(info, k, {});
  }
  // A probability averaged over 200 chains has an error of at most 0.035 at one sweep, of less over 100.
  EXPECT_LT(spread_of(swap_rates(replicas, chains, 100)), 0.05);
  EXPECT_EQ(replicas.betas().front(), 1.0);
  EXPECT_NEAR(replicas.betas().back(), 0.02, 1e-15);
  EXPECT_TRUE(std::ranges::is_sorted(replicas.betas(), std::greater<>()));
}

TEST(Tempering, PairsTakeTurns) {
  // All exponents are zero: every swap is taken. States tell where they are from.
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
  const Draw draw = Key{1}.at(Purpose::kTest);
  EXPECT_EQ(swap_neighbours(Matrix<double>(3, 1), draw, 0, chains), std::vector<double>(3, 1.0));
  EXPECT_EQ(where(), (std::vector<std::size_t>{1, 0, 3, 2}));
  swap_neighbours(Matrix<double>(3, 1), draw, 1, chains);
  EXPECT_EQ(where(), (std::vector<std::size_t>{1, 3, 0, 2}));
}

TEST(Tempering, SwapsAreAcceptedByTheirRule) {
  constexpr std::size_t kChains = 20000;
  Chains chains{{State(kChains, 1, Bernoulli::kLevels), State(kChains, 1, Bernoulli::kLevels)}};
  Matrix<double> exponents(1, kChains);
  for (std::size_t r = 0; r < kChains; ++r) {
    chains.layers[1].bits().set(r, 0, true);
    exponents(0, r) = -1.2;
  }
  const double p = std::exp(-1.2);
  EXPECT_NEAR(swap_neighbours(exponents, Key{1}.at(Purpose::kTest), 0, chains)[0], p, 1e-12);
  EXPECT_NEAR(share_up(chains.layers[0]), p, 4.0 * std::sqrt(p * (1.0 - p) / kChains));
  exponents(0, 7) = std::nan("");
  EXPECT_THROW(swap_neighbours(exponents, Key{1}.at(Purpose::kTest), 0, chains), NumericError);
}

TEST(Tempering, TheSameMachinesSwapTheSameOnBothLadders) {
  const Rbm rbm = test::random_machine(Bernoulli{20}, Bernoulli{15}, 0.6, 3);
  const Replicas<Rbm> replicas(rbm, geometric_ladder(4, 0.1), {});
  const Stations<Rbm> stations({replicas.level(0), replicas.level(1), replicas.level(2), replicas.level(3)});
  Chains chains = independent_start(rbm, 50, Key{1}, {});
  step(Tempered<Gibbs>{std::vector<Gibbs>(4)}, replicas, chains, Key{2}, {});
  const Matrix<double> one = replicas.swap_exponents(chains, {}), other = stations.swap_exponents(chains, {});
  for (std::size_t k = 0; k < 3; ++k) {
    // Parameters at beta are rounded to floats, and there are 335 of them.
    for (std::size_t r = 0; r < 50; ++r) EXPECT_NEAR(one(k, r), other(k, r), 1e-4);
  }
}

TEST(Tempering, LeavesOutLevelsThatAreNotNeeded) {
  using Levels = std::vector<std::size_t>;
  EXPECT_EQ(enough_levels(std::vector<double>{0.1, 0.2, 0.05}), (Levels{0, 1, 2, 3}));
  EXPECT_EQ(enough_levels(std::vector<double>{0.9, 0.9, 0.9}), (Levels{0, 3}));
  EXPECT_EQ(enough_levels(std::vector<double>{0.5, 0.6, 0.5, 0.1}), (Levels{0, 2, 3, 4}));
  EXPECT_EQ(enough_levels(std::vector<double>{0.0}), (Levels{0, 1}));
}

TEST(Tempering, CrossesABarrierAlongStationsOfWhichSomeAreLeftOut) {
  std::vector<Rbm> machines;
  for (const float weight : {1.5f, 1.2f, 0.9f, 0.6f, 0.3f, 0.2f, 0.1f}) {
    machines.push_back(two_valleys());
    machines.back().update([&](Parameters& p) { std::ranges::fill(p["weights"], weight); }, {});
  }
  constexpr std::size_t kChains = 1000;
  Chains chains = start_at(machines[0], machines[0].make_state(Rbm::kVisible, kChains), 0, Key{1}, {});
  Stations<Rbm> stations(std::move(machines));
  Tempered<Gibbs> kernel{std::vector<Gibbs>(7)};
  step(kernel, stations, chains, Key{2}, {});
  const std::vector<std::size_t> kept{0, 1, 2, 3, 6};
  keep_levels(kept, kernel, stations, chains);
  EXPECT_EQ(stations.levels(), 5u);
  EXPECT_EQ(stations.level(4).weights()(0, 0), 0.1f);
  EXPECT_EQ(chains.layers.size(), 10u);
  for (int s = 0; s < 300; ++s) step(kernel, stations, chains, Key{2}, {});
  EXPECT_NEAR(share_up(chains.layers[0]), 0.5, 4.0 * 0.5 / std::sqrt(kChains));
}

TEST(Tempering, RefusesLaddersThatAreNone) {
  EXPECT_THROW(geometric_ladder(1, 0.1), UsageError);
  EXPECT_THROW(geometric_ladder(3, 0.0), UsageError);
  EXPECT_THROW(geometric_ladder(3, 1.0), UsageError);
}

}  // namespace
}  // namespace ergodic
