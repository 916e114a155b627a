#include "ergodic/kernels/real_draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix, test::for_each_target;

const Draw kDraw = Key{11}.at(Purpose::kTest);

/// The same bits on every target, at any number of units.
void expect_same_everywhere(const std::function<void(const FloatFields&, std::span<float>)>& draw) {
  const Matrix<float> fields = random_matrix(1, 150, 1, 3.0f), deviations = random_matrix(1, 150, 2);
  for (const std::size_t units : {1u, 15u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 128u, 150u}) {
    std::vector<float> first, found(units);
    for_each_target([&] {
      draw({fields.row(0).first(units), deviations.row(0).first(units)}, found);
      if (first.empty()) first = found;
      ASSERT_EQ(found, first) << units;
    });
  }
}

TEST(RealDraws, AreTheSameOnEveryTarget) {
  expect_same_everywhere([](const FloatFields& at, std::span<float> out) { draw_normals(at, kDraw, 3, out); });
  expect_same_everywhere([](const FloatFields& at, std::span<float> out) { draw_positive_normals(at, kDraw, 3, out); });
  expect_same_everywhere([](const FloatFields& at, std::span<float> out) { positive_normal_means(at, out); });
}

TEST(RealDraws, CoinsAreThoseOfTheDefinitionOnEveryTarget) {
  const Matrix<float> fields = random_matrix(1, 300, 4, 4.0f);
  for (const float gap : {1.0f, 2.0f}) {
    for (const std::size_t units : {1u, 63u, 64u, 65u, 127u, 128u, 129u, 300u}) {
      Bits defined(1, units);
      for (std::uint32_t j = 0; j < units; ++j) {
        defined.set(0, j, coin(kDraw, 5, j, sigmoid(double{gap} * double{fields(0, j)})));
      }
      for_each_target([&] {
        Bits found(1, units);
        for (std::size_t j = 0; j < units; ++j) found.set(0, j, true);
        draw_coins(fields.row(0).first(units), gap, kDraw, 5, found.row(0));
        ASSERT_EQ(found, defined) << units;
      });
    }
  }
}

constexpr std::size_t kUnits = 500, kChains = 2000;

/// Counts in 40 cells of equal probability, by the distribution function of units at field t.
template <class Fill, class Cdf>
void expect_distributed(float t, const Fill& fill, const Cdf& cdf) {
  constexpr std::size_t kCells = 40;
  const std::vector<float> fields(kUnits, t), deviations(kUnits, 1.0f);
  std::vector<float> row(kUnits);
  std::vector<double> counts(kCells);
  for (std::uint32_t chain = 0; chain < kChains; ++chain) {
    fill(FloatFields{fields, deviations}, chain, row);
    for (const float z : row) ++counts[std::min(kCells - 1, static_cast<std::size_t>(kCells * cdf(double{z})))];
  }
  double chi_square = 0.0;
  const double expected = static_cast<double>(kUnits * kChains) / kCells;
  for (const double count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 72.055) << t;  // the 0.999 quantile with 39 degrees of freedom
}

double below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

TEST(RealDraws, NormalsAreNormal) {
  expect_distributed(
      0.7f,
      [](const FloatFields& at, std::uint32_t chain, std::span<float> out) { draw_normals(at, kDraw, chain, out); },
      [](double z) { return below(z - double{0.7f}); });
}

/// Both halves of a group of units are made of the same two words: they must not know of each other.
TEST(RealDraws, NormalsOfUnitsAreUncorrelated) {
  const std::vector<float> zeros(64), ones(64, 1.0f);
  std::vector<float> row(64);
  double products = 0.0, squares = 0.0;
  constexpr std::uint32_t kRows = 20000;
  for (std::uint32_t chain = 0; chain < kRows; ++chain) {
    draw_normals({zeros, ones}, kDraw, chain, row);
    products += row[5] * row[37];
    squares += (row[5] * row[5] - 1.0) * (row[37] * row[37] - 1.0);
  }
  EXPECT_LT(std::abs(products) / kRows, 4.0 / std::sqrt(kRows));       // the product has variance 1
  EXPECT_LT(std::abs(squares) / kRows, 4.0 * 2.0 / std::sqrt(kRows));  // and this one 4
}

TEST(RealDraws, PositiveNormalsAreCutNormals) {
  for (const float t : {-40.0f, -3.0f, -0.5f, 0.0f, 0.49f, 0.5f, 2.0f, 8.0f}) {
    // P(z' < z) = (erfc(a) - erfc(b)) / erfc(a) with a = -t and b = z - t; by Mills' ratios, which do not underflow.
    const double a = -double{t}, whole = log_positive_weight(double{t});
    expect_distributed(
        t,
        [](const FloatFields& at, std::uint32_t chain, std::span<float> out) {
          draw_positive_normals(at, kDraw, chain, out);
        },
        [&](double z) {
          EXPECT_GE(z, 0.0);
          return 1.0 - std::exp(log_positive_weight(-(z + a)) - 0.5 * z * z - z * a - whole);
        });
  }
}

TEST(RealDraws, MeansOfPositiveNormalsAreNearTheTruth) {
  std::vector<float> fields;
  for (float t = -300.0f; t < 30.0f; t += 0.0371f) fields.push_back(t);
  const std::vector<float> deviations(fields.size(), 1.0f);
  std::vector<float> means(fields.size());
  positive_normal_means({fields, deviations}, means);
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const double truth = positive_mean(double{fields[k]});
    ASSERT_NEAR(means[k] / truth, 1.0, 1e-5) << fields[k];
  }
}

/// Fields that are not finite are drawn in finite time; the trainer finds them.
TEST(RealDraws, EndForAnyField) {
  const std::vector<float> fields{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()};
  const std::vector<float> deviations(3, 1.0f);
  std::vector<float> out(3);
  draw_positive_normals({fields, deviations}, kDraw, 0, out);
  draw_normals({fields, deviations}, kDraw, 0, out);
  EXPECT_TRUE(std::isnan(out[0]));
}

}  // namespace
}  // namespace ergodic
