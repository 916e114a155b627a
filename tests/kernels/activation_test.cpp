#include "ergodic/kernels/activation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

TEST(Activation, SigmoidIsNearTheTruthAndTheSameOnEveryTarget) {
  std::vector<float> x;
  for (int k = -20000; k <= 20003; ++k) x.push_back(0.01f * static_cast<float>(k));
  std::vector<float> first;
  test::for_each_target([&] {
    std::vector<float> y = x;
    apply_sigmoid(y);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double truth = 1.0 / (1.0 + std::exp(-double{x[k]}));
      ASSERT_NEAR(y[k], truth, 2e-7);
    }
    if (first.empty()) first = y;
    ASSERT_EQ(y, first);
  });
}

}  // namespace
}  // namespace ergodic
