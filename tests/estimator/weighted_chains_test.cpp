#include "ergodic/estimator/weighted_chains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChains = 32;

Draw draw_of(std::uint64_t seed, std::uint64_t step) { return Key{seed}.at(Purpose::kTest, step); }

/// Chains of one bit.
Chains low_bits() {
  Chains out;
  out.layers.emplace_back(kChains, 1, Bernoulli::kLevels);
  return out;
}

TEST(WeightedChains, AreExactWhereAllWeighTheSame) {
  WeightedChains weights(kChains);
  Chains chains = low_bits();
  for (std::uint64_t k = 0; k < 10; ++k) {
    weights.add(std::vector<double>(kChains, 0.25));
    weights.even_out(chains, draw_of(1, k));
  }
  const AnnealedSide found = weights.found();
  EXPECT_DOUBLE_EQ(found.value, 2.5);
  EXPECT_EQ(found.standard_error, 0.0);
  EXPECT_DOUBLE_EQ(found.effective_chains, kChains);
  EXPECT_EQ(found.variance, 0.0);
}

TEST(WeightedChains, KeepTheMeanWhenDrawnAnew) {
  // One chain in 32 weighs as much as all others together: an effective share of 1/8.
  Chains chains = low_bits();
  chains.layers[0].bits().set(5, 0, true);
  std::vector<double> logs(kChains);
  logs[5] = std::log(31.0);
  WeightedChains weights(kChains);
  weights.add(logs);
  const double before = weights.found().value;
  EXPECT_NEAR(before, std::log(62.0 / 32.0), 1e-12);
  weights.even_out(chains, draw_of(1, 0));
  const AnnealedSide after = weights.found();
  EXPECT_NEAR(after.value, before, 1e-12);
  std::size_t high = 0;
  for (std::size_t r = 0; r < kChains; ++r) high += chains.layers[0].bits().row(r)[0];
  EXPECT_EQ(high, kChains / 2);
  // Half of the weight is in one family, and that of the others is spread over 16 of them.
  EXPECT_NEAR(after.effective_chains, 1.0 / (0.25 + 16.0 / (32.0 * 32.0)), 1e-12);
}

TEST(WeightedChains, LeaveChainsWhoseWeightsAreEven) {
  Chains chains = low_bits();
  chains.layers[0].bits().set(5, 0, true);
  std::vector<double> logs(kChains);
  logs[5] = std::log(4.0);  // an effective share of 35^2 / (47 * 32) = 0.81
  WeightedChains weights(kChains);
  weights.add(logs);
  weights.even_out(chains, draw_of(1, 0));
  for (std::size_t r = 0; r < kChains; ++r) EXPECT_EQ(chains.layers[0].bits().row(r)[0], r == 5 ? 1u : 0u);
}

TEST(WeightedChains, AreUnbiasedAndKnowTheirError) {
  // A fair bit that stays as it is with probability 0.7; each step weighs it by 1 or 3. The truth is a product of two
  // by two matrices. 4000 repetitions: their mean is the truth within 4 of its standard errors, the mean of its
  // logarithm is below, and the error that is told is that of the logarithm within a tenth and a half: drawing anew
  // rounds numbers of copies, which makes families look a little less alike than they are.
  constexpr std::size_t kSteps = 12, kRepetitions = 4000;
  double even[2] = {0.5, 0.5};
  for (std::size_t k = 0; k < kSteps; ++k) {
    const double a = even[0], b = 3.0 * even[1];
    even[0] = 0.7 * a + 0.3 * b;
    even[1] = 0.3 * a + 0.7 * b;
  }
  const double truth = even[0] + even[1];
  double sum = 0.0, squares = 0.0, logs = 0.0, log_squares = 0.0, errors = 0.0;
  for (std::uint64_t seed = 0; seed < kRepetitions; ++seed) {
    Chains chains = low_bits();
    Bits& bits = chains.layers[0].bits();
    WeightedChains weights(kChains);
    for (std::uint64_t k = 0; k <= kSteps; ++k) {
      std::vector<double> added(kChains);
      for (std::uint32_t r = 0; r < kChains; ++r) {
        const bool was = bits.row(r)[0] != 0;
        bits.set(r, 0, Key{seed}.at(Purpose::kTest, k, 1).uniform(r, 0) < (k == 0 ? 0.5 : was ? 0.7 : 0.3));
        added[r] = bits.row(r)[0] != 0 ? std::log(3.0) : 0.0;
      }
      if (k == kSteps) break;
      weights.add(added);
      weights.even_out(chains, draw_of(seed, k));
    }
    const AnnealedSide found = weights.found();
    const double ratio = std::exp(found.value) / truth;
    sum += ratio;
    squares += ratio * ratio;
    logs += std::log(ratio);
    log_squares += std::log(ratio) * std::log(ratio);
    errors += found.standard_error * found.standard_error;
  }
  const double mean = sum / kRepetitions, spread = std::sqrt(squares / kRepetitions - mean * mean);
  EXPECT_NEAR(mean, 1.0, 4.0 * spread / std::sqrt(double{kRepetitions}));
  EXPECT_LT(logs / kRepetitions, 0.0);
  const double variance = log_squares / kRepetitions - std::pow(logs / kRepetitions, 2);
  EXPECT_GT(errors / kRepetitions, 0.9 * variance);
  EXPECT_LT(errors / kRepetitions, 1.5 * variance);
}

TEST(WeightedChains, RefuseWeightsThatAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double log : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    WeightedChains weights(kChains);
    std::vector<double> logs(kChains);
    logs[3] = log;
    weights.add(logs);
    EXPECT_THROW(weights.found(), NumericError);
  }
}

}  // namespace
}  // namespace ergodic
