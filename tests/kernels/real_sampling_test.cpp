#include "ergodic/kernels/real_sampling.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ergodic/core/threads.hpp"
#include "ergodic/kernels/float_fields.hpp"
#include "ergodic/kernels/real_draws.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::for_each_target, test::kBinary, test::kSpins, test::Map, test::random_map, test::random_matrix;

/// The definition: fields in float, and the coin of each.
State defined(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, Levels levels) {
  State out(x.chains(), map.bias.size(), levels);
  for_float_fields(x, map, {}, [&](std::size_t r, std::span<const float> fields) {
    draw_coins(fields, levels.gap(), draw, static_cast<std::uint32_t>(first_chain + r), out.bits().row(r));
  });
  return out;
}

/// Compares the bits of a draw with the definition. Returns whether integers served.
bool check(const Matrix<float>& inputs, const Map& map, Levels levels, std::uint64_t seed,
           const Context& context = {}) {
  const State x(inputs);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  State out(x.chains(), map.bias.cols(), levels);
  sample(x, map, draw, 7, out, context);
  EXPECT_EQ(out, defined(x, map, draw, 7, levels)) << "seed " << seed;
  return sample_given_reals(x, map, draw, 7, out, context);
}

TEST(RealSampling, DrawsTheDefinedBitsAtAllSizesOnEveryTarget) {
  for_each_target([] {
    const bool plain = plain_target();
    std::uint64_t seed = 0;
    for (const std::size_t rows : {16u, 17u, 23u, 24u, 25u, 100u}) {
      for (const std::size_t inputs : {1u, 2u, 7u, 8u, 9u, 31u, 32u, 33u, 64u, 129u}) {
        for (const std::size_t units : {1u, 20u, 31u, 32u, 33u, 65u, 128u, 140u}) {
          ++seed;
          const Map map = random_map(inputs, units, seed, kBinary, 0.3f);
          const bool served = check(random_matrix(rows, inputs, seed + 1), map, seed % 2 ? kBinary : kSpins, seed);
          ASSERT_EQ(served, !plain);
        }
      }
    }
  });
}

TEST(RealSampling, DecidesThousandsOfCloseCoinsByTheDefinition) {
  for_each_target([] {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      for (const float scale : {0.01f, 0.1f, 1.0f, 30.0f}) {
        check(random_matrix(200, 784, 10 + seed), random_map(784, 96, seed, kBinary, scale), kBinary, seed);
      }
    }
  });
}

TEST(RealSampling, KeepsTheBitsAtExtremeScales) {
  for_each_target([] {
    std::uint64_t seed = 100;
    for (const float x_scale : {0.0f, 1e-38f, 1e-25f, 1e-6f, 1e6f, 1e12f, 1e18f, 1e30f}) {
      for (const float w_scale : {0.0f, 1e-38f, 1e-12f, 1.0f, 1e9f, 1e20f}) {
        for (const float bias_scale : {0.0f, 1.0f, 1e17f}) {
          ++seed;
          Matrix<float> x = random_matrix(20, 50, seed, x_scale);
          std::ranges::fill(x.row(3), 0.0f);  // a row of nothing, and one with a single input
          std::ranges::fill(x.row(4), 0.0f);
          x(4, 7) = x_scale;
          check(x, random_map(50, 40, seed, kBinary, w_scale, bias_scale), kBinary, seed);
        }
      }
    }
  });
}

TEST(RealSampling, LeavesNumbersThatAreNotFiniteToFloats) {
  for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e30f}) {
    Matrix<float> x = random_matrix(20, 50, 1);
    const Map good = random_map(50, 40, 1, kBinary);
    State out(20, 40, kBinary);
    const Draw draw = Key{1}.at(Purpose::kTest);
    x(19, 49) = odd;
    EXPECT_FALSE(sample_given_reals(State(x), good, draw, 0, out, {}));
    x(19, 49) = 0.0f;
    Matrix<float> weights = good.weights, bias = good.bias;
    weights(49, 39) = odd;
    EXPECT_FALSE(sample_given_reals(State(x), Map(weights, good.bias, kBinary), draw, 0, out, {}));
    bias(0, 39) = odd;
    EXPECT_FALSE(sample_given_reals(State(x), Map(good.weights, bias, kBinary), draw, 0, out, {}));
  }
}

TEST(RealSampling, IsTheSameWhenTemperedAndForAnyNumberOfThreads) {
  for_each_target([] {
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      Map map = random_map(300, 200, count, kBinary, 0.2f);
      check(random_matrix(700, 300, 5), map, kSpins, count, Context{&threads});
      map.beta = 0.37;
      check(random_matrix(60, 300, 6), map, kBinary, count, Context{&threads});
      map.base = random_matrix(1, 200, 7);
      check(random_matrix(60, 300, 6), map, kBinary, count, Context{&threads});
    }
  });
}

}  // namespace
}  // namespace ergodic
