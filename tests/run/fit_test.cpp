#include "ergodic/run/fit.hpp"

#include <gtest/gtest.h>

#include "ergodic/core/error.hpp"
#include "ergodic/data/planar.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/machine/kinds.hpp"
#include "run/listener.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{3};

/// A machine for bars-and-stripes, and four epochs of three updates.
struct Training {
  explicit Training(const std::string& method = "pcd")
      : data{bars_and_stripes(3), {}},
        machine(kind_named("rbm").make({{"hidden", std::uint64_t{5}}}, data.train, kKey, {})) {
    options.method = method;
    options.batch = 6;
    options.chains = 10;
    options.epochs = 4;
    options.steps = 1;
    options.learning_rate = 0.1;
  }
  std::vector<float> values() const {
    return {machine->parameters().values().begin(), machine->parameters().values().end()};
  }

  TrainingData data;
  std::unique_ptr<Machine> machine;
  TrainOptions options;
};

TEST(Fit, InPiecesItIsTheSameAsInOneRun) {
  for (const std::string method : {"pcd", "cd", "exact", "population", "fpcd", "tempering"}) {
    Training whole(method), pieces(method);
    const FitResult result = fit(*whole.machine, whole.data, whole.options, kKey, {});
    EXPECT_FALSE(result.stopped);
    EXPECT_EQ(result.updates, 12u);
    EXPECT_EQ(result.epochs, 4.0);
    Fit fit(*pieces.machine, pieces.data, pieces.options, kKey, {});
    EXPECT_EQ(fit.updates_total(), 12u);
    EXPECT_EQ(fit.updates_per_epoch(), 3u);
    EXPECT_FALSE(fit.run({}, {}, 1));
    EXPECT_EQ(fit.updates_done(), 1u);
    EXPECT_FALSE(fit.run({}, {}, 0));
    EXPECT_EQ(fit.updates_done(), 1u);
    EXPECT_FALSE(fit.run({}, {}, 7));
    EXPECT_FALSE(fit.finished());
    EXPECT_TRUE(fit.run({}, {}, 100));
    EXPECT_TRUE(fit.finished());
    EXPECT_EQ(pieces.values(), whole.values()) << method;
    ASSERT_EQ(fit.records().size(), 5u);
    EXPECT_EQ(fit.records().back().values, result.last.values);
  }
}

TEST(Fit, HooksAreCalledAfterEveryUpdateAndSeeMachineAndChains) {
  Training run;
  std::vector<std::uint64_t> updates, sweeps;
  std::vector<float> before = run.values();
  Fit fit(*run.machine, run.data, run.options, kKey, {});
  fit.run(
      [&](const Fit& now) {
        updates.push_back(now.updates_done());
        EXPECT_EQ(&now, &fit);
        EXPECT_EQ(&now.machine(), run.machine.get());
        EXPECT_NE(run.values(), before);
        before = run.values();
        ASSERT_NE(now.chains(), nullptr);
        EXPECT_EQ(now.chains()->count(), 10u);
        sweeps.push_back(now.chains()->sweep);
      },
      {});
  ASSERT_EQ(updates.size(), 12u);
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_EQ(updates[k], k + 1);
    EXPECT_EQ(sweeps[k], k + 1);  // PCD-1
  }
}

TEST(Fit, OnlySomeMethodsHaveChains) {
  for (const std::string method : {"cd", "exact"}) {
    Training run(method);
    Fit fit(*run.machine, run.data, run.options, kKey, {});
    fit.run([](const Fit& now) { EXPECT_EQ(now.chains(), nullptr); }, {}, 2);
    EXPECT_FALSE(fit.mixing({}).has_value());
  }
}

TEST(Fit, StopsWhenTheObserverAsks) {
  Training run, other;
  test::Listener listener;
  listener.stop_after = 5;
  const FitResult result = fit(*run.machine, run.data, run.options, kKey, Context{nullptr, &listener});
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.updates, 5u);
  EXPECT_NEAR(result.epochs, 5.0 / 3.0, 1e-12);
  Fit(*other.machine, other.data, other.options, kKey, {}).run({}, {}, 5);
  EXPECT_EQ(run.values(), other.values());
}

TEST(Fit, NamesItsStage) {
  Training run;
  test::Listener listener;
  fit(*run.machine, run.data, run.options, kKey, Context{nullptr, &listener});
  EXPECT_EQ(listener.stage_names(), (std::vector<std::string>{"training"}));
  EXPECT_EQ(listener.stages[0].unit, "updates");
}

TEST(Fit, SettlesWhatTheOptionsLeaveOpenByTheKindOfMachine) {
  Training run;
  run.options = {};
  const Fit small(*run.machine, run.data, run.options, kKey, {});
  EXPECT_EQ(small.options().batch, 16u);  // all rows
  EXPECT_EQ(small.options().chains, 100u);
  const TrainDefaults defaults = kind_named("rbm").defaults.find(
      {"pcd", run.data.train, run.machine->layers(), run.machine->parameters().values().size()});
  EXPECT_EQ(small.options().updates, defaults.updates);
  EXPECT_EQ(small.options().learning_rate, defaults.learning_rate);
  const TrainingData plane{two_moons(300, 0), {}};
  const auto neural = kind_named("neural").make({{"layers", Counts{3}}}, plane.train, kKey, {});
  const Fit other(*neural, plane, {}, kKey, {});
  EXPECT_EQ(other.options().batch, 250u);
  EXPECT_EQ(other.options().updates, 2400u);
}

TEST(Fit, AMachineThatIsCompleteWhenItIsMadeIsFinished) {
  const TrainingData data{bars_and_stripes(3), {}};
  const auto network = kind_named("hopfield").make({{"patterns", std::uint64_t{2}}}, data.train, kKey, {});
  Fit done(*network, data, {}, kKey, {});
  EXPECT_TRUE(done.finished());
  EXPECT_EQ(done.updates_total(), 0u);
  EXPECT_EQ(done.chains(), nullptr);
  EXPECT_TRUE(done.records().empty());
  EXPECT_TRUE(done.run([](const Fit&) { FAIL() << "there are no updates"; }, {}));
  EXPECT_FALSE(fit(*network, data, {}, kKey, {}).stopped);
}

TEST(Fit, JudgesWhetherChainsMixAndLeavesThemWhereTheyAre) {
  Training run;
  Fit fit(*run.machine, run.data, run.options, kKey, {});
  fit.run({}, {});
  const Chains before = *fit.chains();
  const auto found = fit.mixing({});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->chains, 10u);
  EXPECT_FALSE(found->quantities.empty());
  EXPECT_EQ(fit.chains()->layers, before.layers);
  EXPECT_EQ(fit.chains()->sweep, before.sweep);
}

TEST(Fit, DivergenceIsSaid) {
  Training run("cd");
  run.options.learning_rate = 1e39;
  run.options.schedule = Schedule::kConstant;
  EXPECT_THROW(fit(*run.machine, run.data, run.options, kKey, {}), NumericError);
}

TEST(TrainingData, SetsAShareOfTheRowsApart) {
  const TrainingData found = training_data(bars_and_stripes(3), 0.25, kKey);
  EXPECT_EQ(found.train.rows(), 12u);
  EXPECT_EQ(found.held_out.rows(), 4u);
  EXPECT_EQ(training_data(bars_and_stripes(3), 0.0, kKey).held_out.rows(), 0u);
  EXPECT_TRUE(training_data(bars_and_stripes(3), 0.25, kKey).held_out.bits() == found.held_out.bits());
}

TEST(TrainingData, HeldOutRowsAreMonitoredAndNotLearnedFrom) {
  Training run;
  run.data = training_data(bars_and_stripes(3), 0.25, kKey);
  Training without;
  without.data.train = run.data.train;
  const FitResult result = fit(*run.machine, run.data, run.options, kKey, {});
  fit(*without.machine, without.data, without.options, kKey, {});
  EXPECT_EQ(run.values(), without.values());
  EXPECT_TRUE(std::ranges::any_of(result.last.values, [](const auto& m) { return m.first == "free_energy_gap"; }));
}

}  // namespace
}  // namespace ergodic
