#include "ergodic/trainer/best_parameters.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ergodic {
namespace {

using Values = std::vector<float>;

HeldOutLoss loss(double value, double tie_break = 0.0) { return {"x", value, tie_break}; }

Values values_of(const BestParameters& best) { return {best.values().begin(), best.values().end()}; }

TEST(BestParameters, KeepsTheLowestLossAndTheFirstOfEqualOnes) {
  BestParameters best(Values{0});
  best.offer(Values{1}, loss(3.0));
  best.offer(Values{2}, loss(-2.0));
  best.offer(Values{3}, loss(-2.0));
  best.offer(Values{4}, loss(-1.0));
  EXPECT_EQ(values_of(best), Values{2});
  EXPECT_EQ(best.loss(), -2.0);
  EXPECT_EQ(best.age(), 2u);
}

TEST(BestParameters, ATieIsBrokenByTheSecondNumber) {
  BestParameters best(Values{0});
  best.offer(Values{1}, loss(0.1, 5.0));
  best.offer(Values{2}, loss(0.1, 4.0));
  best.offer(Values{3}, loss(0.2, 0.0));
  EXPECT_EQ(values_of(best), Values{2});
}

TEST(BestParameters, WhatIsNoNumberIsNotBetter) {
  BestParameters best(Values{0});
  best.offer(Values{1}, loss(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(values_of(best), Values{0});
  best.offer(Values{2}, loss(1.0));
  best.offer(Values{3}, loss(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(values_of(best), Values{2});
}

TEST(BestParameters, WithoutALossTheLastIsTaken) {
  BestParameters best(Values{0});
  best.offer(Values{1}, std::nullopt);
  best.offer(Values{2}, std::nullopt);
  EXPECT_EQ(values_of(best), Values{2});
  EXPECT_EQ(best.age(), 0u);
}

TEST(BestParameters, GoesThroughTheStateOfALearner) {
  BestParameters best(Values{0, 0});
  best.offer(Values{1, 2}, loss(0.5, 0.25));
  best.offer(Values{3, 4}, loss(0.75));
  LearnerState state;
  state.offsets = {7.0};
  best.put(state);
  BestParameters other(Values{0, 0});
  other.take(state);
  EXPECT_EQ(state.offsets, std::vector<double>{7.0});
  EXPECT_EQ(values_of(other), (Values{1, 2}));
  EXPECT_EQ(other.age(), 1u);
  other.offer(Values{5, 6}, loss(0.5, 0.25));
  EXPECT_EQ(values_of(other), (Values{1, 2}));
}

}  // namespace
}  // namespace ergodic
