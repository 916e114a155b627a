#include "ergodic/run/sample.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/machine/boltzmann.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/rbm.hpp"
#include "run/listener.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{5};

RbmMachine some_machine() { return RbmMachine(test::random_machine(Bernoulli{6}, Bernoulli{4}, 0.7, 1)); }

SamplingOptions options_for(std::uint64_t sweeps, std::string sampler = std::string(kAutoSampler)) {
  SamplingOptions out;
  out.sweeps = sweeps;
  out.sampler = std::move(sampler);
  return out;
}

TEST(Sample, RunsSoManyChainsForSoManySweeps) {
  const RbmMachine machine = some_machine();
  test::Listener listener;
  const Samples found = sample(machine, options_for(40), {70, {}, {}}, {}, kKey, Context{nullptr, &listener});
  EXPECT_FALSE(found.stopped);
  EXPECT_EQ(found.sweeps, 40u);
  EXPECT_EQ(found.visible.chains(), 70u);
  EXPECT_EQ(found.visible.units(), 6u);
  EXPECT_TRUE(found.visible == found.chains.layers[0]);
  EXPECT_EQ(found.chains.layers.size(), 2u);
  EXPECT_EQ(found.chains.sweep, 40u);
  EXPECT_FALSE(found.accepted.has_value());  // Gibbs sampling proposes nothing
  EXPECT_TRUE(found.swapped.empty());
  EXPECT_FALSE(found.lowest.has_value());
  EXPECT_EQ(listener.stage_names(), (std::vector<std::string>{"sampling"}));
  EXPECT_EQ(listener.stages[0].unit, "sweeps");
  EXPECT_EQ(listener.progresses, 40u);
}

TEST(Sample, IsTheSameForAnyNumberOfThreads) {
  const RbmMachine machine = some_machine();
  const Samples alone = sample(machine, options_for(20), {50, {}, {}}, {}, kKey, {});
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    EXPECT_TRUE(sample(machine, options_for(20), {50, {}, {}}, {}, kKey, Context{&threads}).visible == alone.visible);
  }
  EXPECT_FALSE(sample(machine, options_for(20), {50, {}, {}}, {}, Key{6}, {}).visible == alone.visible);
}

TEST(Sample, AStoppedRunHasNoStatesAndIsNotJudged) {
  test::Listener listener;
  listener.stop_after = 90;
  const Samples found = sample(some_machine(), options_for(100), {}, {}, kKey, Context{nullptr, &listener});
  EXPECT_TRUE(found.stopped);
  EXPECT_EQ(found.sweeps, 90u);
  EXPECT_EQ(found.visible.chains(), 0u);
  EXPECT_FALSE(found.mixing.has_value());
}

TEST(Sample, FixedUnitsKeepTheValuesOfTheirRows) {
  Bits fixed(1, 6);
  fixed.set(0, 1, true);
  fixed.set(0, 4, true);
  State rows(40, 6, Bernoulli::kLevels);
  for (std::size_t r = 0; r < 40; ++r) {
    rows.bits().set(r, 1, r % 2 == 0);
    rows.bits().set(r, 4, r % 3 == 0);
  }
  for (const std::string sampler : {"gibbs", "metropolis", "tempering", "annealing"}) {
    const Samples found = sample(some_machine(), options_for(30, sampler), {1, rows, fixed}, {}, kKey, {});
    ASSERT_EQ(found.visible.chains(), 40u);
    for (std::size_t r = 0; r < 40; ++r) {
      for (const std::size_t i : {1u, 4u}) EXPECT_EQ(found.visible.bits().get(r, i), rows.bits().get(r, i)) << sampler;
    }
    EXPECT_FALSE(found.visible == rows) << sampler;
  }
}

TEST(Sample, RowsThatAreGivenDifferentValuesAreNotJudged) {
  Bits fixed(1, 6);
  fixed.set(0, 0, true);
  State rows(20, 6, Bernoulli::kLevels);
  const Samples same = sample(some_machine(), options_for(50), {1, rows, fixed}, {}, kKey, {});
  EXPECT_FALSE(same.mixing->quantities.empty());
  rows.bits().set(3, 0, true);
  const Samples other = sample(some_machine(), options_for(50), {1, rows, fixed}, {}, kKey, {});
  EXPECT_EQ(other.mixing->verdict.mixing, Mixing::kUnknown);
  EXPECT_NE(other.mixing->verdict.reason.find("different row"), std::string::npos);
}

/// A class RBM of bars (0) and stripes (2), with a class between them that no row has.
std::unique_ptr<Machine> machine_with_labels() {
  Dataset data = bars_and_stripes(2);
  for (int& label : data.labels) label *= 2;
  return kind_named("class-rbm").make({{"hidden", std::uint64_t{3}}}, data, kKey, {});
}

TEST(Sample, ChainsOfAClassKeepTheirLabelAndAreJudgedByClass) {
  const auto machine = machine_with_labels();
  const std::vector<std::size_t> labels{2, 0};
  const SampleStart start = labelled_start(*machine, labels, 15, kKey, {});
  ASSERT_EQ(start.rows.chains(), 30u);
  EXPECT_FALSE(all_alike(start.rows.rows(0, 15)));  // but for the label they are drawn
  for (const std::string sampler : {"gibbs", "metropolis", "tempering"}) {
    const Samples found = sample(*machine, options_for(200, sampler), start, {}, kKey, {});
    for (std::size_t r = 0; r < 30; ++r) {
      for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(found.visible.bits().get(r, 4 + c), c == labels[r / 15]) << sampler;
    }
    EXPECT_EQ(found.mixing->chains, 15u) << sampler;
    EXPECT_FALSE(found.mixing->quantities.empty()) << sampler;
  }
}

TEST(Sample, ClassesThatAMachineDoesNotKnowAreRefused) {
  const auto machine = machine_with_labels();
  const auto message = [](const Machine& of, std::size_t label) {
    return message_of<UsageError>([&] { labelled_start(of, std::vector{label}, 1, kKey, {}); });
  };
  EXPECT_NE(message(*machine, 3).find("expected a label from 0 to 2"), std::string::npos);
  EXPECT_NE(message(*machine, 1).find("no row of class 1"), std::string::npos);
  EXPECT_NE(message(some_machine(), 0).find("has no labels"), std::string::npos);
}

TEST(Sample, HiddenUnitsOfAGraphAreSampledWithTheVisibleOnes) {
  Boltzmann model(Spin{7}, dense_graph(7), 4);
  const BoltzmannMachine machine(std::move(model));
  const Samples found = sample(machine, options_for(10), {30, {}, {}}, {}, kKey, {});
  EXPECT_EQ(found.visible.units(), 4u);
  EXPECT_EQ(found.chains.layers[0].units(), 7u);
  // Rows set the visible units alone.
  const State rows(8, 4, Spin::kLevels);
  Bits fixed(1, 4);
  for (std::size_t i = 0; i < 3; ++i) fixed.set(0, i, true);
  const Samples given = sample(machine, options_for(10), {1, rows, fixed}, {}, kKey, {});
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(given.visible.bits().get(r, i));
  }
}

TEST(Sample, WatchesWhatIsAskedForBesideWhatTheMachineHas) {
  const Samples found =
      sample(some_machine(), options_for(100), {}, {watched_sum({1.0f, 0.0f, -1.0f, 0.0f, 0.0f, 0.0f})}, kKey, {});
  std::vector<std::string> names;
  for (const auto& quantity : found.mixing->quantities) names.push_back(quantity.name);
  const std::vector<std::string> expected{"free energy",      "activity",        "first direction",
                                          "second direction", "third direction", "sum"};
  EXPECT_EQ(names, expected);
}

TEST(Sample, SaysHowOftenProposalsAreAcceptedAndLevelsSwap) {
  const Samples metropolis = sample(some_machine(), options_for(40, "metropolis"), {}, {}, kKey, {});
  ASSERT_TRUE(metropolis.accepted.has_value());
  EXPECT_GT(*metropolis.accepted, 0.1);
  EXPECT_LT(*metropolis.accepted, 1.0);
  SamplingOptions options = options_for(40, "tempering");
  options.levels = 4;
  const Samples tempering = sample(some_machine(), options, {}, {}, kKey, {});
  ASSERT_EQ(tempering.swapped.size(), 3u);
  for (const double rate : tempering.swapped) EXPECT_GT(rate, 0.0);
}

TEST(Sample, AnnealingFindsTheStatesOfLowestEnergy) {
  const RbmMachine machine = some_machine();
  const Rbm& rbm = machine.model();
  double lowest = 1e300;
  for (std::size_t v = 0; v < 16; ++v) {
    const State hidden = test::states_of(std::vector<std::size_t>(64, v), 4, Bernoulli::kLevels);
    const std::vector<State> layers{test::all_states(rbm.visible()), hidden};
    lowest = std::min(lowest, std::ranges::min(rbm.energy(layers, {})));
  }
  const Samples found = sample(machine, options_for(300, "annealing"), {}, {}, kKey, {});
  ASSERT_TRUE(found.lowest.has_value());
  EXPECT_NEAR(found.lowest->energy, lowest, 1e-9);
  EXPECT_GE(found.lowest->chains, 50u);  // of 100
  EXPECT_FALSE(found.mixing.has_value());
}

TEST(Sample, WarnsIfTheChainsHaveNotMixed) {
  Rbm stuck(Spin{10}, Spin{1});
  stuck.update([](Parameters& p) { std::ranges::fill(p["weights"], 3.0f); }, {});
  test::Listener listener;
  const Samples found = sample(RbmMachine(stuck), options_for(200), {}, {}, kKey, Context{nullptr, &listener});
  EXPECT_EQ(found.mixing->verdict.mixing, Mixing::kNo);
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_NE(listener.warnings[0].find("have not mixed"), std::string::npos);
}

TEST(Sample, SamplersThatDoNotServeTheMachineAreRefused) {
  const auto refused = [](const std::string& sampler) {
    return message_of<UsageError>([&] { sample(some_machine(), options_for(10, sampler), {}, {}, kKey, {}); });
  };
  expect_parts(refused("hmc"), {"hmc", "gaussian"});
  expect_parts(refused("jumping"), {"jumping", "neural"});
  SamplingOptions options = options_for(10);
  options.inner = "gibbs";
  expect_parts(message_of<UsageError>([&] { sample(some_machine(), options, {}, {}, kKey, {}); }),
               {"--inner", "tempering and annealing"});
}

}  // namespace
}  // namespace ergodic
