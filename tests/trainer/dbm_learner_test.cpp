#include "ergodic/trainer/dbm_learner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "deep_machines.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/batches.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/trainer/train_defaults.hpp"
#include "ergodic/trainer/trainer.hpp"
#include "trainer/short_run.hpp"

namespace ergodic {
namespace {

using test::kKey;
using test::kNone;
using test::options_of;

DeepBoltzmann fresh(std::vector<std::size_t> sizes, const Dataset& data) {
  DeepBoltzmann out(std::move(sizes));
  initialise(out, data, first_weight_scale({out.visible(), out.hidden()}), kKey, {});
  return out;
}

Trainer trainer_of(DeepBoltzmann& model, const Dataset& data, const TrainOptions& options, std::uint64_t by_layer) {
  return {std::make_unique<DbmLearner>(model, data, kNone, options, DbmLearning{by_layer, {}}, kKey, Context{}), data,
          options, kKey};
}

bool bit(std::size_t state, std::size_t unit) { return (state >> unit) & 1; }

/// -E of a stage in which one of the layers is two copies with the same parameters, theta being W, b and c.
double minus_energy(const std::vector<double>& theta, std::size_t n, std::size_t m, std::span<const std::size_t> below,
                    std::span<const std::size_t> above) {
  double out = 0.0;
  for (const std::size_t x : below) {
    for (std::size_t i = 0; i < n; ++i) out += bit(x, i) ? theta[n * m + i] : 0.0;
    for (const std::size_t v : above) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < m; ++j) out += bit(x, i) && bit(v, j) ? theta[i * m + j] : 0.0;
      }
    }
  }
  for (const std::size_t v : above) {
    for (std::size_t j = 0; j < m; ++j) out += bit(v, j) ? theta[n * m + n + j] : 0.0;
  }
  return out;
}

/// The mean over rows of log p(x, x) where the lower layer is two copies, or of log p(x) where the upper is: sums over
/// all states.
double mean_log_p(const std::vector<double>& theta, std::size_t n, std::size_t m, bool lower,
                  const std::vector<std::size_t>& rows) {
  const auto log_sum = [&](std::initializer_list<std::size_t> below) {
    double sum = 0.0;
    for (std::size_t v = 0; v < std::size_t{1} << m; ++v) {
      for (std::size_t u = 0; u < (lower ? 1 : std::size_t{1} << m); ++u) {
        const std::size_t above[] = {v, u};
        sum += std::exp(minus_energy(theta, n, m, below, std::span(above).first(lower ? 1 : 2)));
      }
    }
    return std::log(sum);
  };
  double z = 0.0, out = 0.0;
  for (std::size_t x = 0; x < std::size_t{1} << n; ++x) {
    if (!lower) z += std::exp(log_sum({x}));
    for (std::size_t y = 0; lower && y < std::size_t{1} << n; ++y) z += std::exp(log_sum({x, y}));
  }
  for (const std::size_t x : rows) out += lower ? log_sum({x, x}) : log_sum({x});
  return out / static_cast<double>(rows.size()) - std::log(z);
}

/// One copy of the parameters of a stage.
std::vector<double> shared_parameters(const Rbm& rbm, std::size_t n, std::size_t m) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) out.push_back(rbm.weights()(i, j));
  }
  for (std::size_t i = 0; i < n; ++i) out.push_back(rbm.visible_bias()[i]);
  for (std::size_t j = 0; j < m; ++j) out.push_back(rbm.hidden_bias()[j]);
  return out;
}

std::vector<std::size_t> numbers_of(const Bits& rows) {
  std::vector<std::size_t> out;
  for (std::size_t r = 0; r < rows.rows(); ++r) out.push_back(rows.row(r)[0]);
  return out;
}

/// By exact gradients the step of a copied layer's parameters is half of the derivative by what both copies share.
TEST(DbmLearner, TiedCopiesFollowTheGradientOfTheLikelihood) {
  Dataset data{"rows", Bits(4, 3)};
  for (const auto& [r, i] : {std::pair{0, 0}, {1, 0}, {1, 1}, {3, 1}, {3, 2}}) data.bits().set(r, i, true);
  Dbn layers = twin_layers(DeepBoltzmann({3, 2, 2}));
  const DbnLearning learning{.weight_scale = 0.5, .twins = true};
  TrainOptions options = options_of(4);
  options.method = "exact";
  options.batch = 4;
  options.learning_rate = 0.5;
  options.schedule = Schedule::kConstant;
  options.sgd.momentum = 0.0;
  options.uncentred = true;
  initialise(layers, data, learning, kKey, {});
  DbnLearner learner(layers, data, kNone, options, learning, kKey, {});
  Minibatches batches(4, 4, kKey);
  for (std::uint64_t update = 0; update < 4; ++update) {
    const bool lower = update < 2;
    const std::size_t n = lower ? 3 : 2, m = 2, stage = lower ? 0 : 1;
    const std::vector<double> before = shared_parameters(layers.stage(stage), n, m);
    const std::vector<std::size_t> rows =
        numbers_of(lower ? data.bits() : features_of(layers, 1, data, batches.at(update), kKey, update, {}).bits());
    learner.learn({update, batches.epoch_of(update), 0.0, batches.at(update)}, {});
    if (update == 2) continue;  // the stage has begun with other parameters
    const std::vector<double> after = shared_parameters(layers.stage(stage), n, m);
    for (std::size_t k = 0; k < before.size(); ++k) {
      constexpr double kStep = 1e-4;
      std::vector<double> up = before, down = before;
      up[k] += kStep;
      down[k] -= kStep;
      const double derivative =
          (mean_log_p(up, n, m, lower, rows) - mean_log_p(down, n, m, lower, rows)) / (2.0 * kStep);
      const bool once = lower ? k >= n * m + n : k >= n * m && k < n * m + n;  // biases of the layer that is no copy
      // Differences err by their step squared; the step is rounded to float.
      EXPECT_NEAR((after[k] - before[k]) / learner.rate(), (once ? 1.0 : 0.5) * derivative, 1e-6) << update << " " << k;
    }
    const Rbm& rbm = layers.stage(stage);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        EXPECT_EQ(rbm.weights()(i, j), lower ? rbm.weights()(n + i, j) : rbm.weights()(i, m + j));
      }
    }
  }
}

TEST(DbmLearner, TheMachineHasHalfTheEnergyOfAllStages) {
  for (const std::vector<std::size_t>& sizes : {std::vector<std::size_t>{3, 2, 2}, {2, 3, 2, 2}}) {
    DeepBoltzmann machine(sizes);
    Dbn layers = twin_layers(machine);
    const std::size_t depth = machine.depth();
    std::vector<std::vector<double>> thetas;
    std::uint32_t next = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      const std::size_t n = sizes[k], m = sizes[k + 1];
      std::vector<float> theta(n * m + n + m);
      for (float& value : theta) value = static_cast<float>(kKey.at(Purpose::kTest).normal(0, next++));
      layers.edited_stage(k).set([&](Parameters& p) {
        const std::size_t rows = p["visible_bias"].size(), columns = p["hidden_bias"].size();
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < columns; ++j) p["weights"][i * columns + j] = theta[i % n * m + j % m];
          p["visible_bias"][i] = theta[n * m + i % n];
        }
        for (std::size_t j = 0; j < columns; ++j) p["hidden_bias"][j] = theta[n * m + n + j % m];
      });
      thetas.emplace_back(theta.begin(), theta.end());
    }
    join(layers, machine, {});
    for (std::size_t s = 0; s < std::size_t{1} << test::units_of_all(machine); ++s) {
      double expected = 0.0;
      for (std::size_t k = 0, first = 0; k < depth; first += sizes[k++]) {
        const std::size_t x = s >> first, v = x >> sizes[k], below[] = {x, x}, above[] = {v, v};
        expected -= 0.5 * minus_energy(thetas[k], sizes[k], sizes[k + 1], std::span(below).first(k == 0 ? 2 : 1),
                                       std::span(above).first(k + 1 == depth ? 2 : 1));
      }
      // Halves are exact; the mean of two biases is rounded to float.
      EXPECT_NEAR(test::energy_of(machine, test::layers_of(machine, s)), expected, 1e-6);
    }
  }
}

/// The exact mean log-likelihood.
double likelihood(const DeepBoltzmann& machine, const Dataset& data) {
  double z = 0.0, sum = 0.0;
  for (std::size_t x = 0; x < std::size_t{1} << machine.sizes()[0]; ++x) z += std::exp(test::log_sum_at(machine, x));
  for (const std::size_t x : numbers_of(data.bits())) sum += test::log_sum_at(machine, x);
  return sum / static_cast<double>(data.rows()) - std::log(z);
}

TEST(DbmLearner, LayersThatWereTrainedOneByOneMakeAGoodMachine) {
  const Dataset data = bars_and_stripes(2);
  for (const std::vector<std::size_t>& sizes : {std::vector<std::size_t>{4, 5, 3}, {4, 4, 3, 2}}) {
    TrainOptions options = options_of(3000);
    options.batch = data.rows();
    options.chains = 100;
    DeepBoltzmann machine = fresh(sizes, data);
    const double before = likelihood(machine, data);
    trainer_of(machine, data, options, 3000).run([] {}, {});
    const double by_layer = likelihood(machine, data);
    // Independent units have -4 log 2 = -2.77; the best is -1.73.
    EXPECT_GT(by_layer, -4.0 * std::log(2.0) + 0.3);
    EXPECT_GT(by_layer, before + 0.3);
    // All layers together go on from there.
    DeepBoltzmann second = fresh(sizes, data);
    options.updates = 6000;
    trainer_of(second, data, options, 3000).run([] {}, {});
    EXPECT_GT(likelihood(second, data), by_layer);
    EXPECT_GT(likelihood(second, data), -2.0);
  }
}

TEST(DbmLearner, StoppedAfterAnyUpdateItGoesOnToTheSameBytes) {
  const Dataset data = bars_and_stripes(3);
  for (const char* method : {"pcd", "cd"}) {
    TrainOptions options = options_of(12);
    options.method = method;
    DeepBoltzmann whole = fresh({9, 6, 5, 4}, data);
    Trainer all = trainer_of(whole, data, options, 8);
    all.run([] {}, {});
    for (std::uint64_t stop = 1; stop <= 12; ++stop) {
      DeepBoltzmann first = fresh({9, 6, 5, 4}, data), second = first;
      Trainer begun = trainer_of(first, data, options, 8);
      begun.run([] {}, {}, stop);
      Trainer resumed = trainer_of(second, data, options, 8);
      const LearnerState shape = resumed.shape_at(stop).learner, state = begun.state().learner;
      EXPECT_EQ(state.velocity.size(), shape.velocity.size());
      EXPECT_EQ(state.offsets.size(), shape.offsets.size());
      EXPECT_EQ(state.layers.size(), shape.layers.size());
      EXPECT_EQ(state.completed.units(), shape.completed.units());
      ASSERT_EQ(state.chains.layers.size(), shape.chains.layers.size());
      second.update([&](Parameters& p) { p = first.parameters(); }, {});
      resumed.restore(begun.state());
      EXPECT_TRUE(resumed.run([] {}, {}));
      ASSERT_TRUE(std::ranges::equal(second.parameters().values(), whole.parameters().values())) << stop;
      ASSERT_EQ(resumed.records().back().values, all.records().back().values) << stop;
    }
  }
}

TEST(DbmLearner, OnceTheLayersAreTogetherNothingElseIsKept) {
  const Dataset data = bars_and_stripes(3);
  DeepBoltzmann machine = fresh({9, 6, 5}, data);
  Trainer trainer = trainer_of(machine, data, options_of(12), 8);
  trainer.run([] {}, {}, 7);
  const TrainingState before = trainer.state();
  EXPECT_FALSE(before.learner.layers.empty());
  trainer.run([] {}, {}, 1);
  const LearnerState joined = trainer.state().learner;
  EXPECT_TRUE(joined.layers.empty());
  EXPECT_EQ(joined.velocity.size(), machine.parameters().values().size());
  EXPECT_EQ(joined.chains.layers.size(), 2u);
  // There is a way back all the same.
  trainer.restore(before);
  EXPECT_EQ(trainer.state().learner.layers, before.learner.layers);
}

TEST(DbmLearner, DrawsHaveTheProbabilitiesOfMeanField) {
  constexpr std::size_t kRows = 4000;
  const DeepBoltzmann machine = test::some_deep({3, 2, 4, 2, 3}, 0.8, 5);
  Bits rows(kRows, 3);
  for (std::size_t r = 0; r < kRows; ++r) rows.set(r, 1, true);
  const Bits found = drawn_by_mean_field(machine, rows, {kKey, Purpose::kDataHidden}, {});
  ASSERT_EQ(found.cols(), units_of(machine.visible()));
  Matrix<float> x(1, 3);
  x(0, 1) = 1.0f;
  const std::vector<Matrix<float>> means = mean_field(machine, x, 10, {});
  for (std::size_t i = 0; i < found.cols(); ++i) {
    double on = 0.0;
    for (std::size_t r = 0; r < kRows; ++r) on += found.get(r, i) ? 1.0 : 0.0;
    const double p = i < 3 ? (i == 1 ? 1.0 : 0.0) : i < 7 ? means[1](0, i - 3) : means[3](0, i - 7);
    // Rows are independent: the standard error of a share.
    EXPECT_LE(std::abs(on / kRows - p), 4.0 * std::sqrt(p * (1.0 - p) / kRows)) << i;
  }
}

TEST(DbmLearner, RecordsSayWhichLayerTheyAreOf) {
  const Dataset data = bars_and_stripes(3);
  DeepBoltzmann machine = fresh({9, 6, 5}, data);
  TrainOptions options = options_of(12);
  options.record_every = 1;
  Trainer trainer = trainer_of(machine, data, options, 8);
  trainer.run([] {}, {});
  std::vector<std::set<std::string>> names;
  for (const Record& record : trainer.records()) {
    names.emplace_back();
    for (const auto& [name, value] : record.values) names.back().insert(name);
  }
  EXPECT_TRUE(names[3].contains("layer1_reconstruction_error"));
  EXPECT_TRUE(names[5].contains("layer2_reconstruction_error"));
  EXPECT_TRUE(names[9].contains("reconstruction_error"));
}

TEST(DbmLearner, WhatCannotBeLearnedIsRefused) {
  const Dataset data = bars_and_stripes(3);
  DeepBoltzmann machine = fresh({9, 6, 5}, data);
  EXPECT_THROW(trainer_of(machine, data, options_of(12), 1), UsageError);
  EXPECT_THROW(trainer_of(machine, data, options_of(12), 13), UsageError);
  Dataset gaps = data;
  gaps.set_missing(0, 0);
  EXPECT_THROW(trainer_of(machine, gaps, options_of(12), 8), UsageError);
}

}  // namespace
}  // namespace ergodic
