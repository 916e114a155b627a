#include "ergodic/trainer/optimiser.hpp"

#include <gtest/gtest.h>

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
  step(sgd, 0.1, gradient, velocity, p, {});
  step(sgd, 0.1, gradient, velocity, p, {});
  // Velocities 1 and 1.5, so the weight moved by 0.1 + 0.15.
  EXPECT_FLOAT_EQ(p.values()[0], 0.25f);
  EXPECT_FLOAT_EQ(p.values()[1], -0.5f);
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
