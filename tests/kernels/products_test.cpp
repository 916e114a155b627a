#include "ergodic/kernels/products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::kPairings, test::kEdges;
using test::Map, test::random_map, test::random_matrix, test::random_state, test::expect_defined_sample;

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
    const Map map = random_map(inputs, outputs, 2, levels);
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

/// Compares with the definition at one size after another, with other inputs each time.
class SampleCases {
 public:
  void check(std::size_t chains, std::size_t inputs, std::size_t outputs) {
    const auto [input, output] = varied_.pairing();
    expect_defined_sample(random_state(chains, inputs, input, varied_.density(), varied_.turn()),
                          Map(varied_.weights(inputs, outputs), varied_.bias(outputs), input),
                          Key{varied_.turn()}.at(Purpose::kGibbs, 3), 100, output);
    varied_.next();
  }

 private:
  test::VariedInputs varied_;
};

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionForAnyNumberOfInputs) {
  SampleCases cases;
  for (std::size_t inputs = 1; inputs <= 130; ++inputs) {
    for (const std::size_t outputs : {1u, 33u, 70u}) {
      ASSERT_NO_FATAL_FAILURE(cases.check(8 + inputs % 5, inputs, outputs));
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionForAnyNumberOfOutputs) {
  SampleCases cases;
  for (std::size_t outputs = 1; outputs <= 130; ++outputs) {
    for (const std::size_t inputs : {3u, 64u, 97u}) {
      ASSERT_NO_FATAL_FAILURE(cases.check(8 + outputs % 5, inputs, outputs));
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionAroundTheEdgesOfTilesAndBlocks) {
  SampleCases cases;
  for (const std::size_t inputs : kEdges) {
    for (const std::size_t outputs : kEdges) {
      ASSERT_NO_FATAL_FAILURE(cases.check(8 + inputs % 2, inputs, outputs));
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionForAnyNumberOfChains) {
  SampleCases cases;
  std::vector<std::size_t> counts;
  for (std::size_t chains = 1; chains <= 20; ++chains) counts.insert(counts.end(), 11, chains);
  for (const std::size_t chains : {511u, 512u, 513u, 1024u, 1025u}) counts.insert(counts.end(), 11, chains);
  for (const std::size_t chains : counts) ASSERT_NO_FATAL_FAILURE(cases.check(chains, 65, 33));
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionForWeightsOfAnySize) {
  SampleCases cases;
  for (std::size_t k = 0; k < 1260; ++k) ASSERT_NO_FATAL_FAILURE(cases.check(24, 130, 40));
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionForBiasesUpToInfinity) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kBiases[] = {0.0f, 64.0f, 127.0f, 2000.0f, 1e4f, 1e9f, 3e38f, kInfinity};
  for (const float weight_scale : {0.0f, 1e-6f, 0.1f, 30.0f}) {
    for (const auto& [input, output] : kPairings) {
      Matrix<float> bias(1, 2 * std::size(kBiases));
      for (std::size_t j = 0; j < bias.cols(); ++j) bias(0, j) = (j % 2 == 0 ? 1.0f : -1.0f) * kBiases[j / 2];
      const Map map(random_matrix(70, bias.cols(), 23, weight_scale), std::move(bias), input);
      // So many coins that the upper bits of some are all zeros or all ones.
      for (std::size_t step = 0; step < 3; ++step) {
        ASSERT_NO_FATAL_FAILURE(expect_defined_sample(random_state(1500, 70, input, 0.3, 24), map,
                                                      Key{25}.at(Purpose::kGibbs, step), 0, output));
      }
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionForABiasThatIsNotANumber) {
  for (const auto& [input, output] : kPairings) {
    for (const float weight : {0.01f, -0.01f}) {
      Matrix<float> weights(100, 8), bias(1, 8);
      for (float& w : weights.elements()) w = weight;
      for (float& b : bias.elements()) b = NAN;
      const Map map(std::move(weights), std::move(bias), input);
      ASSERT_NO_FATAL_FAILURE(
          expect_defined_sample(random_state(64, 100, input, 0.5, 1), map, Key{3}.at(Purpose::kGibbs), 0, output));
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionInBothTails) {
  // Probabilities around 2^-16, where the upper bits alone never decide; and a million coins, so that some fall there.
  Matrix<float> bias(1, 128);
  for (std::size_t j = 0; j < 128; ++j) {
    bias(0, j) = (j % 2 == 0 ? 0.5f : -0.5f) * (7.0f + 0.1f * static_cast<float>(j));
  }
  for (const float weight_scale : {0.0f, 0.01f}) {
    const Map map(random_matrix(20, 128, 26, weight_scale), bias, kBinary);
    const State x = random_state(1024, 20, kBinary, 0.5, 27);
    for (std::size_t step = 0; step < 6; ++step) {
      ASSERT_NO_FATAL_FAILURE(expect_defined_sample(x, map, Key{28}.at(Purpose::kGibbs, step), 0, kSpins));
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionWithOneHugeWeightAmongSmallOnes) {
  for (const auto& [input, output] : kPairings) {
    for (const float huge : {1.0f, 100.0f, 900.0f, 2040.0f, -2048.0f, 4000.0f, -1e10f, 1e38f, INFINITY, NAN}) {
      for (const std::size_t at : {0u, 37u, 69u}) {
        Matrix<float> weights = random_matrix(130, 70, 29, 0.05f);
        weights(2 * at - at / 2, at) = huge;
        const Map map(std::move(weights), random_matrix(1, 70, 30), input);
        ASSERT_NO_FATAL_FAILURE(
            expect_defined_sample(random_state(20, 130, input, 0.3, 31), map, Key{32}.at(Purpose::kGibbs), 0, output))
            << huge;
      }
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionWithColumnsOfZerosAndTilesOfDifferentScale) {
  for (const auto& [input, output] : kPairings) {
    Matrix<float> weights = random_matrix(130, 200, 33);
    for (std::size_t i = 0; i < 130; ++i) {
      for (std::size_t j = 0; j < 200; ++j) {
        constexpr float kScales[] = {1e-6f, 1e-3f, 0.1f, 1.0f, 10.0f, 0.0f, 0.3f};
        weights(i, j) *= j % 3 == 0 ? 0.0f : kScales[j / kTileColumns];
      }
      weights(i, 40) *= 1e4f;  // alone in its tile
    }
    const Map map(std::move(weights), random_matrix(1, 200, 34), input);
    ASSERT_TRUE(map.quantised.usable());
    ASSERT_NE(map.quantised.exponents()[1], map.quantised.exponents()[40]);
    for (const double density : {0.02, 0.3, 1.0}) {
      ASSERT_NO_FATAL_FAILURE(expect_defined_sample(random_state(40, 130, input, density, 35), map,
                                                    Key{36}.at(Purpose::kGibbs), 0, output));
    }
  }
}

TEST(Kernels, SampledBitsAreThoseOfTheDefinitionAtAnyTemperature) {
  test::VariedInputs varied;
  for (std::size_t k = 0; k < 630; ++k, varied.next()) {
    const auto [input, output] = varied.pairing();
    Map map(varied.weights(70, 40), varied.bias(40), input);
    map.beta = std::array{0.0, 1e-3, 0.1, 0.5, 0.9, 0.999}[k % 6];
    if (k % 4 != 0) map.base = random_matrix(1, 40, k, std::array{0.0f, 1.0f, 100.0f, 1e4f, 1e6f}[k % 5]);
    for (const std::size_t chains : {1u, 20u}) {
      ASSERT_NO_FATAL_FAILURE(expect_defined_sample(random_state(chains, 70, input, varied.density(), k), map,
                                                    Key{k}.at(Purpose::kGibbs), 3, output))
          << map.beta;
    }
  }
}

TEST(Kernels, SampledBitsDependNeitherOnThreadsNorOnTheSplitOfTheBatch) {
  constexpr std::size_t kChains = 50;
  for (const auto& pairing : kPairings) {
    const Levels input = pairing.first, output = pairing.second;
    const State x = random_state(kChains, 100, input, 0.3, 8);
    const Map map = random_map(100, 177, 9, input, 0.2f);
    const Draw draw = Key{11}.at(Purpose::kGibbs);
    const State truth = test::defined_sample(x, map, draw, 7, output);
    test::for_each_target([&] {
      for (const std::size_t count : {1u, 2u, 3u}) {
        Threads threads(count);
        State drawn(kChains, 177, output);
        sample(x, map, draw, 7, drawn, Context{&threads});
        ASSERT_TRUE(drawn == truth) << count << " threads";
      }
      for (std::size_t split = 1; split < kChains; ++split) {
        State first(split, 177, output), second(kChains - split, 177, output);
        sample(test::rows_of(x, 0, split), map, draw, 7, first, {});
        sample(test::rows_of(x, split, kChains - split), map, draw, 7 + split, second, {});
        ASSERT_TRUE(first == test::rows_of(truth, 0, split)) << split;
        ASSERT_TRUE(second == test::rows_of(truth, split, kChains - split)) << split;
      }
      for (std::size_t r = 0; r < kChains; ++r) {
        State one(1, 177, output);
        sample(test::rows_of(x, r, 1), map, draw, 7 + r, one, {});
        ASSERT_TRUE(one == test::rows_of(truth, r, 1)) << r;
      }
    });
  }
}

TEST(Kernels, ManyThreadsSampleManyChains) {
  const State x = random_state(1300, 90, kBinary, 0.3, 38);
  const Map map = random_map(90, 130, 39, kBinary, 0.2f);
  const Draw draw = Key{40}.at(Purpose::kGibbs);
  const State truth = test::defined_sample(x, map, draw, 0, kSpins);
  test::for_each_target([&] {
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      State drawn(1300, 130, kSpins);
      sample(x, map, draw, 0, drawn, Context{&threads});
      ASSERT_TRUE(drawn == truth) << count << " threads";
    }
  });
}

TEST(Kernels, AUnitIsHighWithTheSigmoidOfItsFieldAndIndependentlyOfItsNeighbour) {
  // Nothing here is shared with the code but the weights: the truth is libm's, and the random numbers are only counted.
  constexpr std::size_t kChains = 512, kSteps = 100, kInputs = 40, kOutputs = 48;
  for (const auto& pairing : kPairings) {
    const Levels input = pairing.first, output = pairing.second;
    const Map map = random_map(kInputs, kOutputs, 41, input, 0.2f);
    const State one = random_state(1, kInputs, input, 0.5, 42);
    State x(kChains, kInputs, input);
    for (std::size_t r = 0; r < kChains; ++r) x.bits().row(r)[0] = one.bits().row(0)[0];
    std::vector<double> p(kOutputs);
    for (std::size_t j = 0; j < kOutputs; ++j) {
      double field = map.bias(0, j);
      for (std::size_t i = 0; i < kInputs; ++i) field += one.value(0, i) * map.weights(i, j);
      p[j] = std::exp(output.high * field) / (std::exp(output.high * field) + std::exp(output.low * field));
    }
    test::for_each_target([&] {
      std::vector<double> on(kOutputs), both(kOutputs);
      State drawn(kChains, kOutputs, output);
      for (std::size_t step = 0; step < kSteps; ++step) {
        sample(x, map, Key{43}.at(Purpose::kGibbs, step), 0, drawn, {});
        for (std::size_t r = 0; r < kChains; ++r) {
          for (std::size_t j = 0; j < kOutputs; ++j) {
            on[j] += drawn.bits().get(r, j);
            both[j] += drawn.bits().get(r, j) && drawn.bits().get(r, (j + 1) % kOutputs);
          }
        }
      }
      // A share of n independent bits has the standard error sqrt(q (1 - q) / n), the bits of all chains and steps
      // being independent; so has the share of two neighbours that are high together, with q their product.
      const double n = kChains * kSteps;
      for (std::size_t j = 0; j < kOutputs; ++j) {
        const double q = p[j] * p[(j + 1) % kOutputs];
        EXPECT_NEAR(on[j] / n, p[j], 4 * std::sqrt(p[j] * (1 - p[j]) / n)) << j;
        EXPECT_NEAR(both[j] / n, q, 4 * std::sqrt(q * (1 - q) / n)) << j;
      }
    });
  }
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

}  // namespace
}  // namespace ergodic
