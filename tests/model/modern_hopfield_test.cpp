#include "ergodic/model/modern_hopfield.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "model/patterns.hpp"

namespace ergodic {
namespace {

Matrix<float> values_of(const State& rows) {
  Matrix<float> out(rows.chains(), rows.units());
  unpack(rows, out);
  return out;
}

Matrix<float> normal_rows(std::size_t count, std::size_t units, std::uint64_t seed) {
  Matrix<float> out(count, units);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  std::uint32_t k = 0;
  for (float& value : out.elements()) value = static_cast<float>(draw.normal(0, k++));
  return out;
}

TEST(ModernHopfield, UpdatesAndEnergiesAreThoseOfTheDefinition) {
  const Matrix<float> patterns = normal_rows(7, 5, 1), states = normal_rows(10, 5, 2);
  const ModernHopfield network(patterns, 0.75f);
  for (std::size_t r = 0; r < 10; ++r) {
    std::vector<double> x(states.row(r).begin(), states.row(r).end()), expected(5);
    double sum = 0.0, longest = 0.0, squares = 0.0;
    for (std::size_t p = 0; p < 7; ++p) {
      double product = 0.0, length = 0.0;
      for (std::size_t i = 0; i < 5; ++i) {
        product += double{patterns(p, i)} * x[i];
        length += double{patterns(p, i)} * patterns(p, i);
      }
      for (std::size_t i = 0; i < 5; ++i) expected[i] += std::exp(0.75 * product) * patterns(p, i);
      sum += std::exp(0.75 * product);
      longest = std::max(longest, length);
    }
    for (const double value : x) squares += value * value;
    const double energy = -std::log(sum) / 0.75 + 0.5 * squares + std::log(7.0) / 0.75 + 0.5 * longest;
    // A few dozen roundings of numbers below 100.
    EXPECT_NEAR(network.energy(x), energy, 1e-12);
    EXPECT_NEAR(network.update(x), energy, 1e-12);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(x[i], expected[i] / sum, 1e-12);
  }
}

TEST(ModernHopfield, OneUpdateBringsADamagedPatternBack) {
  // Overlaps of random patterns of 100 units have a standard deviation of 10; a pattern with a fifth of its units
  // flipped has 60 with itself, so with beta = 1 the others weigh together less than 1000 exp(4.5 * 10 - 60).
  const State patterns = test::random_patterns(1000, 100, 3);
  const ModernHopfield network(values_of(patterns), 1.0f);
  const Matrix<float> damaged = values_of(test::with_flips(patterns, 20));
  const ModernRecalled once = recall(network, damaged, 1, {});
  for (std::size_t r = 0; r < 1000; ++r) {
    for (std::size_t i = 0; i < 100; ++i) ASSERT_NEAR(once.rows(r, i), patterns.value(r, i), 1e-3);
  }
  EXPECT_EQ(count_stable(network, values_of(patterns), {}), 1000u);
}

TEST(ModernHopfield, TheEnergyFallsAtEveryUpdateAndIsNeverNegative) {
  const Matrix<float> patterns = normal_rows(20, 12, 4);
  for (const float beta : {0.01f, 0.3f, 1.0f, 30.0f}) {
    const ModernRecalled after = recall(ModernHopfield(patterns, beta), normal_rows(50, 12, 5), 1000, {});
    for (const RecallPath& path : after.paths) {
      for (std::size_t s = 1; s < path.energies.size(); ++s) {
        // The terms of E are below log(20)/beta + 20 * 12 * 4^2, and a few dozen roundings touch each.
        ASSERT_LE(path.energies[s], path.energies[s - 1] + 100 * 0x1p-53 * (std::log(20.0) / beta + 4000.0));
        ASSERT_GE(path.energies[s], -1e-9);
      }
      EXPECT_EQ(path.ending, Ending::kAtRest);
    }
  }
}

TEST(ModernHopfield, AtAHighTemperatureEverythingEndsInTheMean) {
  const State patterns = test::random_patterns(8, 30, 6);
  const ModernRecalled after = recall(ModernHopfield(values_of(patterns), 1e-5f), values_of(patterns), 100, {});
  for (std::size_t i = 0; i < 30; ++i) {
    double mean = 0.0;
    for (std::size_t p = 0; p < 8; ++p) mean += patterns.value(p, i) / 8.0;
    // Weights differ from 1/8 by a share of at most e^(2 * 30 * 1e-5) - 1.
    for (std::size_t r = 0; r < 8; ++r) EXPECT_NEAR(after.rows(r, i), mean, 1e-3);
  }
}

TEST(ModernHopfield, TheLimitOfUpdatesHolds) {
  const ModernRecalled after = recall(ModernHopfield(normal_rows(9, 4, 7), 0.5f), normal_rows(3, 4, 8), 2, {});
  for (const RecallPath& path : after.paths) {
    EXPECT_EQ(path.sweeps(), 2u);
    EXPECT_EQ(path.ending, Ending::kLimit);
  }
}

TEST(ModernHopfield, TheSameForAnyNumberOfThreads) {
  const ModernHopfield network(normal_rows(40, 23, 9), 0.4f);
  const Matrix<float> rows = normal_rows(31, 23, 10);
  const ModernRecalled alone = recall(network, rows, 50, {});
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    const ModernRecalled shared = recall(network, rows, 50, Context{&threads});
    EXPECT_EQ(shared.rows, alone.rows);
    for (std::size_t r = 0; r < 31; ++r) EXPECT_EQ(shared.paths[r].energies, alone.paths[r].energies);
  }
}

TEST(ModernHopfield, PatternsThatAreNoneAreRefused) {
  const auto refused = [](Matrix<float> patterns, float beta) {
    return message_of<UsageError>([&] { ModernHopfield(std::move(patterns), beta); });
  };
  Matrix<float> spoilt(2, 3);
  spoilt(1, 2) = std::numeric_limits<float>::quiet_NaN();
  expect_parts(refused(spoilt, 1.0f), {"patterns", "(1, 2)", "finite"});
  expect_parts(refused(Matrix<float>(0, 3), 1.0f), {"patterns", "at least one", "0 x 3"});
  for (const float beta : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    expect_parts(refused(Matrix<float>(2, 3), beta), {"beta", "above zero"});
  }
}

}  // namespace
}  // namespace ergodic
