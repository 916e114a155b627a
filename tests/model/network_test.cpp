#include "ergodic/model/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ergodic/core/threads.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix;

/// A network with random weights and biases in all layers.
Network random_network(std::vector<std::size_t> sizes, Activation activation, std::uint64_t seed) {
  Network out(std::move(sizes), activation);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t k = 0; k < out.parameters().values().size(); ++k) {
    out.parameters().values()[k] = 0.7f * static_cast<float>(draw.normal(2, static_cast<std::uint32_t>(k)));
  }
  return out;
}

/// p(y | x) in double, from the formula.
std::vector<double> defined_probabilities(const Network& network, std::span<const float> x) {
  std::vector<double> values(x.begin(), x.end());
  for (std::size_t k = 0; k < network.depth(); ++k) {
    const auto weights = network.weights(k);
    const std::span<const float> bias = network.parameters()[Network::bias_slot(k)];
    std::vector<double> above(bias.begin(), bias.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = 0; j < above.size(); ++j) above[j] += values[i] * weights(i, j);
    }
    const bool last = k + 1 == network.depth();
    for (double& value : above) {
      if (last) {
        value = std::exp(value);
      } else {
        value = network.activation() == Activation::kRelu ? std::max(value, 0.0) : 1.0 / (1.0 + std::exp(-value));
      }
    }
    values = above;
  }
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value /= total;
  return values;
}

class Networks : public testing::TestWithParam<Activation> {};

TEST_P(Networks, ProbabilitiesAreThoseOfTheFormula) {
  const Network network = random_network({5, 7, 4, 3}, GetParam(), 1);
  const Matrix<float> x = random_matrix(20, 5, 2);
  const Matrix<float> found = class_probabilities(network, x, {});
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const std::vector<double> defined = defined_probabilities(network, x.row(r));
    for (std::size_t c = 0; c < defined.size(); ++c) EXPECT_NEAR(found(r, c), defined[c], 1e-6);
  }
}

Matrix<float> targets_of(std::span<const int> labels, std::size_t classes) {
  Matrix<float> out(labels.size(), classes);
  set_targets(labels, out);
  return out;
}

/// The mean of log p(y | x) in double, with the same units left out as in the pass.
double mean_log_probability(const Network& network, const Matrix<float>& x, std::span<const int> labels) {
  double sum = 0.0;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    sum += std::log(defined_probabilities(network, x.row(r))[static_cast<std::size_t>(labels[r])]);
  }
  return sum / static_cast<double>(x.rows());
}

TEST_P(Networks, GradientsAreThoseOfDifferences) {
  Network network = random_network({5, 7, 4, 3}, GetParam(), 3);
  Matrix<float> x = random_matrix(6, 5, 4);
  const std::vector<int> labels{0, 1, 2, 2, 1, 0};
  Network::Pass pass = network.make_pass(6);
  std::ranges::copy(x.elements(), pass.values[0].data());
  network.forward(pass, {});
  std::vector<float> gradient(network.parameters().values().size());
  network.backward(pass, targets_of(labels, 3), {}, {});
  network.find_gradient(pass, gradient, {});
  const auto expect_slope = [&](float slope, float& number) {
    const float before = number, step = 1e-3f;
    number = before + step;
    const double above = mean_log_probability(network, x, labels), high = number;
    number = before - step;
    const double below = mean_log_probability(network, x, labels), low = number;
    number = before;
    // The difference is off by h^2 f''' / 6, some 1e-6; the gradient by roundoffs of float.
    EXPECT_NEAR(slope, (above - below) / (high - low), 2e-5);
  };
  for (std::size_t k = 0; k < gradient.size(); ++k) expect_slope(gradient[k], network.parameters().values()[k]);
  Matrix<float> by_inputs(6, 5);
  network.find_input_gradient(pass, by_inputs, {});
  for (std::size_t k = 0; k < x.elements().size(); ++k) expect_slope(by_inputs.elements()[k], x.elements()[k]);
}

/// With dropout the gradient is that of the thinned network: checked along the step that the gradient makes.
TEST_P(Networks, GradientsWithDropoutClimb) {
  Network network = random_network({20, 30, 3}, GetParam(), 5);
  const Matrix<float> x = random_matrix(8, 20, 6);
  const std::vector<int> labels{0, 1, 2, 0, 1, 2, 0, 1};
  const Dropout dropout{0.25, 0.5};
  const Draw draw = Key{1}.at(Purpose::kDropout);
  Network::Pass pass = network.make_pass(8);
  const auto mean_log_p = [&] {
    std::ranges::copy(x.elements(), pass.values[0].data());
    network.forward(pass, dropout, draw, {});
    double sum = 0.0;
    for (std::size_t r = 0; r < 8; ++r) sum += std::log(pass.values.back()(r, static_cast<std::size_t>(labels[r])));
    return sum / 8.0;
  };
  const double before = mean_log_p();
  std::vector<float> gradient(network.parameters().values().size());
  network.backward(pass, targets_of(labels, 3), dropout, {});
  network.find_gradient(pass, gradient, {});
  double square = 0.0;
  const float step = 1e-3f;
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    square += double{gradient[k]} * gradient[k];
    network.parameters().values()[k] += step * gradient[k];
  }
  // To first order the step gains step * |gradient|^2.
  EXPECT_NEAR((mean_log_p() - before) / (step * square), 1.0, 0.02);
}

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::Values(Activation::kSigmoid, Activation::kRelu));

TEST(Network, DropoutLeavesOutItsShareAndKeepsTheMean) {
  Network network({2000, 10, 2}, Activation::kRelu);
  Network::Pass pass = network.make_pass(50);
  std::ranges::fill(pass.values[0].elements(), 1.0f);
  network.forward(pass, {0.2, 0.0}, Key{7}.at(Purpose::kDropout), {});
  const auto values = std::as_const(pass.values[0]).elements();
  const auto dropped = static_cast<double>(std::ranges::count(values, 0.0f)) / static_cast<double>(values.size());
  EXPECT_NEAR(dropped, 0.2, 4 * std::sqrt(0.2 * 0.8 / 1e5));  // four standard errors of 100,000 units
  EXPECT_TRUE(std::ranges::all_of(values, [](float v) { return v == 0.0f || v == 1.25f; }));
}

TEST(Network, GradientsAreTheSameForAnyNumberOfThreads) {
  const Network network = random_network({70, 40, 5}, Activation::kSigmoid, 8);
  const Matrix<float> x = random_matrix(50, 70, 9);
  std::vector<int> labels(50);
  for (std::size_t r = 0; r < 50; ++r) labels[r] = static_cast<int>(r % 5);
  const auto gradient_by = [&](std::size_t count) {
    Threads threads(count);
    const Context context{&threads};
    Network::Pass pass = network.make_pass(50);
    std::ranges::copy(x.elements(), pass.values[0].data());
    const Dropout dropout{0.1, 0.3};
    network.forward(pass, dropout, Key{2}.at(Purpose::kDropout), context);
    network.backward(pass, targets_of(labels, 5), dropout, context);
    std::vector<float> out(network.parameters().values().size());
    network.find_gradient(pass, out, context);
    return out;
  };
  EXPECT_EQ(gradient_by(1), gradient_by(2));
  EXPECT_EQ(gradient_by(1), gradient_by(3));
}

}  // namespace
}  // namespace ergodic
