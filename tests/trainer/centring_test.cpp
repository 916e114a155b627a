#include "ergodic/trainer/centring.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "ergodic/model/exact_rbm.hpp"

namespace ergodic {
namespace {

TEST(Conditioning, WithoutOffsetsAndDecayTheGradientOfZeroOneUnitsStaysAsItIs) {
  const Rbm rbm = test::random_machine(Bernoulli{4}, Bernoulli{3}, 1.0, 1);
  Statistics gradient(4 * 3 + 4 + 3);
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] = static_cast<double>(k) - 5.0;
  const Statistics before = gradient;
  condition(rbm, gaps_of(rbm, {}), std::vector<double>(4), std::vector<double>(3), {}, gradient, {});
  EXPECT_EQ(gradient, before);
}

TEST(Conditioning, DecayPullsWeightsToZeroByTheirSignAndTheirSize) {
  for (const float weight : {2.0f, -2.0f, 0.0f}) {
    Rbm rbm(Bernoulli{1}, Bernoulli{1});
    rbm.update([&](Parameters& p) { p["weights"][0] = weight; }, {});
    const double sign = weight > 0 ? 1.0 : weight < 0 ? -1.0 : 0.0;
    const std::vector<double> none(1);
    Statistics by_sign(3), by_size(3);
    condition(rbm, gaps_of(rbm, {}), none, none, {0.25, 0.0}, by_sign, {});
    condition(rbm, gaps_of(rbm, {}), none, none, {0.0, 0.25}, by_size, {});
    EXPECT_DOUBLE_EQ(by_sign[0], -0.25 * sign);
    EXPECT_DOUBLE_EQ(by_size[0], -0.25 * weight);
    for (const std::size_t bias : {1u, 2u}) {
      EXPECT_EQ(by_sign[bias], 0.0);
      EXPECT_EQ(by_size[bias], 0.0);
    }
  }
}

TEST(Conditioning, ACentredStepIsAPlainStepOfTheCentredMachine) {
  // In E = -(x - mu)'W(v - lambda) - b'x - c'v the gradient is that of centred statistics. Expressed in plain biases
  // b - W lambda and c - W'mu, a small step along it must agree with `condition`.
  const Rbm rbm = test::random_machine(Bernoulli{3}, Bernoulli{2}, 1.0, 2);
  const std::vector<double> mu{0.1, 0.5, 0.8}, lambda{0.3, 0.6};
  const test::BruteForce truth(rbm);
  const std::size_t datum = 5;
  const double p = truth.probability(datum);
  Statistics gradient =
      truth.statistics([&](std::size_t x, std::size_t v) { return x == datum ? truth.joint(x, v) / p : 0.0; });
  const auto model = truth.statistics([&](std::size_t x, std::size_t v) { return truth.joint(x, v); });
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] -= model[k];
  const Statistics plain = gradient;
  condition(rbm, gaps_of(rbm, {}), mu, lambda, {}, gradient, {});
  for (std::size_t i = 0; i < 3; ++i) {
    double bias_step = plain[6 + i];
    for (std::size_t j = 0; j < 2; ++j) {
      const double centred = plain[i * 2 + j] - mu[i] * plain[9 + j] - plain[6 + i] * lambda[j];
      EXPECT_NEAR(gradient[i * 2 + j], centred, 1e-12);
      bias_step -= centred * lambda[j];
    }
    EXPECT_NEAR(gradient[6 + i], bias_step, 1e-12);
  }
}

TEST(Conditioning, StepsAreShorterAlongDirectionsInWhichUnitsVaryTogether) {
  // In terms of the gaps the first direction has a quarter of the step, the one across it a whole one.
  const Rbm rbm = test::random_machine(Gaussian{2}, Bernoulli{2}, 0.0, 3);
  Gaps gaps{{0.5, 2.0}, {1.0, 1.0}, {1.0, 1.0}, Matrix<double>(1, 2), {0.75}};
  gaps.directions(0, 0) = 0.6;
  gaps.directions(0, 1) = 0.8;
  const double along[] = {0.6, 0.8}, across[] = {0.8, -0.6};
  Statistics gradient(rbm.parameters().values().size());
  for (std::size_t i = 0; i < 2; ++i) {
    gradient[i * 2] = gaps.visible[i] * along[i];  // of the first hidden unit, in terms of the gaps
    gradient[i * 2 + 1] = gaps.visible[i] * (along[i] + across[i]);
    gradient[4 + i] = gaps.visible[i] * along[i];  // of the biases
  }
  condition(rbm, gaps, std::vector<double>(2), std::vector<double>(2), {}, gradient, {});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(gradient[i * 2], 0.25 * along[i] / gaps.visible[i], 1e-12);
    EXPECT_NEAR(gradient[i * 2 + 1], (0.25 * along[i] + across[i]) / gaps.visible[i], 1e-12);
    EXPECT_NEAR(gradient[4 + i], 0.25 * along[i] / gaps.visible[i], 1e-12);
  }
}

TEST(Conditioning, ThePrecisionLearnsWhereTheMeansStay) {
  // The mean of a real unit given v is (b + W v) / gamma. Along b = gamma m, W = gamma M with m and M fixed, the
  // derivative of the likelihood by z = log gamma is what `condition` makes of the gradient; bias and weights follow.
  Rbm rbm = test::random_machine(Gaussian{2}, Bernoulli{3}, 0.6, 3);
  Matrix<float> points(3, 2);
  const float values[] = {0.5f, -1.0f, 2.0f, 0.3f, -0.7f, 1.1f};
  std::copy(std::begin(values), std::end(values), points.elements().begin());
  const State rows{points};
  const double weight = 1.0 / 3.0;
  Statistics gradient(rbm.parameters().values().size());
  rbm.add_statistics(Rbm::kVisible, rows, rbm.conditional_moments(Rbm::kHidden, rows, {}), {&weight, 1}, gradient, {});
  const Statistics model = exact_statistics(rbm, {});
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] -= model[k];
  const Statistics plain = gradient;
  const Gaps gaps{{1.0, 1.0}, {1.0, 1.0, 1.0}, {1.0, 1.0}, {}, {}};
  condition(rbm, gaps, std::vector<double>(2), std::vector<double>(3), {}, gradient, {});

  const Rbm start = rbm;
  const auto likelihood_at = [&](std::size_t unit, double dz) {
    rbm = start;
    rbm.update(
        [&](Parameters& p) {
          const auto factor = static_cast<float>(std::exp(dz));
          p["visible_log_precision"][unit] += static_cast<float>(dz);
          p["visible_bias"][unit] *= factor;
          for (std::size_t j = 0; j < 3; ++j) p["weights"][unit * 3 + j] *= factor;
        },
        {});
    double sum = 0.0;
    for (const double f : rbm.free_energy(rows, {})) sum -= weight * f;
    return sum - *exact_log_z(rbm, {});
  };
  for (std::size_t unit = 0; unit < 2; ++unit) {
    const double h = 0x1p-8, slope = (likelihood_at(unit, h) - likelihood_at(unit, -h)) / (2 * h);
    const double dz = gradient[6 + 2 + 3 + unit];
    // Central differences err by h^2/6 = 2.5e-6 times a third derivative of order one; parameters are floats: 1e-5.
    EXPECT_NEAR(dz, slope, 5e-5);
    EXPECT_NEAR(gradient[6 + unit], plain[6 + unit] + start.visible_bias()[unit] * dz, 1e-9);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(gradient[unit * 3 + j], plain[unit * 3 + j] + start.weights()(unit, j) * dz, 1e-9);
    }
  }
}

}  // namespace
}  // namespace ergodic
