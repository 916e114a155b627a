#include "ergodic/core/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace ergodic {
namespace {

// The layout is part of every result, so it must not change unnoticed.
TEST(Draw, TheCounterIsThePlaceAndTheKeyIsTheSeed) {
  const Draw draw = Key{0x0123456789abcdefull}.at(Purpose::kGibbs, 0xfedc87654321ull, 0x5a);
  const Words counter{7, 9, 0x87654321, 0x025afedc};
  EXPECT_EQ(draw.counter(9, 7), counter);
  EXPECT_EQ(draw.keys(), ars_keys({0x89abcdef, 0x01234567, 0, 0}));
  EXPECT_EQ(draw.words(9, 7), ars(counter, draw.keys()));
}

TEST(Draw, EachCoordinateChangesTheNumber) {
  const Key key{7};
  std::set<Words> seen;
  seen.insert(key.at(Purpose::kGibbs, 1, 0).words(0, 0));
  seen.insert(key.at(Purpose::kGibbs, 1, 0).words(0, 1));
  seen.insert(key.at(Purpose::kGibbs, 1, 0).words(1, 0));
  seen.insert(key.at(Purpose::kGibbs, 1, 1).words(0, 0));
  seen.insert(key.at(Purpose::kGibbs, 2, 0).words(0, 0));
  seen.insert(key.at(Purpose::kGibbs, 1ull << 40, 0).words(0, 0));
  seen.insert(key.at(Purpose::kShuffle, 1, 0).words(0, 0));
  seen.insert(Key{8}.at(Purpose::kGibbs, 1, 0).words(0, 0));
  EXPECT_EQ(seen.size(), 8u);
}

TEST(Draw, ManyBlocksAreTheSameAsOneByOne) {
  const Draw draw = Key{9}.at(Purpose::kGibbs, 123456789012ull, 3);
  for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 63u}) {
    std::vector<Words> many(count);
    draw.words(5, 100, many);
    for (std::uint32_t k = 0; k < count; ++k) EXPECT_EQ(many[k], draw.words(5, 100 + k));
  }
}

TEST(Draw, UniformHasTheRightMeanAndVariance) {
  const Draw draw = Key{1}.at(Purpose::kTest);
  constexpr int kCount = 200000;
  double sum = 0.0, squares = 0.0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const double u = draw.uniform(0, i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
  }
  // Standard errors: sqrt(1/12/n) of the mean, sqrt(4/45/n) of the second moment; 4 of each.
  EXPECT_NEAR(sum / kCount, 0.5, 4 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / kCount));
}

TEST(Draw, NormalHasTheRightMoments) {
  const Draw draw = Key{2}.at(Purpose::kTest);
  constexpr int kCount = 200000;
  double sum = 0.0, squares = 0.0, fourths = 0.0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const double z = draw.normal(3, i);
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
  }
  // Var z = 1, Var z^2 = 2, Var z^4 = 96; 4 standard errors.
  EXPECT_NEAR(sum / kCount, 0.0, 4 * std::sqrt(1.0 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0, 4 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourths / kCount, 3.0, 4 * std::sqrt(96.0 / kCount));
}

TEST(Draw, BelowIsUniformOverItsBound) {
  const Draw draw = Key{3}.at(Purpose::kTest);
  constexpr int kCount = 70000, kBound = 7;
  int counts[kBound] = {};
  for (std::uint32_t i = 0; i < kCount; ++i) ++counts[draw.below(kBound, 1, i)];
  double chi2 = 0.0;
  for (const int c : counts) chi2 += std::pow(c - kCount / kBound, 2) / (kCount / kBound);
  EXPECT_LT(chi2, 22.46);  // the 0.999 quantile for 6 degrees of freedom
}

}  // namespace
}  // namespace ergodic
