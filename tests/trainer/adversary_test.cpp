#include "ergodic/trainer/adversary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRows = 50, kInputs = 12, kClasses = 3, kFound = 400;

Network some_network() {
  Network out({kInputs, 9, kClasses}, Activation::kSigmoid);
  for (std::size_t k = 0; k < out.depth(); ++k) out.randomise(k, Key{2}.at(Purpose::kInitialWeights));
  return out;
}

double divergence(std::span<const float> from, std::span<const float> to) {
  double out = 0.0;
  for (std::size_t c = 0; c < from.size(); ++c) out += from[c] * std::log(double{from[c]} / double{to[c]});
  return out;
}

/// Of log p(y | x) by the inputs.
Matrix<float> gradient_of_log(const Network& network, std::span<const float> row, std::size_t y) {
  Network::Pass pass = network.make_pass(1);
  std::ranges::copy(row, pass.values[0].data());
  network.forward(pass, {});
  Matrix<float> target(1, kClasses), out(1, kInputs);
  target(0, y) = 1.0f;
  network.backward(pass, target, {}, {});
  network.find_input_gradient(pass, out, {});
  return out;
}

TEST(Reach, MovesRowsAlongTheirSlopesAndLeavesThoseWhoseSlopesVanish) {
  const Dataset data{"rows", test::random_matrix(kRows, kInputs, 1)};
  const Reach reach(data, kInputs, 0.5);
  const Matrix<float> before = test::random_matrix(4, kInputs, 2);
  Matrix<float> rows = before, slopes(4, kInputs);
  slopes(0, 3) = -2.0f;
  slopes(1, 3) = 1e-30f;
  slopes(2, 3) = 1e-44f;  // smaller than one over any float, as of a network that is sure of each label
  reach.move(slopes, rows, {});
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      const double way = i != 3 || r > 1 ? 0.0 : r == 0 ? reach.length() : -reach.length();
      EXPECT_NEAR(rows(r, i), before(r, i) + way, 1e-5) << r << " " << i;
    }
  }
}

TEST(VirtualAdversary, MovesRowsToWhereTheNetworkSaysSomethingElse) {
  const Network network = some_network();
  const Dataset data{"rows", test::random_matrix(kRows, kInputs, 1)};
  constexpr double kShare = 0.05;
  VirtualAdversary adversary(data, kShare, Key{3});
  const double reach = Reach(data, kInputs, kShare).length();
  Matrix<float> moved(kFound, kInputs), before(kFound, kClasses);
  adversary.find(network, {{}, Key{3}.at(Purpose::kDropout)}, 7, moved, before, {});

  const Matrix<float> unmoved = class_probabilities(network, data.reals(), {}),
                      after = class_probabilities(network, moved, {});
  double found = 0.0, trace = 0.0;
  std::size_t other_rows = 0;
  for (std::size_t r = 0; r < kFound; ++r) {
    const std::span<const float> said = std::as_const(before).row(r);
    std::size_t row = 0;
    while (row < kRows && !std::ranges::equal(unmoved.row(row), said)) ++row;
    ASSERT_LT(row, kRows) << "p(y | x) is that of a row of the data";
    other_rows += row != r ? 1 : 0;
    double square = 0.0;
    for (std::size_t i = 0; i < kInputs; ++i) square += std::pow(moved(r, i) - data.reals()(row, i), 2.0);
    EXPECT_NEAR(std::sqrt(square), reach, 1e-5);

    found += divergence(said, std::as_const(after).row(r));
    // For short moves d the divergence is d' H d / 2, H = sum_y p(y | x) g_y g_y', g_y being the gradient of log p(y |
    // x).
    for (std::size_t c = 0; c < kClasses; ++c) {
      const Matrix<float> slopes = gradient_of_log(network, data.reals().row(row), c);
      for (const float slope : slopes.elements()) {
        trace += double{said[c]} * double{slope} * double{slope};
      }
    }
  }
  // A random direction reaches reach^2 trace(H) / 2 / inputs on average. H has the rank 2 = classes - 1, and a move to
  // H d / |H d|, d being random, lies in these two dimensions, rather along the steeper one: at least inputs / 2 times
  // as much. Four hundred rows tell it from anything that ignores H.
  const double at_random = reach * reach * trace / 2.0 / kInputs;
  EXPECT_GT(found, kInputs / 2.0 * at_random);
  EXPECT_LT(found, kInputs * at_random);  // that of the steepest direction, if the other were flat
  EXPECT_GT(other_rows, kFound / 2);      // they are drawn
}

/// Along the differences of log p(y | x) by each input.
TEST(Adversary, MovesRowsToWhereTheirLabelIsLessProbable) {
  constexpr double kShare = 0.3;
  constexpr float kSmall = 1e-2f;
  const Network network = some_network();
  const Dataset data{"rows", test::random_matrix(kRows, kInputs, 1)};
  std::vector<int> labels(kRows);
  for (std::size_t r = 0; r < kRows; ++r) labels[r] = static_cast<int>(r % kClasses);
  Matrix<float> targets(kRows, kClasses), moved = data.reals();
  set_targets(labels, targets);
  Adversary(data, kShare).move(network, {{}, Key{3}.at(Purpose::kDropout)}, targets, moved, {});

  const auto log_probability = [&](std::size_t r, std::size_t i, float change) {
    Matrix<float> row(1, kInputs);
    std::ranges::copy(data.reals().row(r), row.data());
    row(0, i) += change;
    return std::log(double{class_probabilities(network, row, {})(0, static_cast<std::size_t>(labels[r]))});
  };
  const double reach = Reach(data, kInputs, kShare).length();
  for (std::size_t r = 0; r < kRows; ++r) {
    double slope_square = 0.0, change_square = 0.0, product = 0.0;
    for (std::size_t i = 0; i < kInputs; ++i) {
      const double slope = log_probability(r, i, kSmall) - log_probability(r, i, -kSmall);
      const double change = moved(r, i) - data.reals()(r, i);
      slope_square += slope * slope;
      change_square += change * change;
      product += slope * change;
    }
    EXPECT_NEAR(std::sqrt(change_square), reach, 1e-5);
    // A difference is off by the curvature, some kSmall^2 of a slope, and by the rounding of floats, 1e-7 / kSmall.
    EXPECT_LT(product / std::sqrt(slope_square * change_square), -1.0 + 1e-3);
  }
}

TEST(SignedReach, MovesEachInputByItsDeviationAgainstItsSlope) {
  Dataset data{"rows", Matrix<float>(2, 3)};
  data.reals()(0, 0) = 3.0f;
  data.reals()(1, 0) = -3.0f;
  data.reals()(0, 1) = 5.0f;
  data.reals()(1, 1) = -3.0f;  // deviations of 3, 4 and 0
  Matrix<float> slopes(1, 3), x(1, 3);
  slopes(0, 0) = 7.0f;
  slopes(0, 1) = slopes(0, 2) = -0.1f;
  SignedReach(data, 3, 0.5).move(slopes, x, {});
  EXPECT_NEAR(x(0, 0), -1.5, 1e-6);
  EXPECT_NEAR(x(0, 1), 2.0, 1e-6);
  EXPECT_EQ(x(0, 2), 0.0f);
}

TEST(Reach, IsAShareOfTheDeviationOfRows) {
  Dataset data{"rows", Matrix<float>(2, 2)};
  data.reals()(0, 0) = 3.0f;
  data.reals()(1, 0) = -3.0f;
  data.reals()(0, 1) = 5.0f;
  data.reals()(1, 1) = -3.0f;  // a mean of 1, and deviations of 3 and 4
  EXPECT_NEAR(Reach(data, 2, 0.5).length(), 2.5, 1e-6);
}

}  // namespace
}  // namespace ergodic
