#include "ergodic/core/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace ergodic {
namespace {

TEST(Permutation, HoldsEachNumberOnce) {
  for (const std::size_t count : {0u, 1u, 2u, 7u, 1000u}) {
    auto order = permutation(count, Key{3}.at(Purpose::kTest));
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(order[k], k);
  }
}

TEST(Permutation, IsAPureFunctionOfTheDraw) {
  const auto order = permutation(1000, Key{3}.at(Purpose::kTest));
  EXPECT_EQ(order, permutation(1000, Key{3}.at(Purpose::kTest)));
  EXPECT_NE(order, permutation(1000, Key{4}.at(Purpose::kTest)));
  EXPECT_NE(order, permutation(1000, Key{3}.at(Purpose::kTest, 1)));
}

TEST(Permutation, EveryOrderIsEquallyLikely) {
  constexpr int kOrders = 24, kExpected = 1000;
  std::map<std::vector<std::uint32_t>, int> counts;
  for (std::uint64_t seed = 0; seed < kOrders * kExpected; ++seed) {
    ++counts[permutation(4, Key{seed}.at(Purpose::kTest))];
  }
  ASSERT_EQ(counts.size(), std::size_t{kOrders});
  double chi_square = 0.0;
  for (const auto& [order, count] : counts) chi_square += std::pow(count - kExpected, 2) / kExpected;
  EXPECT_LT(chi_square, 49.73);  // the 0.999 quantile for 23 degrees of freedom
}

TEST(Permutation, RowsOfADrawHaveOrdersOfTheirOwn) {
  const Draw draw = Key{3}.at(Purpose::kTest);
  std::vector<std::uint32_t> order(100);
  permute(order, draw, 0);
  EXPECT_EQ(order, permutation(100, draw));
  permute(order, draw, 1);
  EXPECT_NE(order, permutation(100, draw));
}

}  // namespace
}  // namespace ergodic
