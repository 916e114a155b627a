#include "ergodic/kernels/float_sampling.hpp"

#include <gtest/gtest.h>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

TEST(Certified, TheApproximateSigmoidKeepsItsBound) {
  for (float x = -100.0f; x < 100.0f; x += 0.0037f) {
    ASSERT_NEAR(approximate_sigmoid(x), sigmoid(x), double{kSigmoidError}) << x;
  }
  EXPECT_NEAR(approximate_sigmoid(3e38f), 1.0, double{kSigmoidError});
  EXPECT_NEAR(approximate_sigmoid(-3e38f), 0.0, double{kSigmoidError});
}

}  // namespace
}  // namespace ergodic
