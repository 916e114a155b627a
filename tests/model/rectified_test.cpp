#include "ergodic/model/rectified.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix;

Network random_sigmoids(std::vector<std::size_t> sizes, float bias, std::uint64_t seed) {
  Network out(std::move(sizes), Activation::kSigmoid);
  for (std::size_t k = 0; k < out.depth(); ++k) {
    const std::size_t from = out.sizes()[k], to = out.sizes()[k + 1];
    const float scale = 2.0f / std::sqrt(static_cast<float>(from));
    out.set_layer(k, {random_matrix(from, to, seed + k, scale), std::vector<float>(to, bias)});
  }
  return out;
}

/// One input of two values gives every field two values, and a line goes through two points: nothing is lost if one of
/// them is above zero.
TEST(Rectified, TwoValuesAreKept) {
  const Network sigmoids = random_sigmoids({1, 4, 3, 2}, 5.0f, 7);
  Matrix<float> rows(2, 1);
  rows(1, 0) = 1.0f;
  const Network found = rectified(sigmoids, rows, {});
  EXPECT_EQ(found.activation(), Activation::kRelu);
  const Matrix<float> truth = class_probabilities(sigmoids, rows, {}), near = class_probabilities(found, rows, {});
  for (std::size_t k = 0; k < truth.elements().size(); ++k) {
    EXPECT_NEAR(near.elements()[k], truth.elements()[k], 1e-4);  // some ten roundings of numbers up to 100
  }
}

/// A line by least squares keeps the mean: so do the fields of the layer above, and with them the mean log odds of
/// classes, whose fields they are.
TEST(Rectified, KeepsTheMeanFieldsAbove) {
  constexpr std::size_t kClasses = 3;
  const Network sigmoids = random_sigmoids({20, 15, kClasses}, 0.0f, 11);
  const Matrix<float> rows = random_matrix(1000, 20, 12);
  const auto mean_log_odds = [&](const Network& network, std::size_t y) {
    const Matrix<float> p = class_probabilities(network, rows, {});
    double sum = 0.0;
    for (std::size_t r = 0; r < p.rows(); ++r) sum += std::log(p(r, y)) - std::log(p(r, 0));
    return sum / static_cast<double>(p.rows());
  };
  const Network found = rectified(sigmoids, rows, {});
  for (std::size_t y = 1; y < kClasses; ++y) {
    EXPECT_NEAR(mean_log_odds(found, y), mean_log_odds(sigmoids, y), 1e-5);  // roundoffs of a few numbers of size 1
  }
}

/// On other rows than those that the lines are of. Fields are normal with a deviation of 2, for which sigma(f) and
/// max(0, f) have a correlation of 0.826; over 1000 rows a standard error of (1 - 0.826^2) / sqrt(1000) = 0.01.
TEST(Rectified, UnitsFollowTheSigmoids) {
  const Network sigmoids = random_sigmoids({20, 15, 3}, 0.0f, 11);
  const Network found = rectified(sigmoids, random_matrix(1000, 20, 12), {});
  const auto hidden = [](const Network& network, const Matrix<float>& rows) {
    Network::Pass pass = network.make_pass(rows.rows());
    std::ranges::copy(rows.elements(), pass.values[0].data());
    network.forward(pass, {});
    return pass.values[1];
  };
  const Matrix<float> rows = random_matrix(1000, 20, 13), truth = hidden(sigmoids, rows), near = hidden(found, rows);
  for (std::size_t j = 0; j < truth.cols(); ++j) {
    double x = 0.0, y = 0.0, xx = 0.0, yy = 0.0, xy = 0.0;
    for (std::size_t r = 0; r < truth.rows(); ++r) {
      const double a = near(r, j), b = truth(r, j);
      x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    const auto n = static_cast<double>(truth.rows());
    const double correlation = (xy - x * y / n) / std::sqrt((xx - x * x / n) * (yy - y * y / n));
    EXPECT_NEAR(correlation, 0.826, 0.04)
        << j;  // columns of weights have other lengths than 2, which changes it by 0.02
  }
}

/// A unit that is never on stays off, and what it is on average goes to the layer above.
TEST(Rectified, AUnitThatIsNeverOnIsItsMean) {
  Network sigmoids({1, 1, 2}, Activation::kSigmoid);
  Matrix<float> down(1, 1), up(1, 2);
  down(0, 0) = -1.0f;
  up(0, 0) = 3.0f;
  sigmoids.set_layer(0, {down, {-1.0f}});
  sigmoids.set_layer(1, {up, {0.0f, 0.0f}});
  Matrix<float> rows(2, 1);
  rows(1, 0) = 1.0f;
  const Network found = rectified(sigmoids, rows, {});
  const double mean = 0.5 / (1.0 + std::exp(1.0)) + 0.5 / (1.0 + std::exp(2.0));
  EXPECT_NEAR(found.parameters()[Network::bias_slot(1)][0], 3.0 * mean, 1e-6);
  EXPECT_NEAR(found.weights(0)(0, 0), -0.25, 1e-7);
}

/// One row of a thousand is barely on: through it the line would have a slope of 0.48 / 0.01.
TEST(Rectified, AUnitThatIsSeldomOnIsNotSteep) {
  constexpr std::size_t kRows = 1000;
  Network sigmoids({1, 1, 2}, Activation::kSigmoid);
  Matrix<float> down(1, 1), up(1, 2);
  down(0, 0) = 4.01f;
  up(0, 0) = 3.0f;
  sigmoids.set_layer(0, {down, {-4.0f}});
  sigmoids.set_layer(1, {up, {0.0f, 0.0f}});
  Matrix<float> rows(kRows, 1);
  rows(0, 0) = 1.0f;
  const Network found = rectified(sigmoids, rows, {});
  EXPECT_NEAR(found.weights(0)(0, 0), 4.01, 1e-5);  // a slope of 1
  const double mean = (1.0 / (1.0 + std::exp(-0.01)) + (kRows - 1) / (1.0 + std::exp(4.0))) / kRows;
  EXPECT_NEAR(found.parameters()[Network::bias_slot(1)][0], 3.0 * (mean - 0.01 / kRows), 1e-5);
}

}  // namespace
}  // namespace ergodic
