#include "ergodic/data/damage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace ergodic {
namespace {

std::size_t differing(const Bits& a, const Bits& b, std::size_t row) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.cols(); ++i) count += a.get(row, i) != b.get(row, i) ? 1 : 0;
  return count;
}

TEST(Damage, EachRowLosesTheSameShare) {
  Bits rows(40, 70);
  for (std::size_t r = 0; r < 40; ++r) rows.set(r, r, true);
  const Draw draw = Key{1}.at(Purpose::kDamage);
  for (const auto& [share, flips] :
       {std::pair{0.0, 0u}, {0.1, 7u}, {0.2, 14u}, {0.207, 14u}, {0.208, 15u}, {1.0, 70u}}) {
    const Bits out = damaged(rows, share, draw);
    for (std::size_t r = 0; r < 40; ++r) EXPECT_EQ(differing(rows, out, r), flips) << share;
  }
}

TEST(Damage, EveryBitIsHitEquallyOften) {
  const std::size_t count = 10000, units = 10;
  const Bits out = damaged(Bits(count, units), 0.3, Key{2}.at(Purpose::kDamage));
  for (std::size_t i = 0; i < units; ++i) {
    double hits = 0.0;
    for (std::size_t r = 0; r < count; ++r) hits += out.get(r, i) ? 1.0 : 0.0;
    // Rows are independent coins of probability 0.3; 4 standard errors.
    EXPECT_NEAR(hits / count, 0.3, 4 * std::sqrt(0.3 * 0.7 / count));
  }
}

TEST(Damage, IsAFunctionOfTheDraw) {
  const Bits rows(3, 100);
  EXPECT_EQ(damaged(rows, 0.5, Key{1}.at(Purpose::kDamage)), damaged(rows, 0.5, Key{1}.at(Purpose::kDamage)));
  EXPECT_NE(damaged(rows, 0.5, Key{1}.at(Purpose::kDamage)), damaged(rows, 0.5, Key{2}.at(Purpose::kDamage)));
}

}  // namespace
}  // namespace ergodic
