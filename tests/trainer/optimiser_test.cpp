#include "ergodic/trainer/optimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ergodic {
namespace {

Parameters one_weight_one_bias(float weight, float bias) {
  Parameters p;
  p.add("weights", {1});
  p.add("bias", {1});
  p.values()[0] = weight;
  p.values()[1] = bias;
  return p;
}

TEST(Sgd, MomentumAddsToTheVelocityAndNotToTheRate) {
  Parameters p = one_weight_one_bias(0.0f, 0.0f);
  std::vector<float> velocity(2);
  const std::vector<double> gradient{1.0, -2.0};
  const Sgd sgd{0.5};
  step(sgd, {0, 0.1}, gradient, velocity, p, {});
  step(sgd, {0, 0.1}, gradient, velocity, p, {});
  // Velocities 1 and 1.5, so the weight moved by 0.1 + 0.15.
  EXPECT_FLOAT_EQ(p.values()[0], 0.25f);
  EXPECT_FLOAT_EQ(p.values()[1], -0.5f);
}

TEST(Adam, TheFirstStepIsTheRateInTheDirectionOfEachSign) {
  Parameters p = one_weight_one_bias(0.0f, 0.0f);
  std::vector<float> memory(memory_of(Adam{}, 2));
  const std::vector<double> gradient{1e-3, -200.0};
  step(Adam{}, {0, 0.1}, gradient, memory, p, {});
  // Both moving means are corrected for their start, so that m / sqrt(s) is the sign.
  EXPECT_NEAR(p.values()[0], 0.1, 1e-5);
  EXPECT_NEAR(p.values()[1], -0.1, 1e-5);
}

TEST(Adam, FollowsItsDefinition) {
  Parameters p = one_weight_one_bias(0.5f, 0.0f);
  std::vector<float> memory(4);
  double m = 0.0, s = 0.0, x = 0.5, first = 1.0, second = 1.0;
  for (std::uint64_t update = 0; update < 50; ++update) {
    const double g = 1.0 - 0.1 * static_cast<double>(update % 7);
    step(Adam{}, {update, 0.01}, std::vector<double>{g, 0.0}, memory, p, {});
    m = 0.9 * m + 0.1 * g;
    s = 0.999 * s + 0.001 * g * g;
    x += 0.01 * (m / (1.0 - (first *= 0.9))) / (std::sqrt(s / (1.0 - (second *= 0.999))) + 1e-8);
  }
  EXPECT_NEAR(p.values()[0], x, 1e-5);  // floats round by 6e-8 in each of 50 steps
  EXPECT_EQ(p.values()[1], 0.0f);
}

/// A matrix becomes orthogonal, a vector one of length one.
TEST(Spectral, StepsAsFarAlongAllDirections) {
  Parameters p;
  p.add("weights", {2, 2});
  p.add("bias", {2});
  std::vector<float> velocity(memory_of(Spectral{}, 6));
  const std::vector<float> gradient{3.0f, 0.0f, 0.0f, -3.0f, 30.0f, 40.0f};
  step(Spectral{}, {0, 0.1}, gradient, velocity, p, {});
  EXPECT_TRUE(std::ranges::equal(velocity, gradient));
  EXPECT_NEAR(p.values()[0], 0.1, 0.035);  // five iterations end between 0.68 and 1.21
  EXPECT_EQ(p.values()[3], -p.values()[0]);
  EXPECT_EQ(p.values()[1], 0.0f);
  EXPECT_NEAR(p.values()[4], 0.06, 1e-7);
  EXPECT_NEAR(p.values()[5], 0.08, 1e-7);
}

TEST(Schedule, StartsAtOneAndEndsWhereItSays) {
  for (const Schedule s : {Schedule::kConstant, Schedule::kLinear, Schedule::kCosine}) {
    EXPECT_DOUBLE_EQ(schedule_factor(s, 0, 10), 1.0);
  }
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::kConstant, 10, 10), 1.0);
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::kLinear, 5, 10), 0.5);
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::kLinear, 10, 10), 0.0);
  EXPECT_NEAR(schedule_factor(Schedule::kCosine, 5, 10), 0.5, 1e-15);
  EXPECT_NEAR(schedule_factor(Schedule::kCosine, 10, 10), 0.0, 1e-15);
}

}  // namespace
}  // namespace ergodic
