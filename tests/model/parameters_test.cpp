#include "ergodic/model/parameters.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

TEST(Derived, IsMadeOnceByWhoeverAsksFirst) {
  const Derived<int> derived;
  std::atomic<int> calls = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] { EXPECT_EQ(derived.value([&] { return ++calls; }), 1); });
  }
  threads.clear();
  EXPECT_EQ(calls, 1);
}

TEST(Derived, CopiesHaveWhatWasMadeUntilItIsForgotten) {
  const auto two = [] { return 2; };
  Derived<int> made, empty;
  made.value([] { return 1; }) += 10;
  Derived<int> copy = made, copy_of_empty = empty;
  EXPECT_EQ(copy.value(two), 11);
  EXPECT_EQ(copy_of_empty.value(two), 2);
  made.value(two) = 5;
  EXPECT_EQ(copy.value(two), 11);
  Derived<int> moved = std::move(made);
  EXPECT_EQ(moved.value(two), 5);
  moved = empty;
  EXPECT_EQ(moved.value(two), 2);
  copy.forget();
  EXPECT_EQ(copy.value(two), 2);
}

/// Chains of a machine after a few sweeps.
template <class Model>
std::vector<State> swept(const Model& model) {
  Chains chains = independent_start(model, 40, Key{3}, {});
  for (int s = 0; s < 3; ++s) step(Gibbs{}, model, chains, Key{4}, {});
  return chains.layers;
}

/// A machine whose parameters were set without more draws as one that was updated, whatever it was before.
template <class Model>
void expect_alike(const Model& updated, Model other) {
  const auto copy = [&](Parameters& p) { p = updated.parameters(); };
  const Model before = other;
  other.set(copy);
  EXPECT_EQ(swept(Model(other)), swept(updated));  // a copy of a machine of which nothing was derived yet
  EXPECT_EQ(swept(other), swept(updated));
  EXPECT_EQ(swept(Model(other)), swept(updated));
  other.set([&](Parameters& p) { p = before.parameters(); });
  EXPECT_EQ(swept(other), swept(before));
  other.update(copy, {});
  EXPECT_EQ(swept(other), swept(updated));
}

TEST(Derived, AMachineThatWasSetDrawsAsOneThatWasUpdated) {
  for (const Layer& hidden : {Layer{Bernoulli{70}}, Layer{Potts{12, 3}}, Layer{Gaussian{5}}}) {
    const Rbm rbm = test::random_machine(Spin{33}, hidden, 0.5, 1);
    expect_alike(rbm, Rbm(Spin{33}, hidden));
    expect_alike(rbm, test::random_machine(Spin{33}, hidden, 0.5, 2));
  }
  for (const Graph& graph : {dense_graph(36), grid_graph(6, 6, Border::kPeriodic)}) {
    const Boltzmann machine = test::random_boltzmann(Bernoulli{36}, graph, 0.5, 1);
    expect_alike(machine, Boltzmann(Bernoulli{36}, graph));
    expect_alike(machine, test::random_boltzmann(Bernoulli{36}, graph, 0.5, 2));
  }
  const Graph letters = site_graph(dense_graph(12), 3);
  expect_alike(test::random_boltzmann(Potts{36, 3}, letters, 0.5, 1), Boltzmann(Potts{36, 3}, letters));
}

}  // namespace
}  // namespace ergodic
