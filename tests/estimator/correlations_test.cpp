#include "ergodic/estimator/correlations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ergodic {
namespace {

constexpr Levels kBits{0.0f, 1.0f};

/// Rows of two fair coins, the second equal to the first with this probability.
State coins(std::size_t rows, double equal, Key key) {
  Bits out(rows, 2);
  const Draw draw = key.at(Purpose::kTest);
  for (std::uint32_t r = 0; r < rows; ++r) {
    const bool first = draw.uniform(r, 0) < 0.5;
    out.set(r, 0, first);
    out.set(r, 1, draw.uniform(r, 1) < equal ? first : !first);
  }
  return State(std::move(out), kBits);
}

TEST(ChoosePairs, TakesAllOfDifferentSites) {
  EXPECT_EQ(choose_pairs(Bernoulli{5}, 100, Key{1}).size(), 10u);
  const auto pairs = choose_pairs(Potts{9, 3}, 100, Key{1});
  EXPECT_EQ(pairs.size(), 27u);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const auto [i, j] : pairs) {
    EXPECT_NE(i / 3, j / 3);
    seen.insert({i, j});
  }
  EXPECT_EQ(seen.size(), 27u);
}

TEST(ChoosePairs, TakesNoneWithinASiteOfAJoinedLayer) {
  const Layer layer = joined({Bernoulli{2}, Potts{3, 3}});
  EXPECT_EQ(choose_pairs(layer, 100, Key{1}).size(), 7u);  // the two units, and each of them with each letter
  for (const auto [i, j] : choose_pairs(layer, 6, Key{1})) {
    EXPECT_NE(i, j);
    EXPECT_FALSE(i >= 2 && j >= 2);
  }
}

TEST(ChoosePairs, OrAsManyRandomOnes) {
  const auto pairs = choose_pairs(Potts{300, 3}, 1000, Key{1});
  EXPECT_EQ(pairs.size(), 1000u);
  double sum = 0.0;
  for (const auto [i, j] : pairs) {
    ASSERT_LT(std::max(i, j), 300u);
    EXPECT_NE(i / 3, j / 3);
    sum += i + j;
  }
  // A number below 300 has the deviation 300 / sqrt(12) = 87, their mean over 2000 thus the error 1.9.
  EXPECT_NEAR(sum / 2000.0, 149.5, 4 * 1.9);
}

TEST(PairSums, GiveMeansAndConnectedCorrelationsByWeight) {
  Bits bits(3, 2);  // 11, 10, 01
  bits.set(0, 0, true), bits.set(0, 1, true), bits.set(1, 0, true), bits.set(2, 1, true);
  const State rows(bits, kBits);
  const auto pairs = choose_pairs(Bernoulli{2}, 10, Key{1});
  PairSums plain(2, pairs), weighted(2, pairs);
  plain.add(rows, 0, 3, {}, {});
  EXPECT_NEAR(plain.means()[0], 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(plain.connected()[0], 1.0 / 3.0 - 4.0 / 9.0, 1e-15);
  const std::vector<double> weights{1.0, 0.5, 0.25};
  weighted.add(rows, 0, 3, weights, {});
  EXPECT_NEAR(weighted.means()[1], 1.25 / 1.75, 1e-15);
  EXPECT_NEAR(weighted.connected()[0], 1.0 / 1.75 - 1.5 / 1.75 * (1.25 / 1.75), 1e-15);
}

TEST(PairSums, OfRealUnitsAreThoseOfTheSameBits) {
  const State bits = coins(100, 0.8, Key{2});
  Matrix<float> values(100, 2);
  for (std::size_t r = 0; r < 100; ++r) {
    for (std::size_t i = 0; i < 2; ++i) values(r, i) = bits.value(r, i);
  }
  const auto pairs = choose_pairs(Bernoulli{2}, 10, Key{1});
  PairSums a(2, pairs), b(2, pairs);
  a.add(bits, 10, 90, {}, {});
  b.add(State(values), 10, 90, {}, {});
  EXPECT_EQ(a.connected(), b.connected());
  EXPECT_EQ(a.means(), b.means());
}

TEST(PairSums, PartsAddUpToTheWhole) {
  const State rows = coins(100, 0.9, Key{3});
  const auto pairs = choose_pairs(Bernoulli{2}, 10, Key{1});
  PairSums whole(2, pairs), part(2, pairs), rest(2, pairs);
  whole.add(rows, 0, 100, {}, {});
  part.add(rows, 0, 30, {}, {});
  rest.add(rows, 30, 100, {}, {});
  PairSums sum = part;
  sum.add(rest);
  EXPECT_EQ(sum.connected(), whole.connected());
  sum.subtract(rest);
  EXPECT_EQ(sum.connected(), part.connected());
}

/// Units of which each pair (2k, 2k + 1) is correlated more the larger k is, in groups of rows.
std::vector<PairSums> groups_of(std::size_t groups, std::size_t rows, double strength, std::span<const UnitPair> pairs,
                                Key key) {
  constexpr std::size_t kCouples = 20;
  std::vector<PairSums> out(groups, PairSums(2 * kCouples, pairs));
  for (std::size_t g = 0; g < groups; ++g) {
    Bits bits(rows, 2 * kCouples);
    const Draw draw = key.at(Purpose::kTest, g);
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t k = 0; k < kCouples; ++k) {
        const double on = 0.2 + 0.03 * k, equal = strength * k / kCouples;
        const bool first = draw.uniform(r, 3 * k) < on;
        bits.set(r, 2 * k, first);
        bits.set(r, 2 * k + 1, draw.uniform(r, 3 * k + 1) < equal ? first : draw.uniform(r, 3 * k + 2) < on);
      }
    }
    out[g].add(State(bits, kBits), 0, rows, {}, {});
  }
  return out;
}

TEST(Compare, SamplesOfTheSameDistributionAgreeUpToTheirNoise) {
  const auto pairs = choose_pairs(Bernoulli{40}, 1000, Key{1});
  PairSums data = groups_of(1, 200000, 0.8, pairs, Key{4})[0];
  const auto samples = groups_of(10, 200, 0.8, pairs, Key{5});
  const Comparison found = compare(samples, data);
  EXPECT_EQ(found.means.count, 40u);
  EXPECT_EQ(found.correlations.count, 780u);
  // The data is nearly free of noise, so that what is missing to 1 is the samples' own.
  EXPECT_NEAR(found.correlations.correlation, found.correlations.ceiling, 4 * found.correlations.correlation_error);
  EXPECT_LT(found.correlations.correlation, 0.99);
  EXPECT_NEAR(found.correlations.slope, 1.0, 4 * found.correlations.slope_error);
  EXPECT_NEAR(found.means.slope, 1.0, 4 * found.means.slope_error);
  EXPECT_GT(found.means.correlation, 0.99);
}

TEST(Compare, ErrorsAreThoseOfRepetition) {
  const auto pairs = choose_pairs(Bernoulli{40}, 1000, Key{1});
  PairSums data = groups_of(1, 20000, 0.8, pairs, Key{4})[0];
  constexpr int kTimes = 40;
  double sum = 0.0, squares = 0.0, said = 0.0;
  for (std::uint64_t t = 0; t < kTimes; ++t) {
    const Agreement a = compare(groups_of(10, 100, 0.8, pairs, Key{100 + t}), data).correlations;
    sum += a.slope, squares += a.slope * a.slope, said += a.slope_error * a.slope_error;
  }
  const double spread = squares / kTimes - sum / kTimes * (sum / kTimes);
  // A variance of 40 has a relative error of sqrt(2 / 39) = 0.23; that of the mean jackknife estimate, sqrt(2 / 9 / 40)
  // = 0.07.
  EXPECT_NEAR(said / kTimes / spread, 1.0, 4 * 0.24);
}

TEST(Compare, WeakerCorrelationsHaveASmallerSlope) {
  const auto pairs = choose_pairs(Bernoulli{40}, 1000, Key{1});
  PairSums data = groups_of(1, 100000, 0.8, pairs, Key{4})[0];
  const Agreement half = compare(groups_of(10, 5000, 0.4, pairs, Key{6}), data).correlations;
  EXPECT_NEAR(half.slope, 0.5, 4 * half.slope_error);
}

}  // namespace
}  // namespace ergodic
