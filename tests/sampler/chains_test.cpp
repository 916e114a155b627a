#include "ergodic/sampler/chains.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

TEST(Chains, AnIndependentStartDrawsVisibleUnitsFromTheirBiases) {
  Rbm rbm(Spin{3}, Bernoulli{2});
  rbm.update(
      [](Parameters& p) {
        p["visible_bias"][0] = -1.0f;
        p["visible_bias"][2] = 20.0f;
      },
      {});
  constexpr std::size_t kCount = 20000;
  const Chains chains = independent_start(rbm, kCount, Key{1}, {});
  const double p[] = {1 / (1 + std::exp(2.0)), 0.5, 1.0};
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t high = 0;
    for (std::size_t c = 0; c < kCount; ++c) high += chains.layers[0].bits().get(c, i);
    EXPECT_NEAR(static_cast<double>(high) / kCount, p[i], 4 * std::sqrt(p[i] * (1 - p[i]) / kCount) + 1e-12);
  }
}

TEST(Chains, AnIndependentStartOfABoltzmannMachineKnowsNoCouplings) {
  for (const Graph& graph : {dense_graph(12), grid_graph(3, 4, Border::kOpen)}) {
    Boltzmann machine(Spin{12}, graph);
    machine.update(
        [](Parameters& p) {
          std::fill(p["couplings"].begin(), p["couplings"].end(), 5.0f);
          p["bias"][0] = -1.0f;
          p["bias"][2] = 20.0f;
        },
        {});
    constexpr std::size_t kCount = 20000;
    const Chains chains = independent_start(machine, kCount, Key{1}, {});
    ASSERT_EQ(chains.layers.size(), 1u);
    ASSERT_EQ(chains.count(), kCount);
    const double p[] = {1 / (1 + std::exp(2.0)), 0.5, 1.0};
    for (std::size_t i = 0; i < 3; ++i) {
      std::size_t high = 0;
      for (std::size_t c = 0; c < kCount; ++c) high += chains.layers[0].bits().get(c, i);
      EXPECT_NEAR(static_cast<double>(high) / kCount, p[i], 4 * std::sqrt(p[i] * (1 - p[i]) / kCount) + 1e-12);
    }
  }
}

TEST(Gibbs, ASweepIsAPureFunctionOfItsCoordinates) {
  const Rbm rbm = test::random_machine(Bernoulli{70}, Bernoulli{30}, 0.3, 2);
  Chains once = independent_start(rbm, 20, Key{3}, {});
  for (int s = 0; s < 10; ++s) step(Gibbs{}, rbm, once, Key{3}, {});
  EXPECT_EQ(once.sweep, 10u);
  // The same in two halves on three threads, the second half from a copy.
  Threads threads(3);
  Chains first = independent_start(rbm, 20, Key{3}, Context{&threads});
  for (int s = 0; s < 5; ++s) step(Gibbs{}, rbm, first, Key{3}, Context{&threads});
  Chains second = first;
  for (int s = 0; s < 5; ++s) step(Gibbs{}, rbm, second, Key{3}, Context{&threads});
  EXPECT_EQ(once.layers, second.layers);
}

TEST(Gibbs, ChainsKeepTheirNumbersWhenABatchIsSplit) {
  const Rbm rbm = test::random_machine(Bernoulli{20}, Bernoulli{10}, 0.5, 4);
  Chains all = start_at(rbm, rbm.make_state(Rbm::kVisible, 8), 0, Key{5}, {});
  Chains tail = all;
  tail.first_chain = 5;
  for (State& layer : tail.layers) {
    State rows(3, layer.units(), layer.levels());
    for (std::size_t r = 0; r < 3; ++r)
      std::copy(layer.bits().row(r + 5).begin(), layer.bits().row(r + 5).end(), rows.bits().row(r).begin());
    layer = rows;
  }
  for (int s = 0; s < 4; ++s) {
    step(Gibbs{}, rbm, all, Key{5}, {});
    step(Gibbs{}, rbm, tail, Key{5}, {});
  }
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(test::index_of(all.layers[0], r + 5), test::index_of(tail.layers[0], r));
    EXPECT_EQ(test::index_of(all.layers[1], r + 5), test::index_of(tail.layers[1], r));
  }
}

}  // namespace
}  // namespace ergodic
