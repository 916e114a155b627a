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

/// At all places and sizes, words and parts of words.
TEST(Bits, ColumnsAreCutOutAndPutBesideEachOther) {
  constexpr std::size_t kCols = 200;
  Bits bits(2, kCols);
  for (std::size_t c = 0; c < kCols; ++c) {
    bits.set(0, c, c % 3 == 0 || c % 7 == 2);
    bits.set(1, c, !bits.get(0, c));
  }
  for (std::size_t first = 0; first <= kCols; ++first) {
    for (const std::size_t count : {0u, 1u, 5u, 63u, 64u, 65u, 128u, 150u, 200u}) {
      if (first + count > kCols) continue;
      Bits expected(2, count);
      for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t c = 0; c < count; ++c) expected.set(r, c, bits.get(r, first + c));
      }
      EXPECT_EQ(columns(bits, first, count), expected) << first << " " << count;
    }
    EXPECT_EQ(beside(columns(bits, 0, first), columns(bits, first, kCols - first)), bits) << first;
  }
}

}  // namespace
}  // namespace ergodic
