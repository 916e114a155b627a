#include "ergodic/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/certified.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/couplings.hpp"

namespace ergodic {
namespace {

constexpr Levels kBinary{0.0f, 1.0f}, kSpins{-1.0f, 1.0f};

Matrix<float> random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix<float> out(rows, cols);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t k = 0; k < rows * cols; ++k) {
    out.elements()[k] = static_cast<float>(draw.normal(1, static_cast<std::uint32_t>(k)));
  }
  return out;
}

State random_state(std::size_t chains, std::size_t units, Levels levels, double density, std::uint64_t seed) {
  State out(chains, units, levels);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t r = 0; r < chains; ++r) {
    for (std::size_t i = 0; i < units; ++i) {
      out.bits().set(r, i, draw.uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(i)) < density);
    }
  }
  return out;
}

/// A map with all that is derived from its weights and biases.
struct RandomMap {
  Matrix<float> weights, transposed, bias;
  QuantisedWeights quantised;

  RandomMap(std::size_t inputs, std::size_t outputs, std::uint64_t seed, Levels input, float weight_scale = 1.0f,
            float bias_scale = 1.0f)
      : weights(random_matrix(inputs, outputs, seed)),
        transposed(outputs, inputs),
        bias(random_matrix(1, outputs, seed + 1)),
        quantised(inputs, outputs) {
    for (float& w : weights.elements()) w *= weight_scale;
    for (float& b : bias.elements()) b *= bias_scale;
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t j = 0; j < outputs; ++j) transposed(j, i) = weights(i, j);
    }
    quantised.assign(weights, bias.row(0), input.low, {});
  }

  operator Affine() const { return {weights, transposed, bias.row(0), &quantised}; }
};

/// Calls f(chains, inputs, outputs, levels, density) at odd sizes and at both extremes of density.
template <class F>
void for_each_case(const F& f) {
  for (const std::size_t inputs : {1u, 2u, 7u, 63u, 64u, 65u, 130u}) {
    for (const std::size_t outputs : {1u, 3u, 8u, 9u, 64u, 129u}) {
      for (const Levels levels : {kBinary, kSpins}) {
        for (const double density : {0.0, 0.2, 1.0}) f(std::size_t{9}, inputs, outputs, levels, density);
      }
    }
  }
}

TEST(Kernels, ProductSumsInAscendingOrderInDouble) {
  for_each_case([](std::size_t chains, std::size_t inputs, std::size_t outputs, Levels levels, double density) {
    const State x = random_state(chains, inputs, levels, density, 1);
    const RandomMap map(inputs, outputs, 2, levels);
    Matrix<double> fields(chains, outputs);
    product(x, map, fields, {});
    for (std::size_t r = 0; r < chains; ++r) {
      for (std::size_t j = 0; j < outputs; ++j) {
        double truth = map.bias(0, j);
        for (std::size_t i = 0; i < inputs; ++i) truth += double{x.value(r, i)} * map.weights(i, j);
        ASSERT_EQ(fields(r, j), truth);  // to the last bit: this order is the definition
      }
    }
  });
}

TEST(Kernels, SampleComparesTheCoinWithTheSigmoidOfTheField) {
  for_each_case([](std::size_t chains, std::size_t inputs, std::size_t outputs, Levels levels, double density) {
    const State x = random_state(chains, inputs, levels, density, 4);
    const RandomMap map(inputs, outputs, 5, levels);
    Matrix<double> fields(chains, outputs);
    product(x, map, fields, {});
    const Draw draw = Key{7}.at(Purpose::kGibbs, 3);
    State drawn(chains, outputs, levels);
    sample(x, map, draw, 100, drawn, {});
    for (std::size_t r = 0; r < chains; ++r) {
      for (std::size_t j = 0; j < outputs; ++j) {
        const double p = sigmoid(levels.gap() * fields(r, j));
        ASSERT_EQ(drawn.bits().get(r, j),
                  coin(draw, static_cast<std::uint32_t>(100 + r), static_cast<std::uint32_t>(j), p));
      }
      if (outputs % 64 != 0) {
        ASSERT_EQ(drawn.bits().row(r).back() >> (outputs % 64), 0u);  // the padding stays clean
      }
    }
  });
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionForWeightsOfAnySize) {
  // From weights that barely matter to sums that overflow a float, and biases that saturate.
  for (const float weight_scale : {0.0f, 1e-3f, 0.1f, 3.0f, 1e3f, 1e37f, 1e38f}) {
    for (const float bias_scale : {0.0f, 1.0f, 1e4f}) {
      for (const Levels levels : {kBinary, kSpins}) {
        const RandomMap map(300, 90, 20, levels, weight_scale, bias_scale);
        const State x = random_state(60, 300, levels, 0.3, 21);
        Matrix<double> fields(60, 90);
        product(x, map, fields, {});
        const Draw draw = Key{22}.at(Purpose::kGibbs);
        State drawn(60, 90, levels);
        sample(x, map, draw, 0, drawn, {});
        for (std::uint32_t r = 0; r < 60; ++r) {
          for (std::uint32_t j = 0; j < 90; ++j) {
            ASSERT_EQ(drawn.bits().get(r, j), coin(draw, r, j, sigmoid(levels.gap() * fields(r, j))));
          }
        }
      }
    }
  }
}

TEST(Kernels, TheApproximateSigmoidKeepsItsBound) {
  for (float x = -100.0f; x < 100.0f; x += 0.0037f) {
    ASSERT_NEAR(approximate_sigmoid(x), sigmoid(x), double{kSigmoidError}) << x;
  }
  EXPECT_NEAR(approximate_sigmoid(3e38f), 1.0, double{kSigmoidError});
  EXPECT_NEAR(approximate_sigmoid(-3e38f), 0.0, double{kSigmoidError});
}

TEST(Kernels, SampledBitsDependNeitherOnThreadsNorOnTheSplitOfTheBatch) {
  const State x = random_state(50, 100, kBinary, 0.3, 8);
  const RandomMap map(100, 77, 9, kBinary);
  const Draw draw = Key{11}.at(Purpose::kGibbs);
  State whole(50, 77, kBinary);
  sample(x, map, draw, 0, whole, {});
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    State again(50, 77, kBinary);
    sample(x, map, draw, 0, again, Context{&threads});
    EXPECT_EQ(again, whole);
  }
  for (std::size_t r = 0; r < 50; ++r) {
    State one(1, 100, kBinary), out(1, 77, kBinary);
    std::copy_n(x.bits().row(r).begin(), 2, one.bits().row(0).begin());
    sample(one, map, draw, r, out, {});
    for (std::size_t j = 0; j < 77; ++j) ASSERT_EQ(out.bits().get(0, j), whole.bits().get(r, j));
  }
}

TEST(Kernels, TheCoinHasItsProbability) {
  const Draw draw = Key{12}.at(Purpose::kTest);
  constexpr std::uint32_t kCoins = 100000;
  for (const double p : {0.0, 1e-4, 0.1, 0.5, 0.7310585786300049, 0.999, 1.0}) {
    std::uint32_t on = 0;
    for (std::uint32_t k = 0; k < kCoins; ++k) on += coin(draw, k / 1000, k % 1000, p);
    // 4 standard errors of a binomial share; exact at 0 and 1.
    EXPECT_NEAR(on / double{kCoins}, p, 4 * std::sqrt(p * (1 - p) / kCoins)) << p;
  }
}

TEST(Kernels, TheCoinUsesAll48Bits) {
  // Where the upper 16 bits tie with p, the lower 32 decide: a coin with p = (c + f)/2^16 is on for a share f of ties.
  const Draw draw = Key{13}.at(Purpose::kTest);
  std::uint32_t ties = 0, on = 0;
  for (std::uint32_t k = 0; k < 4000000 && ties < 400; ++k) {
    const bool below_low = coin(draw, k >> 10, k & 1023, 100.0 * 0x1p-16);
    const bool below_high = coin(draw, k >> 10, k & 1023, 101.0 * 0x1p-16);
    if (below_low || !below_high) continue;
    ++ties;
    on += coin(draw, k >> 10, k & 1023, 100.25 * 0x1p-16);
  }
  ASSERT_GE(ties, 30u);
  EXPECT_NEAR(on / static_cast<double>(ties), 0.25, 4 * std::sqrt(0.25 * 0.75 / ties));
}

TEST(Kernels, MeansAreTheExpectedValues) {
  for_each_case([](std::size_t chains, std::size_t inputs, std::size_t outputs, Levels levels, double density) {
    const State x = random_state(chains, inputs, levels, density, 14);
    const RandomMap map(inputs, outputs, 15, levels);
    Matrix<double> fields(chains, outputs);
    Matrix<float> found(chains, outputs);
    product(x, map, fields, {});
    means(x, map, levels, found, {});
    for (std::size_t k = 0; k < found.elements().size(); ++k) {
      const double high = std::exp(levels.high * fields.elements()[k]),
                   low = std::exp(levels.low * fields.elements()[k]);
      ASSERT_NEAR(found.elements()[k], (levels.high * high + levels.low * low) / (high + low), 2e-7);
    }
  });
}

TEST(Kernels, CorrelateAndColumnSumsAgreeWithTheirDefinition) {
  for_each_case([](std::size_t chains, std::size_t inputs, std::size_t outputs, Levels levels, double density) {
    const State x = random_state(chains, inputs, levels, density, 17);
    const Matrix<float> y = random_matrix(chains, outputs, 18);
    std::vector<double> weights(chains);
    for (std::size_t r = 0; r < chains; ++r) weights[r] = 0.1 * static_cast<double>(r + 1);
    Matrix<double> out(inputs, outputs);
    std::vector<double> sums_x(inputs), sums_y(outputs);
    Threads threads(3);
    correlate(x, y, weights, out, Context{&threads});
    add_column_sums(x, weights, sums_x);
    add_column_sums(y, weights, sums_y);
    for (std::size_t i = 0; i < inputs; ++i) {
      double truth_x = 0.0;
      for (std::size_t r = 0; r < chains; ++r) truth_x += weights[r] * x.value(r, i);
      ASSERT_NEAR(sums_x[i], truth_x, 1e-12);
      for (std::size_t j = 0; j < outputs; ++j) {
        double truth = 0.0;
        for (std::size_t r = 0; r < chains; ++r) truth += weights[r] * x.value(r, i) * y(r, j);
        ASSERT_NEAR(out(i, j), truth, 1e-12);
      }
    }
    for (std::size_t j = 0; j < outputs; ++j) {
      double truth = 0.0;
      for (std::size_t r = 0; r < chains; ++r) truth += weights[r] * y(r, j);
      ASSERT_NEAR(sums_y[j], truth, 1e-12);
    }
  });
}

TEST(Kernels, TransposeAtOddSizes) {
  for (const std::size_t rows : {1u, 15u, 16u, 17u, 40u}) {
    for (const std::size_t cols : {1u, 16u, 33u}) {
      const Matrix<float> in = random_matrix(rows, cols, 19);
      Couplings couplings(rows, cols);
      couplings.renew_blocks(in, {});
      const MatrixView<const float> out = couplings.transposed();
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < cols; ++j) ASSERT_EQ(out(j, i), in(i, j));
      }
    }
  }
}

}  // namespace
}  // namespace ergodic
