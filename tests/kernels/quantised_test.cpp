#include "ergodic/kernels/quantised.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix, test::expect_same;

/// The largest sum of one sign of the rounded weights in a block of rows, of a column.
double largest_block_sum(const Matrix<float>& weights, std::size_t column, int exponent) {
  double largest = 0.0;
  for (std::size_t begin = 0; begin < weights.rows(); begin += kBlockRows) {
    double positive = 0.0, negative = 0.0;
    for (std::size_t i = begin; i < std::min(weights.rows(), begin + kBlockRows); ++i) {
      const double value = std::nearbyint(std::ldexp(double{weights(i, column)}, exponent));
      if (std::isnan(value)) return std::numeric_limits<double>::infinity();
      (value > 0.0 ? positive : negative) += value;
    }
    largest = std::max({largest, positive, -negative});
  }
  return largest;
}

/// |bias| + sum |W| of a column.
double sizes_of(const Matrix<float>& weights, std::span<const float> bias, std::size_t column) {
  double sizes = std::abs(double{bias[column]});
  for (std::size_t i = 0; i < weights.rows(); ++i) sizes += std::abs(double{weights(i, column)});
  return sizes;
}

/// A column whose fields may be larger has no exponent.
constexpr double kTooFar = 1e5;

constexpr double kFits = 32766;  // 32767 is what a sum that is too large saturates to

/// The exponent of weights that would fit any: finer units are not used.
int finest_exponent() {
  QuantisedWeights zeros(1, 1, 0.0f);
  const float nothing[] = {0.0f};
  zeros.assign({nothing, 1, 1}, nothing, {});
  return zeros.exponents()[0];
}

/// What each number promises, whatever the exponents.
void expect_promises(const QuantisedWeights& found, const Matrix<float>& weights, std::span<const float> bias,
                     float low) {
  ASSERT_EQ(found.tiles(), (weights.cols() + kTileColumns - 1) / kTileColumns);
  ASSERT_EQ(found.blocks(), (weights.rows() + kBlockRows - 1) / kBlockRows);
  ASSERT_EQ(found.reach().size(), weights.cols());
  bool usable = true;
  for (std::size_t j = 0; j < found.tiles() * kTileColumns; ++j) {
    const int exponent = found.exponents()[j];
    if (exponent == QuantisedWeights::kNone) {
      usable = false;
      continue;
    }
    double sum = 0.0, off = 0.0;
    for (std::size_t i = 0; i < found.blocks() * kBlockRows; ++i) {
      const std::int16_t* block = found.block(j / kTileColumns, i / kBlockRows);
      const double value = block[i % kBlockRows * kTileColumns + j % kTileColumns];
      sum += value;
      if (i < weights.rows() && j < weights.cols()) {
        const double distance = std::abs(value - std::ldexp(double{weights(i, j)}, exponent));
        ASSERT_LE(distance, 0.5) << i << ", " << j;
        off += distance;
      } else {
        ASSERT_EQ(value, 0.0) << i << ", " << j;
      }
    }
    if (j >= weights.cols()) continue;
    ASSERT_LE(largest_block_sum(weights, j, exponent), kFits);
    ASSERT_GE(double{found.roundings()[j]}, off) << j;
    if (low != 0.0f) {
      ASSERT_LE(double{found.roundings()[j]}, 1.002 * off) << j;
    }
    const double offset = bias[j] + low * std::ldexp(sum, -exponent);
    ASSERT_EQ(found.offsets()[j], offset) << j;
  }
  EXPECT_EQ(found.usable(), usable);
  for (std::size_t j = 0; j < weights.cols(); ++j) {
    const double sizes = sizes_of(weights, bias, j);
    if (std::isnan(sizes)) continue;
    ASSERT_GE(double{found.reach()[j]}, sizes) << j;
    // Not much too large, or nothing would ever be certain: half a unit for each weight that was rounded.
    const int exponent = found.exponents()[j];
    const double rounding =
        exponent == QuantisedWeights::kNone ? 0.0 : std::ldexp(static_cast<double>(weights.rows()), -exponent);
    if (sizes < 1e38) {
      ASSERT_LE(double{found.reach()[j]}, 1.01 * (sizes + rounding)) << j;
    }
  }
}

/// On fresh objects the units are also as small as can be.
void expect_finest(const QuantisedWeights& found, const Matrix<float>& weights, std::span<const float> bias) {
  const int finest = finest_exponent();
  for (std::size_t j = 0; j < weights.cols(); ++j) {
    const int exponent = found.exponents()[j];
    if (exponent == QuantisedWeights::kNone) {  // only weights and biases of no use are too large
      ASSERT_FALSE(largest_block_sum(weights, j, 0) < 1024.0 && sizes_of(weights, bias, j) < kTooFar);
    } else {
      ASSERT_LE(exponent, finest);
      if (exponent < finest) {
        ASSERT_GT(largest_block_sum(weights, j, exponent + 1), kFits) << exponent;
      }
    }
  }
}

/// Assigns on each instruction set, at once and in parts, to fresh objects, and compares all with the promises.
void expect_all(const Matrix<float>& weights, const Matrix<float>& bias, float low) {
  SCOPED_TRACE(testing::Message() << weights.rows() << " x " << weights.cols());
  std::vector<QuantisedWeights> all;
  test::for_each_target([&] {
    QuantisedWeights found(weights.rows(), weights.cols(), low), parts(weights.rows(), weights.cols(), low);
    found.assign(weights, bias.row(0), {});
    ASSERT_NO_FATAL_FAILURE(expect_promises(found, weights, bias.row(0), low));
    ASSERT_NO_FATAL_FAILURE(expect_finest(found, weights, bias.row(0)));
    for (std::size_t block = parts.blocks(); block-- > 0;) {
      for (std::size_t tile = 0; tile < parts.tiles(); ++tile) parts.round_block(tile, block, weights);
    }
    parts.finish(weights, bias.row(0), {});
    ASSERT_NO_FATAL_FAILURE(expect_same(parts, found));
    all.push_back(std::move(found));
    ASSERT_NO_FATAL_FAILURE(expect_same(all.back(), all.front()));
  });
}

TEST(QuantisedWeights, KeepTheirPromisesAtAllSizes) {
  std::size_t k = 0;
  for (std::size_t size = 1; size <= 130; ++size) {
    const std::size_t other = std::array{1u, 31u, 32u, 33u, 63u, 64u, 65u}[k % 7];
    const float scale = std::array{1e-6f, 0.01f, 0.1f, 1.0f, 10.0f}[k % 5];
    for (const float low : {0.0f, -1.0f}) {
      ASSERT_NO_FATAL_FAILURE(expect_all(random_matrix(size, other, k, scale), random_matrix(1, other, k + 1), low));
      ASSERT_NO_FATAL_FAILURE(expect_all(random_matrix(other, size, k, scale), random_matrix(1, size, k + 1), low));
    }
    ++k;
  }
}

TEST(QuantisedWeights, KeepTheirPromisesAroundTheEdges) {
  for (const std::size_t rows : {31u, 32u, 33u, 127u, 128u, 129u, 513u}) {
    for (const std::size_t cols : {31u, 32u, 33u, 95u, 96u, 97u, 129u}) {
      ASSERT_NO_FATAL_FAILURE(expect_all(random_matrix(rows, cols, 1, 0.1f), random_matrix(1, cols, 2), -1.0f));
    }
  }
}

TEST(QuantisedWeights, KeepTheirPromisesForWeightsOfAnySize) {
  for (const float weight : {0.0f, 1e-44f, 1e-6f, 0.01f, 0.1f, 1.0f, 30.0f, 100.0f, 1e3f, 1e4f, 1e30f, 1e37f}) {
    for (const float bias : {0.0f, 1.0f, 1e4f, 1e37f}) {
      for (const float low : {0.0f, -1.0f}) {
        ASSERT_NO_FATAL_FAILURE(expect_all(random_matrix(130, 70, 3, weight), random_matrix(1, 70, 4, bias), low))
            << weight << ", " << bias;
      }
    }
  }
}

TEST(QuantisedWeights, ABlockSumFitsUpTo32766UnitsOfEitherSign) {
  const int finest = finest_exponent();
  for (const int exponent : {finest - 1, 13, 12, 8, 5}) {
    for (const double total : {32765.0, 32766.0, 32767.0, 32768.0, 40000.0}) {
      for (const double sign : {1.0, -1.0}) {
        for (const std::size_t rows : {2u, 63u, 64u, 70u}) {
          // Odd units in one column, so that no smaller unit holds them: in few rows, or spread over the block.
          Matrix<float> weights(rows, 40);
          const std::size_t in_block = std::min(rows, kBlockRows);
          double left = total;
          for (std::size_t i = 0; i < in_block; ++i) {
            const double share = i + 1 == in_block ? left : std::floor(total / static_cast<double>(in_block));
            weights(i, 17) = static_cast<float>(std::ldexp(sign * share, -exponent));
            left -= share;
          }
          // The other sign is summed apart, and other blocks too.
          weights(0, 18) = static_cast<float>(std::ldexp(sign * 20000.0, -exponent));
          weights(1, 18) = static_cast<float>(std::ldexp(sign * -20000.0, -exponent));
          if (rows > kBlockRows) weights(kBlockRows, 17) = static_cast<float>(std::ldexp(sign * 30000.0, -exponent));
          QuantisedWeights found(rows, 40, 0.0f);
          found.assign(weights, std::vector<float>(40), {});
          EXPECT_EQ(found.exponents()[17], total <= kFits ? exponent : exponent - 1) << total << " in " << rows;
          EXPECT_EQ(found.exponents()[18], exponent);
          EXPECT_EQ(found.exponents()[19], finest);
          ASSERT_NO_FATAL_FAILURE(expect_all(weights, Matrix<float>(1, 40), 0.0f));
        }
      }
    }
  }
}

TEST(QuantisedWeights, HalvesAreRoundedAlikeEverywhere) {
  // All weights lie half-way between two values, or next to it.
  Matrix<float> weights(64, 33);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 33; ++j) {
      const float half = (static_cast<float>(i * 7 + j) - 200.0f + 0.5f) * 0x1p-14f;
      weights(i, j) = j % 3 == 0 ? half : std::nextafter(half, j % 3 == 1 ? 1.0f : -1.0f);
    }
  }
  for (float& w : weights.row(0)) w = 1.2f;  // so that the units are 2^-14
  ASSERT_NO_FATAL_FAILURE(expect_all(weights, Matrix<float>(1, 33), -1.0f));
}

TEST(QuantisedWeights, WhatIsNotANumberOrInfiniteHasNoExponent) {
  for (const float bad : {NAN, -NAN, INFINITY, -INFINITY, std::numeric_limits<float>::max(), -1e30f}) {
    for (const std::size_t row : {0u, 64u, 69u}) {
      for (const std::size_t col : {0u, 31u, 32u, 44u}) {
        Matrix<float> weights = random_matrix(70, 45, 5, 0.1f);
        weights(row, col) = bad;
        QuantisedWeights found(70, 45, 0.0f);
        test::for_each_target([&] {
          found.assign(weights, std::vector<float>(45), {});
          for (std::size_t j = 0; j < 45; ++j) {
            EXPECT_EQ(found.exponents()[j] == QuantisedWeights::kNone, j == col) << bad << ", " << j;
          }
          EXPECT_FALSE(found.usable());
        });
        ASSERT_NO_FATAL_FAILURE(expect_all(weights, Matrix<float>(1, 45), 0.0f)) << bad;
      }
    }
  }
}

TEST(QuantisedWeights, FollowWeightsThatGrowAndShrink) {
  const Matrix<float> normals = random_matrix(130, 70, 6), bias = random_matrix(1, 70, 7);
  const auto scaled = [&](float scale) {
    Matrix<float> out = normals;
    for (float& w : out.elements()) w *= scale;
    return out;
  };
  test::for_each_target([&] {
    QuantisedWeights followed(130, 70, -1.0f);
    const auto assign = [&](const Matrix<float>& weights) {
      followed.assign(weights, bias.row(0), {});
      expect_promises(followed, weights, bias.row(0), -1.0f);
    };
    for (const float scale : {0.01f, 0.02f, 0.3f, 5.0f, 1e6f, 0.1f, NAN, 1e-3f, 1e4f, 0.0f, 1.0f}) {
      ASSERT_NO_FATAL_FAILURE(assign(scaled(scale))) << scale;
      EXPECT_EQ(followed.usable(), scale < 100.0f) << scale;
    }
    // Growing weights are followed at once. Others are reached within as many steps as there are exponents, and then
    // nothing changes any more. Units are the finest, or the next where hardly anything would be left of the range.
    for (const float scale : {0.01f, 1.0f, 1e-6f, 1e6f, 0.1f}) {
      const Matrix<float> weights = scaled(scale);
      for (std::size_t k = 0; k < 40; ++k) ASSERT_NO_FATAL_FAILURE(assign(weights));
      const QuantisedWeights settled = followed;
      ASSERT_NO_FATAL_FAILURE(assign(weights));
      ASSERT_NO_FATAL_FAILURE(expect_same(followed, settled)) << scale;
      QuantisedWeights fresh(130, 70, -1.0f);
      fresh.assign(weights, bias.row(0), {});
      for (std::size_t j = 0; j < weights.cols(); ++j) {
        const int finest = fresh.exponents()[j], found = followed.exponents()[j];
        ASSERT_TRUE(found == finest || (found == finest - 1 && largest_block_sum(weights, j, finest) > 0.9 * kFits))
            << scale << ", " << j;
      }
    }
  });
}

TEST(QuantisedWeights, AreTheSameForAnyNumberOfThreads) {
  const Matrix<float> weights = random_matrix(200, 333, 8, 0.1f), bias = random_matrix(1, 333, 9);
  QuantisedWeights alone(200, 333, -1.0f);
  alone.assign(weights, bias.row(0), {});
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    QuantisedWeights found(200, 333, -1.0f);
    found.assign(weights, bias.row(0), Context{&threads});
    ASSERT_NO_FATAL_FAILURE(expect_same(found, alone));
  }
}

// The plain target writes everything through the caches, the others not what is so large.
TEST(QuantisedWeights, AreTheSameOnEveryTargetIfNoCacheHoldsThem) {
  constexpr std::size_t kRows = 8390, kCols = 1030;
  static_assert(kRows * kCols * sizeof(std::int16_t) > kCachedBytes);
  const Matrix<float> weights = test::random_matrix(kRows, kCols, 1, 0.1f), bias = test::random_matrix(1, kCols, 2);
  std::vector<QuantisedWeights> all;
  test::for_each_target([&] {
    QuantisedWeights found(kRows, kCols, 0.0f);
    found.assign(weights, bias.row(0), {});
    all.push_back(std::move(found));
    ASSERT_NO_FATAL_FAILURE(expect_same(all.back(), all.front()));
  });
}

}  // namespace
}  // namespace ergodic
