#include "ergodic/core/bits.hpp"

#include <gtest/gtest.h>

namespace ergodic {
namespace {

TEST(Bits, SetGetAndVisitAtEverySize) {
  for (std::size_t cols = 1; cols <= 130; ++cols) {
    Bits bits(3, cols);
    std::vector<std::size_t> expected;
    for (std::size_t c = 0; c < cols; c += 3) {
      bits.set(1, c, true);
      expected.push_back(c);
    }
    std::vector<std::size_t> seen;
    for_each_set(std::as_const(bits).row(1), [&](std::size_t c) { seen.push_back(c); });
    EXPECT_EQ(seen, expected);
    for (const std::uint64_t word : bits.row(0)) EXPECT_EQ(word, 0u);
    for (const std::uint64_t word : bits.row(2)) EXPECT_EQ(word, 0u);
    EXPECT_TRUE(bits.get(1, 0));
    bits.set(1, 0, false);
    EXPECT_FALSE(bits.get(1, 0));
  }
}

}  // namespace
}  // namespace ergodic
