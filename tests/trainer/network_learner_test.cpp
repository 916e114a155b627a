#include "ergodic/trainer/network_learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ergodic/core/threads.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRows = 60, kClasses = 3;

Dataset labelled_rows(std::size_t units) {
  Dataset out{"rows", test::random_matrix(kRows, units, 1)};
  for (std::size_t r = 0; r < kRows; ++r) out.labels.push_back(static_cast<int>(r % kClasses));
  return out;
}

Network random_network(const std::vector<std::size_t>& sizes, Activation activation) {
  Network out(sizes, activation);
  for (std::size_t k = 0; k < out.depth(); ++k) out.randomise(k, Key{2}.at(Purpose::kInitialWeights));
  return out;
}

/// The parameters after some updates, each of twenty rows.
std::vector<float> trained(Network network, const NetworkLearning& options, std::size_t updates, const Context& context,
                           const Dataset* all_rows = nullptr) {
  const Dataset data = labelled_rows(network.inputs());
  Dataset none{"none", Matrix<float>(0, network.inputs())};
  NetworkLearner learner(network, data, none, options, Key{3}, all_rows);
  std::vector<std::uint32_t> rows(20);
  for (std::uint64_t update = 0; update < updates; ++update) {
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(20 * (update % 3)));
    learner.learn({update, 0, 0.05, rows}, context);
  }
  const auto values = network.parameters().values();
  return {values.begin(), values.end()};
}

/// Layers wider and deeper than the blocks that threads take, with edges in between.
TEST(NetworkLearner, LearnsTheSameForAnyNumberOfThreads) {
  const NetworkLearning all{.optimiser = Sgd{0.9}, .dropout = {0.2, 0.5}, .l2 = 1e-3, .max_norm = 1.0};
  NetworkLearning adam = all, adversarial = all;
  adam.optimiser = Adam{};
  adversarial.adversarial = 0.1;
  adversarial.smoothing = 0.1;
  for (const NetworkLearning& options : {NetworkLearning{}, all, adam, adversarial}) {
    for (const Activation activation : {Activation::kRelu, Activation::kSigmoid}) {
      const Network start = random_network({130, 270, 45, kClasses}, activation);
      const std::vector<float> alone = trained(start, options, 4, {});
      for (const std::size_t count : {1u, 2u, 3u}) {
        Threads threads(count);
        EXPECT_EQ(trained(start, options, 4, Context{&threads}), alone) << count;
      }
    }
  }
}

TEST(NetworkLearner, SmoothsOverRowsWithoutLabels) {
  const Network start = random_network({7, 5, kClasses}, Activation::kSigmoid);
  const Dataset same = labelled_rows(7), others{"others", test::random_matrix(9, 7, 5)};
  NetworkLearning smooth;
  smooth.smoothing = 0.2;
  EXPECT_EQ(trained(start, smooth, 2, {}, &same), trained(start, smooth, 2, {}));
  EXPECT_NE(trained(start, smooth, 2, {}, &others), trained(start, smooth, 2, {}));
  EXPECT_EQ(trained(start, {}, 2, {}, &others), trained(start, {}, 2, {}));
}

/// One step from rest by the formulas, in double, given the gradient of the network. The means are those of the batch.
TEST(NetworkLearner, StepsAsDefined) {
  const Network start = random_network({7, 5, kClasses}, Activation::kRelu);
  const NetworkLearning options{.optimiser = Sgd{0.9}, .dropout = {}, .l2 = 0.1, .max_norm = 0.6};
  const std::vector<float> found = trained(start, options, 1, {});

  const Dataset data = labelled_rows(7);
  Network::Pass pass = start.make_pass(20);
  std::ranges::copy(data.reals().elements().first(20 * 7), pass.values[0].data());
  start.forward(pass, {});
  Matrix<float> targets(20, kClasses);
  set_targets(std::span(data.labels).first(20), targets);
  start.backward(pass, targets, {}, {});
  std::vector<float> gradient(found.size());
  start.find_gradient(pass, gradient, {});
  for (std::size_t k = 0; k < start.depth(); ++k) {
    const Slot &weights = start.parameters().slot(Network::weights_slot(k)),
               &bias = start.parameters().slot(Network::bias_slot(k));
    const std::size_t from = start.sizes()[k], to = start.sizes()[k + 1];
    std::vector<double> means(from);
    for (std::size_t r = 0; r < 20; ++r) {
      for (std::size_t i = 0; i < from; ++i) means[i] += pass.values[k](r, i) / 20.0;
    }
    for (std::size_t j = 0; j < to; ++j) {
      const double by_bias = gradient[bias.offset + j];
      std::vector<double> column(from);
      double square = 0.0, moved_field = 0.0;
      for (std::size_t i = 0; i < from; ++i) {
        const std::size_t at = weights.offset + i * to + j;
        const double w = start.parameters().values()[at];
        const double moved = 0.05 * (gradient[at] - means[i] * by_bias - 0.1 * w);
        column[i] = w + moved;
        square += column[i] * column[i];
        moved_field += means[i] * moved;
      }
      EXPECT_NEAR(found[bias.offset + j], 0.05 * by_bias - moved_field, 1e-7);
      const double factor = std::min(1.0, 0.6 / std::sqrt(square));
      for (std::size_t i = 0; i < from; ++i) {
        EXPECT_NEAR(found[weights.offset + i * to + j], factor * column[i], 1e-6);  // a few roundoffs of float
      }
    }
  }
}

TEST(NetworkLearner, GathersInputsOfEachKind) {
  const std::vector<std::uint32_t> rows{2, 0};
  Dataset reals{"reals", Matrix<float>(3, 2)};
  reals.reals()(2, 1) = -1.5f;
  Dataset grey{"grey", Matrix<Grey>(3, 2)};
  grey.grey()(2, 1) = kFullGrey;
  Dataset bits{"bits", Bits(3, 2)};
  bits.bits().set(2, 1, true);
  for (const auto& [data, value] : {std::pair{&reals, -1.5f}, {&grey, 1.0f}, {&bits, 1.0f}}) {
    Matrix<float> found(2, 2);
    std::ranges::fill(found.elements(), 9.0f);
    gather_inputs(*data, rows, found);
    EXPECT_EQ(found(0, 1), value);
    EXPECT_EQ(found(0, 0), 0.0f);
    EXPECT_EQ(found(1, 1), 0.0f);
  }
}

TEST(NetworkLearner, AMissingInputIsAHalf) {
  Dataset data{"bits", Bits(2, 2)};
  data.bits().set(0, 0, true);
  data.bits().set(1, 0, true);
  data.set_missing(0, 1);
  Matrix<float> found(2, 2);
  gather_inputs(data, std::vector<std::uint32_t>{0, 1}, found);
  EXPECT_TRUE(std::ranges::equal(found.elements(), std::vector<float>{1, 0.5f, 1, 0}));
}

}  // namespace
}  // namespace ergodic
