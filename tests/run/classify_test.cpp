#include "ergodic/run/classify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"

namespace ergodic {
namespace {

/// Rows of four bits that are all on in class 1 and off in class 0, but for one that is drawn.
Dataset blocks(std::size_t rows) {
  Bits bits(rows, 4);
  Dataset out;
  const Draw draw = Key{1}.at(Purpose::kTest);
  for (std::size_t r = 0; r < rows; ++r) {
    out.labels.push_back(static_cast<int>(r % 2));
    const std::uint64_t drawn = draw.below(4, static_cast<std::uint32_t>(r), 0);
    for (std::size_t i = 0; i < 4; ++i) bits.set(r, i, i == drawn ? r % 3 == 0 : r % 2 == 1);
  }
  out.name = "blocks";
  out.values = std::move(bits);
  return out;
}

TEST(Judge, CountsMistakesAndTheirCosts) {
  Matrix<float> p(4, 2);
  for (std::size_t r = 0; r < 4; ++r) {
    p(r, 0) = r < 2 ? 0.9f : 0.2f;
    p(r, 1) = 1.0f - p(r, 0);
  }
  const std::vector<int> labels{0, 1, 1, 1};
  const ClassifierReport report = judge(p, labels);
  EXPECT_EQ(report.rows, 4u);
  EXPECT_DOUBLE_EQ(report.scores.error, 0.25);
  EXPECT_NEAR(report.scores.log_loss, -(std::log(0.9) + std::log(0.1) + 2 * std::log(0.8)) / 4, 1e-6);
  // Two rows of confidence 0.9 of which one is right, two of 0.8 that both are: |1.8 - 1| + |1.6 - 2| over four rows.
  EXPECT_NEAR(report.calibration, 0.3, 1e-6);
  EXPECT_EQ(report.confusion(1, 0), 1u);
  EXPECT_EQ(report.confusion(1, 1), 2u);
  // Wilson's interval of 1 in 4.
  EXPECT_NEAR(report.error_lower, 0.0456, 1e-4);
  EXPECT_NEAR(report.error_upper, 0.6994, 1e-4);
}

TEST(RowsPerClass, AreAsManyAsAskedFor) {
  const Dataset data = blocks(40);
  const Dataset few = rows_per_class(data, 3, Key{2});
  EXPECT_EQ(few.rows(), 6u);
  EXPECT_EQ(std::ranges::count(few.labels, 1), 3);
  EXPECT_THROW(rows_per_class(data, 21, Key{2}), DataError);
}

TEST(ClassifierFit, CanBeStoppedAndContinuedToTheSameBytes) {
  const TrainingData data = training_data(blocks(60), 0.2, Key{3});
  ClassifierOptions options;
  options.training.batch = 10;
  options.training.epochs = 6;
  options.network.smoothing = 0.1;
  const std::vector<std::uint64_t> hidden{5};
  const auto fresh = [&] { return random_network(4, hidden, 2, Activation::kSigmoid, Key{3}); };
  Network whole = fresh(), first = fresh(), second = fresh();
  ASSERT_TRUE(ClassifierFit(whole, data, options, Key{3}).run([] {}, {}));
  ClassifierFit before(first, data, options, Key{3});
  EXPECT_FALSE(before.run([] {}, {}, 17));
  ClassifierFit after(second, data, options, Key{3});
  after.restore(first.parameters(), before.state());
  EXPECT_TRUE(after.run([] {}, {}));
  EXPECT_TRUE(std::ranges::equal(second.parameters().values(), whole.parameters().values()));
}

TEST(ClassifierFit, TrainsAgainstAnAdversaryUnlessTheSoftmaxLearnsAlone) {
  const TrainingData data{blocks(20), {}};
  const auto adversarial = [&](const std::vector<std::uint64_t>& hidden, bool frozen) {
    Network network = random_network(4, hidden, 2, Activation::kSigmoid, Key{3});
    ClassifierOptions options;
    options.network.frozen = frozen;
    return ClassifierFit(network, data, options, Key{3}).options().network.adversarial;
  };
  EXPECT_EQ(adversarial({5}, false), 0.2);
  EXPECT_EQ(adversarial({5}, true), 0.0);
  EXPECT_EQ(adversarial({}, false), 0.0);
}

TEST(ClassifierOptions, RatesAreLowerWhereUnitsAreNotBoundedOrLeftOut) {
  const auto rate = [](Activation activation, const Optimiser& optimiser, const Dropout& dropout) {
    ClassifierOptions options;
    options.network.optimiser = optimiser;
    options.network.dropout = dropout;
    return *settled(options, activation, 2, 1000, 1000).training.learning_rate;
  };
  EXPECT_EQ(rate(Activation::kSigmoid, Sgd{0.9}, {}), 0.4);
  EXPECT_EQ(rate(Activation::kRelu, Sgd{0.9}, {}), 0.1);
  EXPECT_EQ(rate(Activation::kSigmoid, Sgd{0.9}, {0.2, 0.5}), 0.1);
  EXPECT_EQ(rate(Activation::kRelu, Sgd{0.9}, {0.2, 0.5}), 0.05);
  EXPECT_EQ(rate(Activation::kSigmoid, Adam{}, {}), 0.001);
}

TEST(Activation, IsRectifiedWhereManyLabelsAreLearned) {
  EXPECT_EQ(settled_activation({}, false, 50000), Activation::kRelu);
  EXPECT_EQ(settled_activation({}, false, 100), Activation::kSigmoid);
  EXPECT_EQ(settled_activation({}, true, 50000), Activation::kSigmoid);
  EXPECT_EQ(settled_activation(Activation::kRelu, true, 100), Activation::kRelu);
}

TEST(ClassifierOptions, RowsWithoutALabelAreSmoothedOver) {
  const auto smoothing = [](bool frozen, std::size_t all_rows) {
    ClassifierOptions options;
    options.network.frozen = frozen;
    return settled(options, Activation::kSigmoid, 2, 100, all_rows).network.smoothing;
  };
  EXPECT_EQ(smoothing(false, 1000), 0.3);
  EXPECT_EQ(smoothing(false, 100), 0.0);
  EXPECT_EQ(smoothing(true, 1000), 0.0);
  EXPECT_EQ(settled({}, Activation::kSigmoid, 2, 100, 1000).training.updates, 6000u);
}

TEST(ClassifierOptions, RowsUnderWayAreThoseOfTheBatchAndOfAdversaries) {
  const auto rows = [](double adversarial, double smoothing) {
    ClassifierOptions options;
    options.training.batch = 50;
    options.network.adversarial = adversarial;
    options.network.smoothing = smoothing;
    return rows_under_way(settled(options, Activation::kSigmoid, 2, 1000, 1000));
  };
  EXPECT_EQ(rows(0.0, 0.0), 50u);
  EXPECT_EQ(rows(0.2, 0.0), 100u);
  EXPECT_EQ(rows(0.2, 0.3), 200u);
}

TEST(PretrainingOptions, LastLongerAndTakeLongerStepsUnlessGiven) {
  const TrainingData data{bars_and_stripes(3), {}};
  const auto rbm = machine_to_pretrain("rbm", std::vector<std::uint64_t>{8}, data, Key{1}, {});
  const TrainDefaults alone = train_defaults(*rbm, data.train, {});
  const TrainOptions found = pretraining_options(*rbm, data.train, {}, {});
  EXPECT_EQ(found.updates, 2 * alone.updates);
  EXPECT_DOUBLE_EQ(*found.learning_rate, 6 * alone.learning_rate);
  const TrainOptions given = pretraining_options(*rbm, data.train, 7, 0.5);
  EXPECT_EQ(given.updates, 7u);
  EXPECT_EQ(given.learning_rate, 0.5);
}

TEST(NetworkFrom, AMachineWithoutHiddenUnitsIsRefused) {
  const Dataset data = blocks(10);
  const auto graph = kind_named("boltzmann").make({}, data, Key{1}, {});
  EXPECT_THROW(network_from(*graph, data, 2, Activation::kSigmoid, {}), UsageError);
  const auto rbm = kind_named("rbm").make({{"hidden", std::uint64_t{3}}}, data, Key{1}, {});
  EXPECT_EQ(network_from(*rbm, data, 2, Activation::kSigmoid, {}).sizes(), (std::vector<std::size_t>{4, 3, 2}));
  EXPECT_THROW(network_from(*rbm, bars_and_stripes(3), 2, Activation::kSigmoid, {}), UsageError);
}

/// Rectified units begin close to the sigmoids, and the softmax without weights.
TEST(NetworkFrom, UnitsMayBeRectified) {
  const Dataset data = blocks(10);
  const auto rbm = kind_named("rbm").make({{"hidden", std::uint64_t{3}}}, data, Key{1}, {});
  const Network network = network_from(*rbm, data, 2, Activation::kRelu, {});
  EXPECT_EQ(network.activation(), Activation::kRelu);
  EXPECT_EQ(network.sizes(), (std::vector<std::size_t>{4, 3, 2}));
  for (const float weight : network.weights(1).elements()) EXPECT_EQ(weight, 0.0f);
}

/// A network of the layers of a deep machine computes nearly what mean field finds.
TEST(NetworkFrom, ADeepMachineIsApproximatedLayerByLayer) {
  const TrainingData data{bars_and_stripes(3), {}};
  const auto machine = machine_to_pretrain("dbm", std::vector<std::uint64_t>{8, 6}, data, Key{1}, {});
  TrainOptions options;
  options.updates = 2000;
  fit(*machine, data, options, Key{1}, {});
  const Network network = network_from(*machine, data.train, 2, Activation::kSigmoid, {});
  EXPECT_EQ(network.sizes(), (std::vector<std::size_t>{9, 8, 6, 2}));
  const State rows = all_rows(machine->visible(), data.train, Key{});
  const Matrix<float> truth = *machine->hidden_means(rows, 1, {});
  Network::Pass pass = network.make_pass(rows.chains());
  std::ranges::copy(plain_values(rows).elements(), pass.values[0].data());
  network.forward(pass, {});
  double found = 0.0, all = 0.0;  // squared differences from mean field, and from the mean over rows
  for (std::size_t j = 0; j < 8; ++j) {
    double mean = 0.0;
    for (std::size_t r = 0; r < truth.rows(); ++r) mean += truth(r, j) / static_cast<double>(truth.rows());
    for (std::size_t r = 0; r < truth.rows(); ++r) {
      found += std::pow(pass.values[1](r, j) - truth(r, j), 2);
      all += std::pow(mean - truth(r, j), 2);
    }
  }
  EXPECT_LT(found, 0.1 * all);
}

TEST(MachineToPretrain, KindsThatHaveOneHiddenLayerRefuseTwo) {
  const TrainingData data{blocks(10), {}};
  const std::vector<std::uint64_t> two{4, 3};
  EXPECT_THROW(machine_to_pretrain("class-rbm", two, data, Key{1}, {}), UsageError);
  EXPECT_EQ(machine_to_pretrain("dbm", two, data, Key{1}, {})->kind().name, "dbm");
  EXPECT_EQ(machine_to_pretrain("rbm", std::vector<std::uint64_t>{4}, data, Key{1}, {})->kind().name, "rbm");
}

}  // namespace
}  // namespace ergodic
