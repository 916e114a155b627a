#include "ergodic/trainer/trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/trainer/health.hpp"
#include "ergodic/trainer/rbm_learner.hpp"

namespace ergodic {
namespace {

/// The exact mean log-likelihood of a data set.
double likelihood(const Rbm& rbm, const Dataset& data) {
  double sum = 0.0;
  for (const double f : rbm.free_energy(State(data.bits(), levels_of(rbm.visible())), {})) sum -= f;
  return sum / static_cast<double>(data.rows()) - *exact_log_z(rbm, {});
}

TrainOptions quick(const std::string& method) {
  TrainOptions options;
  options.method = method;
  options.batch = 6;
  options.chains = 10;
  options.epochs = 4;
  options.learning_rate = 0.1;
  return options;
}

TEST(Trainer, AShortLastBatchCountsEachOfItsRowsFully) {
  // 8 rows in batches of 6: the second update sees 2 rows, and its step is the mean over those 2.
  const Dataset data = bars_and_stripes(2);
  Rbm rbm(Bernoulli{4}, Bernoulli{3});
  initialise(rbm, data, 0.5, Key{1}, {});
  TrainOptions options = quick("exact");
  options.uncentred = true;
  options.schedule = Schedule::kConstant;
  options.epochs = 1;
  Trainer trainer = trainer_of(rbm, data, {}, options, Key{1}, {});
  Minibatches batches(8, 6, Key{1});
  std::vector<std::vector<float>> after;
  std::vector<Statistics> expected;
  const auto gradient_now = [&](std::uint64_t update) {
    const State rows = state_of(rbm.visible(), gather(data, batches.at(update), Key{1}, 0));
    Statistics g(rbm.parameters().values().size());
    const double weight = 1.0 / static_cast<double>(rows.chains());
    rbm.add_statistics(Rbm::kVisible, rows, rbm.conditional_moments(Rbm::kHidden, rows, {}), {&weight, 1}, g, {});
    const Statistics model = exact_statistics(rbm, {});
    for (std::size_t k = 0; k < g.size(); ++k) g[k] -= model[k];
    return g;
  };
  std::vector<float> before(rbm.parameters().values().begin(), rbm.parameters().values().end());
  Statistics gradient = gradient_now(0);
  std::uint64_t update = 0;
  trainer.run(
      [&] {
        for (std::size_t k = 0; k < before.size(); ++k) {
          ASSERT_NEAR(rbm.parameters().values()[k] - before[k], 0.1 * gradient[k], 1e-6);
        }
        before.assign(rbm.parameters().values().begin(), rbm.parameters().values().end());
        ++update;
        if (update < 2) gradient = gradient_now(update);
      },
      {});
  EXPECT_EQ(update, 2u);
  EXPECT_EQ(batches.at(1).size(), 2u);
}

TEST(Trainer, TheCentredGradientDoesNotSeeWhetherBitsAreFlipped) {
  // Inverted data and the same machine rewritten for it (W -> -W, b -> -b, c -> c + W'1) learn the same likelihood.
  const Dataset data = bars_and_stripes(3);
  Dataset inverted = data;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t i = 0; i < data.units(); ++i) inverted.bits().set(r, i, !data.bits().get(r, i));
  }
  // A machine with couplings, away from the saddle at W = 0, where rounding would grow exponentially.
  Rbm rbm = test::random_machine(Bernoulli{9}, Bernoulli{5}, 1.0, 2);
  Rbm mirror = rbm;
  mirror.update(
      [&](Parameters& p) {
        for (std::size_t i = 0; i < 9; ++i) {
          p["visible_bias"][i] *= -1.0f;
          for (std::size_t j = 0; j < 5; ++j) {
            p["hidden_bias"][j] += rbm.weights()(i, j);
            p["weights"][i * 5 + j] *= -1.0f;
          }
        }
      },
      {});
  TrainOptions options = quick("exact");
  options.batch = 16;
  options.epochs = 100;
  options.record_every = 100;
  Trainer plain = trainer_of(rbm, data, {}, options, Key{3}, {});
  Trainer flipped = trainer_of(mirror, inverted, {}, options, Key{3}, {});
  const double start = likelihood(rbm, data);
  EXPECT_NEAR(likelihood(mirror, inverted), start, 1e-5);
  plain.run([] {}, {});
  flipped.run([] {}, {});
  EXPECT_GT(likelihood(rbm, data), start + 0.5);
  // Floats round differently on the two sides: 59 parameters by about 1e-7 each, for 100 steps, at worst 6e-4 if all
  // erred the same way, and their square root, 1e-5, if they err at random.
  EXPECT_NEAR(likelihood(mirror, inverted), likelihood(rbm, data), 1e-4);
}

TEST(Trainer, TheSameRateMeansTheSameLearningInWhateverUnits) {
  const Dataset data = bars_and_stripes(3);
  const Rbm start = test::random_machine(Bernoulli{9}, Bernoulli{5}, 1.0, 2);
  for (const bool centred : {true, false}) {
    TrainOptions options = quick("exact");
    options.batch = 16;
    options.epochs = 100;
    options.record_every = 100;
    options.uncentred = !centred;
    options.sgd = {0.5};
    options.decay = {0.01, 0.01};
    Rbm first = start;
    trainer_of(first, data, {}, options, Key{3}, {}).run([] {}, {});
    EXPECT_GT(likelihood(first, data), likelihood(start, data) + 0.5);
    test::for_each_pairing([&](std::string_view visible, std::string_view hidden) {
      Rbm other = with_units(start, make_layer(visible, 9), make_layer(hidden, 5));
      trainer_of(other, data, {}, options, Key{3}, {}).run([] {}, {});
      // Floats round differently: about 1e-7 of each parameter, for 100 steps.
      EXPECT_NEAR(likelihood(other, data), likelihood(first, data), 1e-4) << visible << " - " << hidden;
    });
  }
}

TEST(Trainer, EveryMethodLearnsWithEveryPairingOfUnits) {
  const Dataset data = bars_and_stripes(3);
  for (const std::string method : {"cd", "pcd", "population", "fpcd", "tempering", "exact"}) {
    test::for_each_pairing([&](std::string_view visible, std::string_view hidden) {
      Rbm rbm(make_layer(visible, 9), make_layer(hidden, 8));
      initialise(rbm, data, 0.1, Key{4}, {});
      const double start = likelihood(rbm, data);
      TrainOptions options = quick(method);
      options.batch = 16;
      options.chains = 100;
      options.epochs = 2000;
      options.record_every = 2000;
      options.learning_rate = 0.1;
      Trainer trainer = trainer_of(rbm, data, {}, options, Key{5}, {});
      EXPECT_TRUE(trainer.run([] {}, {}));
      // Independent units give -6.24; the best is -2.60. A machine that learned the structure is well past half way.
      EXPECT_GT(likelihood(rbm, data), start + 1.5) << visible << hidden << method;
    });
  }
}

TEST(Trainer, InitialBiasesReproduceTheDataMeans) {
  Dataset data = shifting_bars(9);
  for (const auto type : test::kUnitTypes) {
    Rbm rbm(make_layer(type, 9), make_layer(type, 2));
    initialise(rbm, data, 0.0, Key{6}, {});
    const Matrix<float> means = rbm.conditional_means(Rbm::kVisible, rbm.make_state(Rbm::kHidden, 1), {});
    const Levels levels = levels_of(rbm.visible());
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR((means(0, i) - levels.low) / levels.gap(), 1.0 / 9, 1e-6);
  }
}

std::vector<float> trained(const Dataset& data, const TrainOptions& options, std::uint64_t stop_after) {
  struct StopAfter : Observer {
    std::uint64_t updates_left = 0;
    void progress(const Progress&) override { --updates_left; }
    bool stop_requested() override { return updates_left == 0; }
  } observer;
  observer.updates_left = stop_after;
  Rbm rbm(Bernoulli{9}, Bernoulli{5});
  initialise(rbm, data, 0.01, Key{7}, {});
  Trainer first = trainer_of(rbm, data, {}, options, Key{7}, {});
  if (!first.run([] {}, Context{nullptr, &observer})) {
    EXPECT_EQ(first.updates_done(), stop_after);
    Trainer second = trainer_of(rbm, data, {}, options, Key{7}, {});
    second.restore(first.state());
    EXPECT_TRUE(second.run([] {}, {}));
    EXPECT_EQ(second.records().size(), *options.epochs + 1);
  }
  return {rbm.parameters().values().begin(), rbm.parameters().values().end()};
}

TEST(Trainer, AStoppedRunGoesOnAsIfItHadNot) {
  Dataset grey = bars_and_stripes(3);  // dynamic data: the epoch's draw must be the same too
  grey.values = Matrix<Grey>(16, 9);
  for (std::size_t k = 0; k < 16 * 9; ++k) grey.grey().elements()[k] = static_cast<Grey>((k * 7919) % 65536);
  Dataset gappy = bars_and_stripes(3);  // and the draws of what is missing
  for (std::size_t r = 0; r < gappy.rows(); ++r) gappy.set_missing(r, (5 * r) % 9);
  for (const Dataset& data : {bars_and_stripes(3), grey, gappy}) {
    for (const std::string method : {"cd", "pcd", "population", "fpcd", "tempering", "exact"}) {
      TrainOptions options = quick(method);
      options.sgd = {0.5};
      options.decay = {1e-4, 1e-4};
      const std::vector<float> whole = trained(data, options, 1000);
      for (const std::uint64_t stop : {1u, 3u, 5u, 6u, 11u}) EXPECT_EQ(trained(data, options, stop), whole);
    }
  }
}

TEST(Trainer, DivergenceIsSaidAndNotHidden) {
  const Dataset data = bars_and_stripes(3);
  Rbm rbm(Bernoulli{9}, Bernoulli{5});
  initialise(rbm, data, 0.01, Key{8}, {});
  TrainOptions options = quick("cd");
  options.learning_rate = 1e39;
  options.schedule = Schedule::kConstant;
  Trainer trainer = trainer_of(rbm, data, {}, options, Key{8}, {});
  EXPECT_THROW(trainer.run([] {}, {}), NumericError);
}

/// Asks to stop after so many calls.
struct StopAfterLooks : Observer {
  explicit StopAfterLooks(std::uint64_t looks) : left(looks) {}
  std::uint64_t left;
  std::vector<std::string> warnings;
  bool stop_requested() override { return left-- == 0; }
  void warn(const std::string& text) override { warnings.push_back(text); }
};

struct Rescued {
  std::vector<float> parameters;
  std::vector<Record> records;
  std::vector<Rescue> rescues;
  double learning_rate = 0.0;
};

/// A run that diverges at first, stopped and resumed again and again after so many updates.
Rescued rescued(const std::string& method, std::uint64_t stop_after) {
  const Dataset data = bars_and_stripes(3);
  TrainOptions options = quick(method);
  options.learning_rate = 1000.0;
  options.epochs = 30;
  options.record_every = 20;
  options.sgd = {0.5};
  options.rescue = true;
  Rbm rbm(Bernoulli{9}, Bernoulli{5});
  initialise(rbm, data, 0.01, Key{8}, {});
  TrainingState state;
  for (bool begun = false;; begun = true) {
    Trainer trainer = trainer_of(rbm, data, {}, options, Key{8}, {});
    if (begun) trainer.restore(std::move(state));
    StopAfterLooks observer{stop_after};
    if (trainer.run([] {}, Context{nullptr, &observer})) {
      const auto values = rbm.parameters().values();
      return {{values.begin(), values.end()}, trainer.records(), trainer.rescues(), trainer.learning_rate()};
    }
    state = trainer.state();
  }
}

TEST(Trainer, ARescuedRunEndsAsASoundMachine) {
  const Rescued found = rescued("cd", 1000000);
  ASSERT_FALSE(found.rescues.empty());
  EXPECT_EQ(found.rescues[0].back_to, 0u);
  EXPECT_EQ(found.learning_rate, std::ldexp(1000.0, -static_cast<int>(found.rescues.size())));
  EXPECT_EQ(found.records.back().update, 90u);
  EXPECT_TRUE(why_unsound(found.records.back(), found.records.front()).empty());
  for (std::size_t k = 1; k < found.records.size(); ++k) {
    EXPECT_LT(found.records[k - 1].update, found.records[k].update);
  }
}

TEST(Trainer, ARescuedRunIsTheSameWhereverItStops) {
  for (const std::string method : {"cd", "pcd", "population", "fpcd", "tempering", "exact"}) {
    const Rescued whole = rescued(method, 1000000);
    for (const std::uint64_t stop : {21u, 33u}) {
      const Rescued pieces = rescued(method, stop);
      EXPECT_EQ(pieces.parameters, whole.parameters) << method << stop;
      ASSERT_EQ(pieces.rescues.size(), whole.rescues.size());
      for (std::size_t k = 0; k < whole.rescues.size(); ++k) {
        EXPECT_EQ(pieces.rescues[k].diverged_after, whole.rescues[k].diverged_after);
        EXPECT_EQ(pieces.rescues[k].back_to, whole.rescues[k].back_to);
      }
      ASSERT_EQ(pieces.records.size(), whole.records.size());
      for (std::size_t k = 0; k < whole.records.size(); ++k) {
        EXPECT_EQ(pieces.records[k].values, whole.records[k].values);
      }
    }
  }
}

TEST(Trainer, ARescueThatIsNotNeededChangesNothing) {
  const Dataset data = bars_and_stripes(3);
  std::vector<std::vector<float>> found;
  for (const bool rescue : {false, true}) {
    Rbm rbm(Bernoulli{9}, Bernoulli{5});
    initialise(rbm, data, 0.01, Key{8}, {});
    TrainOptions options = quick("pcd");
    options.rescue = rescue;
    trainer_of(rbm, data, {}, options, Key{8}, {}).run([] {}, {});
    found.emplace_back(rbm.parameters().values().begin(), rbm.parameters().values().end());
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST(Trainer, ARunThatCannotBeRescuedGivesUp) {
  const Dataset data = bars_and_stripes(3);
  Rbm rbm(Bernoulli{9}, Bernoulli{5});
  initialise(rbm, data, 0.01, Key{8}, {});
  TrainOptions options = quick("cd");
  options.learning_rate = 1e39;
  options.rescue = true;
  Trainer trainer = trainer_of(rbm, data, {}, options, Key{8}, {});
  StopAfterLooks observer{1000000};
  EXPECT_THROW(trainer.run([] {}, Context{nullptr, &observer}), NumericError);
  EXPECT_EQ(trainer.rescues().size(), 16u);
  EXPECT_EQ(observer.warnings.size(), 16u);
}

TEST(Trainer, ARunThatStopsWhileItDivergesIsSavedBeforeThat) {
  const Dataset data = bars_and_stripes(3);
  Rbm rbm(Bernoulli{9}, Bernoulli{5});
  initialise(rbm, data, 0.01, Key{8}, {});
  const std::vector<float> start(rbm.parameters().values().begin(), rbm.parameters().values().end());
  TrainOptions options = quick("cd");
  options.learning_rate = 1e39;
  options.rescue = true;
  Trainer trainer = trainer_of(rbm, data, {}, options, Key{8}, {});
  StopAfterLooks observer{2};
  EXPECT_FALSE(trainer.run([] {}, Context{nullptr, &observer}));
  EXPECT_EQ(trainer.updates_done(), 0u);
  EXPECT_TRUE(trainer.sound());
  EXPECT_TRUE(std::ranges::equal(rbm.parameters().values(), start));
}

TEST(Trainer, DivergenceIsSeenBetweenRecords) {
  const Dataset data = bars_and_stripes(3);
  for (const std::string method : {"cd", "pcd", "population", "fpcd", "tempering", "exact"}) {
    Rbm rbm(Bernoulli{9}, Bernoulli{5});
    initialise(rbm, data, 0.01, Key{8}, {});
    TrainOptions options = quick(method);
    options.epochs = 1000;
    options.learning_rate = 1000.0;
    options.record_every = 3000;
    Trainer trainer = trainer_of(rbm, data, {}, options, Key{8}, {});
    EXPECT_THROW(trainer.run([] {}, {}), NumericError);
    EXPECT_LE(trainer.updates_done(), 30u) << method;
  }
}

TEST(Trainer, ImpossibleRequestsAreRefused) {
  const Dataset data = bars_and_stripes(2);
  Rbm rbm(Bernoulli{4}, Bernoulli{2});
  TrainOptions options = quick("pcd");
  options.batch = 9;
  EXPECT_THROW(trainer_of(rbm, data, {}, options, Key{}, {}), UsageError);
  Rbm other(Bernoulli{5}, Bernoulli{2});
  EXPECT_THROW(trainer_of(other, data, {}, quick("pcd"), Key{}, {}), UsageError);
}

/// Rows that have nothing in common beyond their means, so that couplings only learn them by heart.
Dataset noise(std::size_t rows, std::uint64_t seed) {
  Dataset out{"noise", Bits(rows, 9)};
  const Draw draw = Key{seed}.at(Purpose::kSynthetic);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < 9; ++i) {
      out.bits().set(r, i, draw.uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(i)) < 0.5);
    }
  }
  return out;
}

struct Kept {
  std::vector<float> parameters;
  std::vector<Record> records;
  std::optional<KeptRecord> record;
  std::uint64_t updates = 0;
};

/// A run that over-fits, stopped and resumed again and again after so many looks. `each` sees the machine at records.
Kept kept_run(TrainOptions options, std::uint64_t stop_after = 1000000,
              const std::function<void(std::uint64_t, const Rbm&)>& each = {}) {
  const Dataset train = noise(12, 1), held_out = noise(40, 2);
  options.batch = 6;
  options.chains = 20;
  options.record_every = 10;
  options.sgd = {0.5};
  if (!options.updates) options.updates = 205;
  if (!options.learning_rate) options.learning_rate = 0.3;
  Rbm rbm(Bernoulli{9}, Bernoulli{5});
  initialise(rbm, train, 0.1, Key{8}, {});
  if (each) each(0, rbm);
  TrainingState state;
  for (bool begun = false;; begun = true) {
    Trainer trainer = trainer_of(rbm, train, held_out, options, Key{8}, {});
    if (begun) trainer.restore(std::move(state));
    StopAfterLooks observer{stop_after};
    const auto after = [&] {
      if (each) each(trainer.updates_done(), rbm);
    };
    if (trainer.run(after, Context{nullptr, &observer})) {
      const auto values = rbm.parameters().values();
      return {{values.begin(), values.end()}, trainer.records(), trainer.kept(), trainer.updates_done()};
    }
    state = trainer.state();
  }
}

TEST(Trainer, TheBestStateIsThatWithTheHighestLikelihoodOfHeldOutRows) {
  const Dataset held_out = noise(40, 2);
  double best = -1e300;
  std::uint64_t best_update = 0;
  std::vector<float> best_parameters;
  const Kept last = kept_run({}, 1000000, [&](std::uint64_t update, const Rbm& rbm) {
    if (update % 10 != 0 && update != 205) return;
    const double now = likelihood(rbm, held_out);
    if (now <= best) return;
    best = now;
    best_update = update;
    best_parameters.assign(rbm.parameters().values().begin(), rbm.parameters().values().end());
  });
  EXPECT_FALSE(last.record);
  ASSERT_LT(best_update, 205u) << "the run must over-fit to say anything";
  EXPECT_NE(last.parameters, best_parameters);
  TrainOptions options;
  options.keep = Keep::kBest;
  const Kept found = kept_run(options);
  EXPECT_EQ(found.parameters, best_parameters);
  ASSERT_TRUE(found.record);
  EXPECT_EQ(found.record->monitor, "log_likelihood");
  EXPECT_EQ(found.record->record.update, best_update);
  // Summed in another order: sixteen digits of numbers up to about ten.
  EXPECT_NEAR(*monitor_in(found.record->record, "log_likelihood"), best, 1e-9);
  // The last record is of the machine that is the result.
  EXPECT_EQ(monitor_in(found.records.back(), "log_likelihood"), monitor_in(found.record->record, "log_likelihood"));
  EXPECT_EQ(found.records.back().update, 205u);
}

TEST(Trainer, PatienceEndsARunThatGetsNoBetter) {
  TrainOptions options;
  options.keep = Keep::kBest;
  const Kept whole = kept_run(options);
  options.patience = 3;
  const Kept found = kept_run(options);
  ASSERT_TRUE(found.record);
  EXPECT_LT(found.updates, 205u);
  EXPECT_EQ(found.updates, found.record->record.update + 30);
  EXPECT_EQ(found.records.back().update, found.updates);
  options.patience = 1000;
  EXPECT_EQ(kept_run(options).parameters, whole.parameters);
}

TEST(Trainer, TheBestStateIsTheSameWhereverARunStops) {
  for (const bool rescue : {false, true}) {
    for (const std::uint64_t patience : {0u, 4u}) {
      TrainOptions options;
      options.keep = Keep::kBest;
      options.rescue = rescue;
      options.patience = patience;
      if (rescue) options.learning_rate = 400.0;
      const Kept whole = kept_run(options);
      for (const std::uint64_t stop : {21u, 33u}) {
        const Kept pieces = kept_run(options, stop);
        EXPECT_EQ(pieces.parameters, whole.parameters) << rescue << patience << stop;
        EXPECT_EQ(pieces.updates, whole.updates);
        ASSERT_EQ(pieces.records.size(), whole.records.size());
        EXPECT_EQ(pieces.record->record.update, whole.record->record.update);
      }
    }
  }
}

TEST(Trainer, WhatCannotBeJudgedCannotBeTheBest) {
  const Dataset data = bars_and_stripes(3);
  Rbm rbm(Bernoulli{9}, Bernoulli{5});
  TrainOptions options = quick("cd");
  options.keep = Keep::kBest;
  EXPECT_THROW(trainer_of(rbm, data, {}, options, Key{8}, {}), UsageError);
  options.keep = {};
  options.patience = 2;
  EXPECT_THROW(trainer_of(rbm, data, data, options, Key{8}, {}), UsageError);
}

}  // namespace
}  // namespace ergodic
