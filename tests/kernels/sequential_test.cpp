#include "ergodic/kernels/sequential.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::Map, test::random_matrix, test::random_state;

/// Couplings of every unit with every other: symmetric, with a zero diagonal.
Matrix<float> symmetric(Matrix<float> weights) {
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    weights(i, i) = 0.0f;
    for (std::size_t j = 0; j < i; ++j) weights(i, j) = weights(j, i);
  }
  return weights;
}

/// One unit after the other, each by its field given all others.
void sweep_plainly(State& x, const Map& map, const Draw& draw, std::uint64_t first_chain, FixedUnits fixed = {}) {
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (std::size_t j = 0; j < x.units(); ++j) {
      if (fixed.at(r, j)) continue;
      const double p = sigmoid(x.levels().gap() * test::defined_field(x, r, map, j));
      x.bits().set(r, j, coin(draw, static_cast<std::uint32_t>(first_chain + r), static_cast<std::uint32_t>(j), p));
    }
  }
}

void expect_defined_sweep(const State& start, const Map& map, const Draw& draw, std::uint64_t first_chain) {
  State truth = start;
  sweep_plainly(truth, map, draw, first_chain);
  test::for_each_target([&] {
    State x = start;
    sweep_in_turn(x, map, draw, first_chain, {});
    ASSERT_TRUE(x == truth) << x.chains() << " chains of " << x.units() << " units, low " << x.levels().low;
  });
}

/// Compares with the definition at one size after another, with other inputs each time.
class SweepCases {
 public:
  void check(std::size_t chains, std::size_t units) {
    const Levels levels = varied_.pairing().first;
    expect_defined_sweep(random_state(chains, units, levels, varied_.density(), varied_.turn()),
                         Map(symmetric(varied_.weights(units, units)), varied_.bias(units), levels),
                         Key{varied_.turn()}.at(Purpose::kGibbs), 50);
    varied_.next();
  }

 private:
  test::VariedInputs varied_;
};

TEST(Sequential, BitsAreThoseOfTheDefinitionForAnyNumberOfUnits) {
  SweepCases cases;
  for (std::size_t units = 1; units <= 130; ++units) {
    for (const std::size_t chains : {9u, 20u}) ASSERT_NO_FATAL_FAILURE(cases.check(chains, units));
  }
}

TEST(Sequential, BitsAreThoseOfTheDefinitionWhereAllCouplingsAreRoundedTheSameWay) {
  // A coupling of 20 makes 2^-10 the unit of its columns, and 0.49 units are rounded to zero: with k units on, fields
  // in rounded weights are off by 0.49 k units, nearly all that the margin allows. At 150 units on, that moves the
  // upper 16 random bits of a fair coin by 1200, so a margin of three quarters would be wrong for one draw in 200.
  constexpr std::size_t kUnits = 320, kChains = 40;
  for (const Levels levels : {kBinary, kSpins}) {
    for (const float sign : {1.0f, -1.0f}) {
      Matrix<float> weights(kUnits, kUnits);
      for (float& w : weights.elements()) w = sign * 0.49f / 1024.0f;
      for (std::size_t i = 0; i < kUnits; i += 2) weights(i, i + 1) = 20.0f;
      const Map map(symmetric(std::move(weights)), Matrix<float>(1, kUnits), levels);
      for (std::size_t j = 0; j < kUnits; ++j) ASSERT_EQ(map.quantised.exponents()[j], 10);
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        ASSERT_NO_FATAL_FAILURE(expect_defined_sweep(random_state(kChains, kUnits, levels, 0.5, seed), map,
                                                     Key{seed}.at(Purpose::kGibbs), 0));
      }
    }
  }
}

TEST(Sequential, BitsAreThoseOfTheDefinitionAroundTheEdges) {
  SweepCases cases;
  for (std::size_t k = 0; k < 3; ++k) {
    for (const std::size_t units : test::kEdges) ASSERT_NO_FATAL_FAILURE(cases.check(8, units));
  }
}

TEST(Sequential, BitsAreThoseOfTheDefinitionForAnyNumberOfChains) {
  SweepCases cases;
  for (std::size_t k = 0; k < 7; ++k) {
    for (std::size_t chains = 1; chains <= 20; ++chains) ASSERT_NO_FATAL_FAILURE(cases.check(chains, 40));
    for (const std::size_t chains : {31u, 32u, 33u, 127u, 128u, 129u, 257u, 513u}) {
      ASSERT_NO_FATAL_FAILURE(cases.check(chains, 40));
    }
  }
}

TEST(Sequential, BitsAreThoseOfTheDefinitionForWeightsOfAnySize) {
  SweepCases cases;
  for (std::size_t k = 0; k < 630; ++k) ASSERT_NO_FATAL_FAILURE(cases.check(17, 70));
}

TEST(Sequential, BitsAreThoseOfTheDefinitionWhenAllWeightsAreRoundedTheSameWay) {
  // Strong couplings in which every rounding adds to the error, and every unit follows the ones before it.
  for (const Levels levels : {kBinary, kSpins}) {
    for (const int exponent : {6, 7, 8, 9, 10, 12}) {
      for (const double way : {0.49, -0.49}) {
        constexpr std::size_t kUnits = 100;
        Matrix<float> weights(kUnits, kUnits), bias(1, kUnits);
        for (std::size_t i = 0; i < kUnits; ++i) {
          double sum = 0.0;
          for (std::size_t j = 0; j < kUnits; ++j) {
            weights(i, j) = static_cast<float>(std::ldexp(((i + j) % 2 == 0 ? 600.0 : -600.0) + way, -exponent));
            sum += i == j ? 0.0 : weights(i, j);
          }
          bias(0, i) = static_cast<float>(levels.low == 0.0f ? -0.5 * sum : 0.0);
        }
        const Map map(symmetric(std::move(weights)), std::move(bias), levels);
        for (std::size_t j = 0; j < kUnits; ++j) ASSERT_EQ(map.quantised.exponents()[j], exponent);
        for (std::size_t step = 0; step < 10; ++step) {
          ASSERT_NO_FATAL_FAILURE(expect_defined_sweep(random_state(50, kUnits, levels, 0.5, step), map,
                                                       Key{2}.at(Purpose::kGibbs, step), 0));
        }
      }
    }
  }
}

TEST(Sequential, FixedUnitsStayAndTheOthersAreThoseOfTheDefinition) {
  // Few and many fixed units, one row for all chains and a row for each; and, as if they were data, all of the first
  // tiles.
  for (const Levels levels : {kBinary, kSpins}) {
    for (const std::size_t units : {5u, 32u, 90u, 130u}) {
      const Map map(symmetric(random_matrix(units, units, 3, 0.3f)), random_matrix(1, units, 4), levels);
      const State start = random_state(150, units, levels, 0.5, 5);
      Bits data(1, units);
      for (std::size_t j = 0; j < units * 3 / 4; ++j) data.set(0, j, true);
      Bits mixed = test::random_bits(150, units, 0.5, 8);
      for (std::size_t r = 0; r < 150; r += 3) std::fill(mixed.row(r).begin(), mixed.row(r).end(), 0);
      for (const Bits& fixed :
           {test::random_bits(1, units, 0.2, 6), test::random_bits(150, units, 0.8, 7), data, mixed}) {
        const Draw draw = Key{9}.at(Purpose::kGibbs);
        State truth = start;
        sweep_plainly(truth, map, draw, 7, FixedUnits(fixed));
        test::for_each_target([&] {
          State x = start;
          sweep_in_turn(x, FixedUnits(fixed), map, draw, 7, {});
          ASSERT_TRUE(x == truth) << units << " units, " << fixed.rows() << " rows of fixed ones";
        });
      }
    }
  }
}

TEST(Sequential, BitsDependNeitherOnThreadsNorOnTheSplitOfTheBatch) {
  for (const Levels levels : {kBinary, kSpins}) {
    const Map map(symmetric(random_matrix(90, 90, 3, 0.1f)), random_matrix(1, 90, 4), levels);
    const State start = random_state(300, 90, levels, 0.5, 5);
    const Draw draw = Key{6}.at(Purpose::kGibbs);
    State truth = start;
    sweep_plainly(truth, map, draw, 7);
    test::for_each_target([&] {
      for (const std::size_t count : {1u, 2u, 3u}) {
        Threads threads(count);
        State x = start;
        sweep_in_turn(x, map, draw, 7, Context{&threads});
        ASSERT_TRUE(x == truth) << count << " threads";
      }
      for (const std::size_t split : {1u, 7u, 8u, 9u, 100u, 128u, 299u}) {
        State first = test::rows_of(start, 0, split), second = test::rows_of(start, split, 300 - split);
        sweep_in_turn(first, map, draw, 7, {});
        sweep_in_turn(second, map, draw, 7 + split, {});
        ASSERT_TRUE(first == test::rows_of(truth, 0, split)) << split;
        ASSERT_TRUE(second == test::rows_of(truth, split, 300 - split)) << split;
      }
    });
  }
}

TEST(Sequential, ChainsReachTheBoltzmannDistribution) {
  // Three units, so eight states, with p(x) in proportion to exp(x'Wx / 2 + b'x). Chains are independent, so their
  // states after many sweeps follow the multinomial, and chi-square has 7 degrees of freedom: its 0.999 quantile is
  // 24.32. The slowest mode of such couplings shrinks at least by half in a sweep; after 40, nothing is left of it.
  constexpr std::size_t kChains = 20000, kUnits = 3, kStates = 8;
  for (const Levels levels : {kBinary, kSpins}) {
    const Map map(symmetric(random_matrix(kUnits, kUnits, 7, 0.5f)), random_matrix(1, kUnits, 8, 0.5f), levels);
    std::vector<double> p(kStates);
    double z = 0.0;
    for (std::size_t s = 0; s < kStates; ++s) {
      const auto value = [&](std::size_t i) { return double{(s >> i) & 1u ? levels.high : levels.low}; };
      double log_p = 0.0;
      for (std::size_t i = 0; i < kUnits; ++i) {
        log_p += map.bias(0, i) * value(i);
        for (std::size_t j = 0; j < i; ++j) log_p += map.weights(i, j) * value(i) * value(j);
      }
      z += p[s] = std::exp(log_p);
    }
    test::for_each_target([&] {
      State x(kChains, kUnits, levels);
      for (std::size_t step = 0; step < 40; ++step) sweep_in_turn(x, map, Key{9}.at(Purpose::kGibbs, step), 0, {});
      std::vector<double> counts(kStates);
      for (std::size_t r = 0; r < kChains; ++r) ++counts[x.bits().row(r)[0]];
      double chi_square = 0.0;
      for (std::size_t s = 0; s < kStates; ++s) {
        const double expected = kChains * p[s] / z;
        chi_square += (counts[s] - expected) * (counts[s] - expected) / expected;
      }
      EXPECT_LT(chi_square, 24.32);
    });
  }
}

}  // namespace
}  // namespace ergodic
