#include "ergodic/trainer/dbn_learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/trainer/train_defaults.hpp"
#include "ergodic/trainer/trainer.hpp"
#include "trainer/short_run.hpp"

namespace ergodic {
namespace {

using test::kKey;
using test::kNone;
using test::options_of;

Dbn fresh(const Dataset& data, const DbnLearning& learning) {
  Dbn out({data.units(), {6, 5, 4}, 0, learning.up_down_updates > 0});
  initialise(out, data, learning, kKey, {});
  return out;
}

Trainer trainer_of(Dbn& model, const Dataset& data, const TrainOptions& options, const DbnLearning& learning) {
  return {std::make_unique<DbnLearner>(model, data, kNone, options, learning, kKey, Context{}), data, options, kKey};
}

std::vector<float> values_of(const Dbn& model) {
  return {model.parameters().values().begin(), model.parameters().values().end()};
}

TEST(DbnLearner, UpdatesAreDividedAmongTheLayers) {
  const Dataset data = bars_and_stripes(3);
  const DbnLearning learning{{}, 4};
  Dbn model = fresh(data, learning);
  const DbnLearner learner(model, data, kNone, options_of(14), learning, kKey, {});
  std::vector<std::size_t> stages;
  for (std::uint64_t u = 0; u < 14; ++u) stages.push_back(learner.stage_of(u));
  EXPECT_EQ(stages, (std::vector<std::size_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
}

TEST(DbnLearner, AStageLearnsAsAnRbmDoesFromTheSameFeatures) {
  const Dataset data = bars_and_stripes(3);
  const TrainOptions options = options_of(30);
  Dbn whole = fresh(data, {});
  Trainer all = trainer_of(whole, data, options, {});
  all.run([] {}, {});
  // The second stage by hand, above the first layer as it is after its own updates.
  Dbn model = fresh(data, {});
  Trainer first = trainer_of(model, data, options, {});
  first.run([] {}, {}, 10);
  const std::vector<std::uint32_t> rows = permutation(data.rows(), kKey.at(Purpose::kMonitor));
  const Dataset shown = features_of(model, 1, data, rows, kKey, std::uint64_t{1} << 40, {}),
                of_first = features_of(model, 0, data, rows, kKey, std::uint64_t{1} << 40, {});
  Rbm rbm(Bernoulli{6}, Bernoulli{5});
  const Key key = key_of_stage(kKey, 1);
  initialise(rbm, shown, first_weight_scale({rbm.visible(), rbm.hidden()}), key, {});
  Minibatches batches(data.rows(), 5, kKey);
  const auto source = [&](const UpdateStep& now, State& visible, const Context&) {
    State below[] = {state_of(Bernoulli{9}, gather(data, now.rows, kKey, now.epoch)),
                     make_state(Bernoulli{6}, now.rows.size())};
    model.stage(0).resample(Rbm::kHidden, below, kKey.at(Purpose::kDataHidden, 10 + now.update, 3), 0, {});
    visible = below[1];
  };
  RbmLearner learner(rbm, shown, {}, options, key, {}, source);
  const double rate = 0.1 * rbm_defaults({"pcd", shown, {Bernoulli{6}, Bernoulli{5}}, 41}).learning_rate /
                      rbm_defaults({"pcd", of_first, {Bernoulli{9}, Bernoulli{6}}, 69}).learning_rate;
  for (std::uint64_t u = 0; u < 10; ++u) {
    learner.learn({u, batches.epoch_of(10 + u), rate * schedule_factor(options.schedule, u, 10), batches.at(10 + u)},
                  {});
  }
  EXPECT_TRUE(std::ranges::equal(rbm.parameters().values(), whole.stage(1).parameters().values()));
}

TEST(DbnLearner, StoppedAfterAnyUpdateItGoesOnToTheSameBytes) {
  const Dataset data = bars_and_stripes(3);
  const DbnLearning learning{{}, 4};
  const TrainOptions options = options_of(13);
  Dbn whole = fresh(data, learning);
  Trainer all = trainer_of(whole, data, options, learning);
  all.run([] {}, {});
  EXPECT_FALSE(whole.tied(0));
  for (std::uint64_t stop = 1; stop <= 13; ++stop) {
    Dbn first = fresh(data, learning), second = fresh(data, learning);
    Trainer begun = trainer_of(first, data, options, learning);
    begun.run([] {}, {}, stop);
    Trainer resumed = trainer_of(second, data, options, learning);
    const LearnerState shape = resumed.state().learner, state = begun.state().learner;
    EXPECT_EQ(state.velocity.size(), shape.velocity.size());
    EXPECT_EQ(state.offsets.size(), shape.offsets.size());
    ASSERT_EQ(state.chains.layers.size(), shape.chains.layers.size());
    second.set_parameters(first.parameters());
    resumed.restore(begun.state());
    EXPECT_TRUE(resumed.run([] {}, {}));
    ASSERT_EQ(values_of(second), values_of(whole)) << stop;
    ASSERT_EQ(resumed.records().back().values, all.records().back().values) << stop;
  }
}

TEST(DbnLearner, WhatCannotBeLearnedIsRefused) {
  const Dataset data = bars_and_stripes(3);
  const DbnLearning learning{{}, 4};
  Dbn model = fresh(data, learning);
  const auto learner = [&](const TrainOptions& options, const Dataset& rows) {
    return DbnLearner(model, rows, kNone, options, learning, kKey, {});
  };
  EXPECT_THROW(learner(options_of(6), data), UsageError);
  TrainOptions without_chains = options_of(20);
  without_chains.method = "cd";
  EXPECT_THROW(learner(without_chains, data), UsageError);
  EXPECT_THROW(learner(options_of(20), bars_and_stripes(4)), UsageError);
  Dataset gaps = data;
  gaps.set_missing(0, 0);
  EXPECT_THROW(learner(options_of(20), gaps), UsageError);
}

}  // namespace
}  // namespace ergodic
