#include "ergodic/kernels/split_weights.hpp"

#include <gtest/gtest.h>

#include <array>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::Map, test::random_matrix, test::random_state;

/// Compares with the definition, and each instruction set with the others to the last bit.
void expect_fields(const State& x, const Map& map, const Context& context = {}) {
  SCOPED_TRACE(testing::Message() << x.chains() << " x " << x.units() << " x " << map.bias.cols());
  Matrix<double> first;
  test::for_each_target([&] {
    SplitWeights split(map.weights, map.bias.row(0), x.levels(), context);
    ASSERT_TRUE(split.usable());
    Matrix<double> found(x.chains(), map.bias.cols());
    split.product(x, found, context);
    if (first.rows() == 0) first = found;
    ASSERT_TRUE(found == first);
    for (std::size_t r = 0; r < x.chains(); ++r) {
      for (std::size_t j = 0; j < found.cols(); ++j) {
        // Every input counts if it is a spin. Sums in double are off by far less than a unit.
        const double error = split.error(j, x.units()) + 1e-12;
        ASSERT_NEAR(found(r, j), test::defined_field(x, r, map, j), error) << r << ", " << j;
      }
    }
  });
}

TEST(SplitWeights, FieldsAreWithinTheirErrorAtAllSizes) {
  for (std::size_t size = 1; size <= 130; size += size < 70 ? 1 : 7) {
    for (const Levels levels : {kBinary, kSpins}) {
      const float scale = std::array{1e-4f, 0.1f, 1.0f, 10.0f}[size % 4];
      const double density = std::array{0.0, 0.1, 0.5, 1.0, 0.3}[size % 5];
      ASSERT_NO_FATAL_FAILURE(
          expect_fields(random_state(9, size, levels, density, size), test::random_map(size, 33, size, levels, scale)));
      ASSERT_NO_FATAL_FAILURE(
          expect_fields(random_state(9, 65, levels, density, size), test::random_map(65, size, size, levels, scale)));
      ASSERT_NO_FATAL_FAILURE(
          expect_fields(random_state(size, 70, levels, density, size), test::random_map(70, 31, size, levels, scale)));
    }
  }
}

TEST(SplitWeights, FieldsAreTheSameForAnyNumberOfThreadsAndBeyondOnePlan) {
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    ASSERT_NO_FATAL_FAILURE(expect_fields(random_state(600, 100, kBinary, 0.3, 1),
                                          test::random_map(100, 70, 2, kBinary), Context{&threads}));
  }
}

TEST(SplitWeights, SampledAfterAProductAreTheBitsOfTheDefinition) {
  // Few chains, which tables do not pay for; all sizes of the last tile; more than one plan.
  for (const auto& [chains, inputs, outputs] :
       {std::array<std::size_t, 3>{3, 70, 40}, {9, 65, 33}, {40, 130, 96}, {600, 20, 70}}) {
    for (const Levels levels : {kBinary, kSpins}) {
      Map map = test::random_map(inputs, outputs, chains, levels);
      map.beta = 0.3;
      const State x = random_state(chains, inputs, levels, 0.4, 7);
      const Draw draw = Key{8}.at(Purpose::kGibbs);
      const State truth = test::defined_sample(x, map, draw, 5, kBinary);
      test::for_each_target([&] {
        SplitWeights split(map.weights, map.bias.row(0), levels, {});
        Matrix<double> fields(chains, outputs);
        split.product(x, fields, {});
        State drawn(chains, outputs, kBinary);
        split.sample(x, map, draw, 5, drawn, {});
        ASSERT_EQ(drawn.bits(), truth.bits());
      });
    }
  }
}

TEST(SplitWeights, TheErrorIsThatOfSinglePrecision) {
  const Map map = test::random_map(784, 64, 3, kBinary, 0.1f);
  const SplitWeights split(map.weights, map.bias.row(0), kBinary, {});
  for (std::size_t j = 0; j < 64; ++j) EXPECT_LE(split.error(j, 100), 100 * 0.5 * 0x1p-22);
}

TEST(SplitWeights, WhatIsTooLargeIsSaidToBe) {
  for (const float scale : {1e4f, 1e30f}) {
    const Map map = test::random_map(70, 40, 3, kBinary, scale);
    EXPECT_FALSE(SplitWeights(map.weights, map.bias.row(0), kBinary, {}).usable());
  }
}

}  // namespace
}  // namespace ergodic
