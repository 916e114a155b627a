#include "ergodic/kernels/table_sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kPairings;
using test::Map, test::random_map, test::random_matrix, test::random_state;

TEST(TableSampling, TheSigmoidKeepsItsBoundForAllFieldsAndIsTheSameEverywhere) {
  std::vector<std::int16_t> fields(65536);
  std::iota(fields.begin(), fields.end(), std::int16_t{-32768});
  std::vector<std::uint16_t> first;
  test::for_each_target([&] {
    if (plain_target()) return;  // has no tables, and does not sample by them
    std::vector<std::uint16_t> found(fields.size());
    tail16(fields, found);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const double truth = 65536.0 / (1.0 + std::exp(std::abs(fields[k] / 4096.0)));
      ASSERT_LE(std::abs(found[k] - truth), kTail16Error) << fields[k];
      // Rising to the middle and falling from there, but for the rounding of the two products of a parabola, the joints
      // between them and the last piece, which is lower.
      if (k > 0) {
        const int rise = fields[k] <= 0 ? found[k] - found[k - 1] : found[k - 1] - found[k];
        ASSERT_GE(rise, -2) << fields[k];
      }
    }
    // The first and the last stand for all beyond, down to zero.
    ASSERT_LE(found.front(), kTail16Error);
    ASSERT_LE(found.back(), kTail16Error);
    if (first.empty()) first = found;
    ASSERT_EQ(found, first);
  });
}

TEST(TableSampling, TablesServeWhereTheyCan) {
  const State few = random_state(1, 20, kBinary, 0.5, 1), many = random_state(64, 20, kBinary, 0.5, 1);
  const State out_few(1, 30, kBinary), out_many(64, 30, kBinary);
  const Map map = random_map(20, 30, 2, kBinary);
  EXPECT_TRUE(tables_serve(many, map, out_many));
  EXPECT_FALSE(tables_serve(few, map, out_few));                                          // they do not pay
  EXPECT_FALSE(tables_serve(many, random_map(20, 30, 2, kBinary, 1e30f), out_many));      // beyond 16 bits
  EXPECT_FALSE(tables_serve(random_state(64, 20, {0.0f, 2.0f}, 0.5, 1), map, out_many));  // other levels
  EXPECT_FALSE(tables_serve(many, map, State(64, 30, {-2.0f, 1.0f})));
}

TEST(TableSampling, OtherLevelsAreSampledToo) {
  for (const Levels input : {Levels{0.0f, 2.0f}, Levels{-0.5f, 1.0f}}) {
    const Map map = random_map(70, 40, 3, input, 0.2f);
    for (const Levels output : {Levels{0.0f, 0.5f}, Levels{-2.0f, 1.0f}}) {
      ASSERT_NO_FATAL_FAILURE(
          test::expect_defined_sample(random_state(20, 70, input, 0.3, 4), map, Key{5}.at(Purpose::kGibbs), 0, output));
    }
  }
}

TEST(TableSampling, BlockSumsAtTheLimitOf16BitsDoNotOverflow) {
  // All inputs on, and the values of a block add up to 32766 units of one sign, or of both in different columns; a
  // unit more, and the exponent changes. The bias brings the field back to where the bit is open.
  for (const auto& [input, output] : kPairings) {
    for (const int exponent : {5, 8, 11, 12, 13, 14, 20}) {
      for (const int total : {32765, 32766, 32767}) {
        for (const std::size_t inputs : {4u, 64u, 200u}) {
          constexpr std::size_t kOutputs = 36;
          Matrix<float> weights(inputs, kOutputs), bias(1, kOutputs);
          for (std::size_t j = 0; j < kOutputs; ++j) {
            const int sign = j % 2 == 0 ? 1 : -1;
            double sum = 0.0;
            for (std::size_t begin = 0; begin < inputs; begin += kBlockRows) {
              const auto rows = static_cast<int>(std::min(kBlockRows, inputs - begin));
              for (int i = 0; i < rows; ++i) {
                const int units = i == 0 ? total - (rows - 1) * (total / rows) : total / rows;
                const double w = std::ldexp(sign * units, -exponent);
                weights(begin + static_cast<std::size_t>(i), j) = static_cast<float>(w);
                sum += w;
              }
            }
            bias(0, j) = static_cast<float>(-sum + 0.1 * static_cast<double>(j) - 1.8);
          }
          const Map map(std::move(weights), std::move(bias), input);
          for (std::size_t j = 0; j < kOutputs; ++j) {
            ASSERT_EQ(map.quantised.exponents()[j], total == 32767 ? exponent - 1 : exponent);
          }
          for (const double density : {1.0, 0.98, 0.5}) {
            ASSERT_NO_FATAL_FAILURE(test::expect_defined_sample(random_state(12, inputs, input, density, 6), map,
                                                                Key{7}.at(Purpose::kGibbs), 0, output))
                << exponent << ", " << total;
          }
        }
      }
    }
  }
}

// ---- Certified by margins, not by luck ----
// The tests below know the random numbers, and set each unit's field in one chain as close beside the point where the
// bit turns as they want. So each bit checked is one that a margin too small would get wrong.

constexpr std::size_t kUnits = 64;
constexpr std::size_t kTrims = 2;  // inputs that are always on, whose weights complete a field to its last bit

double upper_bits(const Draw& draw, std::size_t chain, std::size_t unit) {
  const auto j = static_cast<std::uint32_t>(unit);
  return coarse_bits(draw.words(static_cast<std::uint32_t>(chain), j / kCoarseUnits), j);
}

/// The 48 random bits of a coin, as the number in [0, 1) that the probability is compared with.
double random_number(const Draw& draw, std::size_t chain, std::size_t unit) {
  const auto j = static_cast<std::uint32_t>(unit);
  const std::uint32_t lower = draw.words(static_cast<std::uint32_t>(chain), kFineBlocks | (j / 4))[j % 4];
  return (upper_bits(draw, chain, unit) + lower * 0x1p-32) * 0x1p-16;
}

double logit(double p) { return std::log(p) - std::log1p(-p); }

/// The chain in which the field of a unit is set.
std::size_t chain_of(std::size_t unit, std::size_t chains) { return unit % chains; }

State trimmed_state(std::size_t chains, std::size_t inputs, Levels levels, double density, std::uint64_t seed) {
  State out = random_state(chains, inputs, levels, density, seed);
  for (std::size_t r = 0; r < chains; ++r) {
    for (std::size_t i = 0; i < kTrims; ++i) out.bits().set(r, i, true);
  }
  return out;
}

/// Where gap * field shall be in the unit's chain, and what the bit must be there, if that is known beforehand.
struct Aim {
  double field;
  std::optional<bool> high;
};

/// Beside the random number, at a distance in units of gap * field. Above it the bit is high, if the distance makes
/// more than 1e-14 of a probability: logit, sigmoid and the sum of the field are off by a few 1e-16 each.
Aim beside_random_number(const Draw& draw, std::size_t chain, std::size_t unit, double distance) {
  const double u = random_number(draw, chain, unit);
  const bool known = u * (1.0 - u) * std::abs(distance) > 1e-14;
  return {logit(u) + distance, known ? std::optional(distance > 0.0) : std::nullopt};
}

/// Sets the biases and the trims to meet the aims, samples, and compares with what is known and with the definition.
void expect_turns(const State& x, const Matrix<float>& weights, const Draw& draw, Levels output,
                  const std::vector<Aim>& aims, std::size_t first_chain = 0, double beta = 1.0,
                  float base_scale = 3.0f) {
  Map map(weights, Matrix<float>(1, kUnits), x.levels());
  map.beta = beta;
  map.base = random_matrix(1, kUnits, 20, base_scale);
  for (std::size_t j = 0; j < kUnits; ++j) {
    const auto missing = [&] {
      const double field = test::defined_field(x, chain_of(j, x.chains()), map, j);
      return static_cast<float>((aims[j].field / output.gap() - field) / beta);
    };
    for (std::size_t i = 0; i < kTrims; ++i) map.transposed(j, i) = 0.0f;
    map.bias(0, j) = missing();
    for (std::size_t i = 0; i < kTrims; ++i) map.transposed(j, i) = missing();
    for (std::size_t i = 0; i < kTrims; ++i) map.weights(i, j) = map.transposed(j, i);
  }
  map.quantised.assign(map.weights, map.bias.row(0), {});
  const State truth = test::defined_sample(x, map, draw, first_chain, output);
  test::for_each_target([&] {
    State drawn(x.chains(), kUnits, output);
    sample(x, map, draw, first_chain, drawn, {});
    for (std::size_t j = 0; j < kUnits; ++j) {
      if (!aims[j].high) continue;
      ASSERT_EQ(drawn.bits().get(chain_of(j, x.chains()), j), *aims[j].high) << "unit " << j;
    }
    ASSERT_TRUE(drawn == truth);
  });
}

TEST(TableSampling, TheBitTurnsWhereTheFieldCrossesTheRandomNumber) {
  constexpr double kDistances[] = {1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5,
                                   3e-5,  1e-4,  3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1};
  std::size_t known = 0;
  for (const auto& [input, output] : kPairings) {
    for (const float weight_scale : {0.0f, 0.02f, 0.2f, 30.0f}) {
      const Matrix<float> weights = random_matrix(100, kUnits, 8, weight_scale);
      for (const std::size_t chains : {1u, 9u}) {  // certified in float, and by tables
        const State x = trimmed_state(chains, 100, input, 0.3, 9);
        for (std::size_t step = 0; step < 2 * std::size(kDistances); ++step) {
          const Draw draw = Key{10}.at(Purpose::kGibbs, step);
          std::vector<Aim> aims(kUnits);
          for (std::size_t j = 0; j < kUnits; ++j) {
            const double distance = kDistances[(j / 2 + step / 2) % std::size(kDistances)];
            aims[j] = beside_random_number(draw, chain_of(j, chains), j, (j + step) % 2 == 0 ? distance : -distance);
            known += aims[j].high.has_value();
          }
          for (const double beta : {1.0, 0.4}) {
            ASSERT_NO_FATAL_FAILURE(expect_turns(x, weights, draw, output, aims, 0, beta))
                << weight_scale << ", " << beta;
          }
        }
      }
    }
  }
  EXPECT_GT(known, 60000u);  // nearly all that there are
}

TEST(TableSampling, TheBitTurnsWhereTheProbabilityCrossesTheUpperBits) {
  // Without weights, only the error of the sigmoid is left, which is largest somewhere: probabilities within 40 units
  // of 2^-16 from the upper bits, everywhere in [0, 1].
  constexpr double kBelow[] = {-1e-4, -1e-3, -0.01, -0.1, -0.5, -1, -2, -4, -7, -10, -14, -18, -22, -26, -30, -40};
  const Matrix<float> nothing(kTrims, kUnits);
  for (const auto& [input, output] : kPairings) {
    for (const std::size_t chains : {1u, 16u}) {
      const State x = trimmed_state(chains, kTrims, input, 0.5, 11);
      for (std::size_t step = 0; step < 250; ++step) {
        const Draw draw = Key{12}.at(Purpose::kGibbs, step);
        std::vector<Aim> aims(kUnits);
        for (std::size_t j = 0; j < kUnits; ++j) {
          // Just below the upper bits, just above all that they may be followed by, or between.
          const double below = kBelow[(j / 3 + step) % std::size(kBelow)];
          const double off = j % 3 == 0 ? below : j % 3 == 1 ? 1.0 - below : -below / 40.0;
          const double p = (upper_bits(draw, chain_of(j, chains), j) + off) * 0x1p-16;
          if (p > 0.0 && p < 1.0) {
            aims[j] = {logit(p), j % 3 == 2 ? std::nullopt : std::optional(j % 3 == 1)};
          } else {
            aims[j] = {p < 0.5 ? -20.0 : 20.0, std::nullopt};
          }
        }
        ASSERT_NO_FATAL_FAILURE(expect_turns(x, nothing, draw, output, aims));
      }
    }
  }
}

TEST(TableSampling, TheBitTurnsWhereItShouldWhenAllWeightsAreRoundedTheSameWay) {
  // Each weight is 0.49 units from its rounded value, and all inputs are on, so the rounded field is off by nearly all
  // that it can be. Fields beside the random number by any part of that error, on either side.
  constexpr double kParts[] = {0.01, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01, 1.1};
  constexpr std::size_t kChains = 12;
  for (const auto& [input, output] : kPairings) {
    for (const int exponent : {5, 6, 7, 8, 9, 10, 11, 12, 14, 17}) {
      for (const std::size_t inputs : {4u, 64u, 200u}) {
        for (const double way : {0.49, -0.49}) {
          // So many units that a block holds no more, which fixes the exponent; in turn of either sign.
          Matrix<float> weights(kTrims + inputs, kUnits);
          for (std::size_t i = 0; i < inputs; ++i) {
            const double units = (i % 2 == 0 ? 1.0 : -1.0) * (inputs == 4 ? 10000.0 : 600.0) + way;
            for (float& w : weights.row(kTrims + i)) w = static_cast<float>(std::ldexp(units, -exponent));
          }
          QuantisedWeights quantised(weights.rows(), kUnits, input.low);
          quantised.assign(weights, std::vector<float>(kUnits), {});
          for (std::size_t j = 0; j < kUnits; ++j) ASSERT_EQ(quantised.exponents()[j], exponent);
          const double error = std::ldexp(output.gap() * std::abs(way) * static_cast<double>(inputs), -exponent);
          const State x = random_state(kChains, weights.rows(), input, 1.0, 13);
          for (std::size_t step = 0; step < 5; ++step) {
            const Draw draw = Key{14}.at(Purpose::kGibbs, step);
            std::vector<Aim> aims(kUnits);
            for (std::size_t j = 0; j < kUnits; ++j) {
              const double distance = error * kParts[(j / 2 + step) % std::size(kParts)];
              aims[j] = beside_random_number(draw, chain_of(j, kChains), j, j % 2 == 0 ? distance : -distance);
            }
            ASSERT_NO_FATAL_FAILURE(expect_turns(x, weights, draw, output, aims)) << exponent;
            // On the way to the machine the error is half as large.
            ASSERT_NO_FATAL_FAILURE(expect_turns(x, weights, draw, output, aims, 0, 0.5)) << exponent;
          }
        }
      }
    }
  }
}

TEST(TableSampling, TheBitTurnsWhereItShouldWhenBiasAndBaseCancel) {
  // Large biases of opposite sign on the way between two machines, and few inputs: all of the error is that of floats.
  constexpr double kDistances[] = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3};
  constexpr std::size_t kChains = 12;
  for (const auto& [input, output] : kPairings) {
    const Matrix<float> weights = random_matrix(100, kUnits, 21, 0.01f);
    const State x = trimmed_state(kChains, 100, input, 0.02, 22);
    for (std::size_t step = 0; step < 20; ++step) {
      const Draw draw = Key{23}.at(Purpose::kGibbs, step);
      std::vector<Aim> aims(kUnits);
      for (std::size_t j = 0; j < kUnits; ++j) {
        const double distance = kDistances[(j / 2 + step) % std::size(kDistances)];
        aims[j] = beside_random_number(draw, chain_of(j, kChains), j, j % 2 == 0 ? distance : -distance);
      }
      ASSERT_NO_FATAL_FAILURE(expect_turns(x, weights, draw, output, aims, 0, 0.3, 1e4f));
    }
  }
}

TEST(TableSampling, TheBitIsRightWhereTheLowerBitsAreAlmostAllZerosOrOnes) {
  // Only there can an error far below one unit of the upper bits do harm; of 128000 coins, a few hundred are of that
  // kind. All are aimed at by less than the roundoff of a float.
  constexpr double kParts[] = {1e-5, 1e-4, 5e-4, 1e-3, 2e-3, 4e-3, 1e-2};
  const Matrix<float> nothing(kTrims, kUnits);
  const Draw draw = Key{18}.at(Purpose::kGibbs);
  for (std::size_t chain = 0; chain < 2000; ++chain) {
    const auto [input, output] = kPairings[chain % std::size(kPairings)];
    const State x = trimmed_state(chain % 8 < 4 ? 1 : 8, kTrims, input, 1.0, 19);
    std::vector<Aim> aims(kUnits);
    for (std::size_t j = 0; j < kUnits; ++j) {
      const std::size_t at = chain + chain_of(j, x.chains());
      const double u = random_number(draw, at, j);
      const double distance = kParts[(chain + j) % std::size(kParts)] * 0x1p-16 / (u * (1.0 - u));
      aims[j] = beside_random_number(draw, at, j, (chain / 8 + j) % 2 == 0 ? distance : -distance);
    }
    ASSERT_NO_FATAL_FAILURE(expect_turns(x, nothing, draw, output, aims, chain));
  }
}

TEST(TableSampling, TheOrderOfTheSumDecidesWhereItsLastBitDoes) {
  // Fields within a few units in the last place of the random number. Weights that cancel make sums in another order
  // round differently, and only the order of the definition gives its bit.
  for (const auto& [input, output] : kPairings) {
    const Matrix<float> weights = random_matrix(80, kUnits, 15, 0.3f);
    for (const std::size_t chains : {1u, 16u}) {
      const State x = trimmed_state(chains, 80, input, 0.5, 16);
      for (std::size_t step = 0; step < 60; ++step) {
        const Draw draw = Key{17}.at(Purpose::kGibbs, step);
        std::vector<Aim> aims(kUnits);
        for (std::size_t j = 0; j < kUnits; ++j) {
          const double steps = static_cast<double>((j + step) % 21) - 10.0;
          aims[j] = beside_random_number(draw, chain_of(j, chains), j, steps * 0x1p-52);
        }
        ASSERT_NO_FATAL_FAILURE(expect_turns(x, weights, draw, output, aims));
      }
    }
  }
}

}  // namespace
}  // namespace ergodic
