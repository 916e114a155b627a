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

TEST(Activation, DropoutComparesSixteenRandomBitsOnEveryTarget) {
  const Draw draw = Key{4}.at(Purpose::kDropout, 5);
  test::for_each_target([&] {
    for (std::size_t units = 1; units < 140; ++units) {
      std::vector<float> x(units), defined(units);
      for (std::size_t j = 0; j < units; ++j) {
        x[j] = defined[j] = static_cast<float>(j) + 1.0f;
        const Words words = draw.words(6, static_cast<std::uint32_t>(j / 8));
        const std::uint32_t drawn = words[j % 8 / 2] >> (16 * (j % 2)) & 0xFFFFu;
        defined[j] =
            drawn < static_cast<std::uint32_t>(0.3 * 65536.0) ? 0.0f : static_cast<float>(1.0 / 0.7) * defined[j];
      }
      drop_out(0.3, draw, 6, x);
      ASSERT_EQ(x, defined);
    }
  });
}

}  // namespace
}  // namespace ergodic
