#include "ergodic/data/moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// Rows whose bits spell their own number, which is also their label.
Dataset numbered_bits(std::size_t rows, std::size_t units) {
  Dataset data{"numbered", Bits(rows, units)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < units; ++i) data.bits().set(r, i, (r >> (i % 32)) & 1u);
    data.labels.push_back(static_cast<int>(r));
  }
  return data;
}

/// Three rows of two numbers, of which two are missing.
Dataset gappy() {
  Dataset data{"gappy", Matrix<float>(3, 2)};
  const float values[] = {1.0f, 0.0f, 0.0f, 2.0f, 5.0f, 8.0f};
  std::copy_n(values, 6, data.reals().elements().begin());
  data.set_missing(0, 1);
  data.set_missing(1, 0);
  return data;
}

TEST(UnitMeans, FollowTheWeights) {
  Dataset bits{"bits", Bits(3, 2)};
  bits.bits().set(0, 0, true);
  bits.bits().set(2, 0, true);
  bits.weights = {0.5, 0.25, 0.25};
  EXPECT_EQ(unit_means(bits), (std::vector<double>{0.75, 0.0}));
  Dataset grey{"grey", Matrix<Grey>(2, 2)};
  grey.grey()(0, 0) = grey.grey()(1, 0) = grey.grey()(1, 1) = kFullGrey;
  grey.weights = {3.0, 1.0};
  EXPECT_EQ(unit_means(grey), (std::vector<double>{1.0, 0.25}));
}

TEST(UnitMeans, AreExactForBits) {
  Dataset data{"bits", Bits(8, 3)};
  for (std::size_t r = 0; r < 8; ++r) data.bits().set(r, 0, true);
  for (std::size_t r = 0; r < 3; ++r) data.bits().set(r, 2, true);
  EXPECT_EQ(unit_means(data), (std::vector<double>{1.0, 0.0, 0.375}));
}

TEST(UnitMeans, AreExactForGreyLevels) {
  Dataset data{"grey", Matrix<Grey>(2, 3)};
  data.grey()(0, 0) = data.grey()(1, 0) = kFullGrey;
  data.grey()(0, 1) = 13107;  // a fifth of 65535
  EXPECT_EQ(unit_means(data), (std::vector<double>{1.0, 0.1, 0.0}));
}

TEST(MissingValues, AreCountedAndDoNotCount) {
  const Dataset data = gappy();
  EXPECT_FALSE(data.complete());
  EXPECT_EQ(data.missing(), 2u);
  EXPECT_EQ(unit_means(data), (std::vector<double>{3.0, 5.0}));
  EXPECT_EQ(unit_deviations(data), (std::vector<double>{2.0, 3.0}));
  EXPECT_EQ(unit_kurtoses(data, std::vector<double>{2.0, 3.0}), (std::vector<double>{1.0, 1.0}));
}

TEST(MissingValues, TheFirstVarianceIsAnUpperEstimate) {
  // Two equal units have variance 2 along their sum. Each known value counts 1 / 0.75, so that an estimate without bias
  // of the covariance goes with a diagonal of 1 / 0.75 instead of 1: 2 + 1/3 on average.
  constexpr std::size_t kRows = 1000;
  Dataset whole{"equal", Matrix<float>(kRows, 2)};
  Dataset part = whole;
  const Draw draw = Key{5}.at(Purpose::kTest);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const auto value = static_cast<float>(draw.normal(r, 0));
    for (std::uint32_t i = 0; i < 2; ++i) {
      whole.reals()(r, i) = value;
      if (draw.uniform(r, 2 + i) < 0.25) {
        part.set_missing(r, i);
      } else {
        part.reals()(r, i) = value;
      }
    }
  }
  EXPECT_NEAR(principal_directions(whole, unit_deviations(whole), 1).variances[0], 2.0, 1e-9);
  // A mean of 1000 squares, each of a variance of about 2 * 2.33^2: a standard error of 0.1.
  EXPECT_NEAR(principal_directions(part, unit_deviations(part), 1).variances[0], 2.0 + 1.0 / 3.0, 0.4);
}

TEST(MissingValues, OfBitsAndLettersDoNotCountEitherAndWeightsDo) {
  Dataset data = numbered_bits(4, 2);  // 00 10 01 11
  data.set_missing(3, 0);
  EXPECT_EQ(unit_means(data), (std::vector<double>{1.0 / 3.0, 0.5}));
  data.weights = {1.0, 0.5, 0.5, 7.0};
  EXPECT_EQ(unit_means(data)[0], 0.25);
  Dataset letters{"letters", Bits(2, 6), {}, {}, 3};
  for (const std::size_t unit : {0u, 3u}) letters.bits().set(0, unit, true);
  for (const std::size_t unit : {2u, 5u}) letters.bits().set(1, unit, true);
  letters.set_missing(0, 1);
  EXPECT_EQ(letters.missing(), 1u);
  EXPECT_EQ(unit_means(letters), (std::vector<double>{0.5, 0, 0.5, 0, 0, 1}));
}

TEST(MissingValues, AColumnOfThemIsRefused) {
  Dataset data = gappy();
  data.set_missing(2, 0);
  data.set_missing(0, 0);
  expect_parts(message_of<DataError>([&] { unit_means(data); }), {"gappy", "column 1", "no known value"});
}

TEST(RealData, DeviationsKurtosesAndTheFirstVarianceAreThoseOfTheRows) {
  Dataset data{"rows", Matrix<float>(4, 3)};
  const float values[] = {1, 10, 5, -1, -10, 5, 1, 10, 5, -1, -10, 5};  // the second is ten times the first
  std::copy(std::begin(values), std::end(values), data.reals().elements().begin());
  const std::vector<double> deviations = unit_deviations(data);
  // Variances 1, 100 and 0; a hundredth of their mean is the least.
  EXPECT_NEAR(deviations[0], 1.0, 1e-12);
  EXPECT_NEAR(deviations[1], 10.0, 1e-12);
  EXPECT_NEAR(deviations[2], std::sqrt(101.0 / 300.0), 1e-12);
  const std::vector<double> kurtoses = unit_kurtoses(data, deviations);
  EXPECT_NEAR(kurtoses[0], 1.0, 1e-12);
  EXPECT_NEAR(kurtoses[1], 1.0, 1e-12);
  EXPECT_EQ(kurtoses[2], 0.0);
  const PrincipalDirections principal = principal_directions(data, deviations, 3);
  EXPECT_NEAR(principal.variances[0], 2.0, 1e-9);  // two units that are the same
  EXPECT_EQ(principal.variances[2], 0.0);
  EXPECT_EQ(unit_means(data), (std::vector<double>{0.0, 0.0, 5.0}));
  for (float& value : data.reals().elements()) value = 3.0f;
  EXPECT_EQ(unit_deviations(data), (std::vector<double>{1.0, 1.0, 1.0}));
  EXPECT_EQ(principal_directions(data, unit_deviations(data), 3).variances, (std::vector<double>{0.0, 0.0, 0.0}));
}

TEST(RealData, PrincipalDirectionsDoNotDependOnTheOrderOfTheRows) {
  Dataset data{"late", Matrix<float>(4000, 2)};  // two units that are the same, and vary in the second half alone
  for (std::size_t r = 2000; r < 4000; ++r) {
    for (std::size_t i = 0; i < 2; ++i) data.reals()(r, i) = r / 4 % 2 == 0 ? 1.0f : -1.0f;
  }
  EXPECT_NEAR(principal_directions(data, unit_deviations(data), 1).variances[0], 2.0, 1e-9);
}

TEST(RealData, PrincipalDirectionsAreThoseOfItsCovariance) {
  // Three directions with variances 9, 4 and 1 in deviations of 1, turned: y = (a + b, a - b) / sqrt(2), c.
  constexpr std::size_t kRows = 1000;
  Dataset data{"turned", Matrix<float>(kRows, 3)};
  for (std::size_t r = 0; r < kRows; ++r) {  // all signs, as often: the covariances are exact
    const float a = r % 2 == 0 ? 3.0f : -3.0f, b = r / 2 % 2 == 0 ? 2.0f : -2.0f, c = r / 4 % 2 == 0 ? 1.0f : -1.0f;
    data.reals()(r, 0) = (a + b) / std::sqrt(2.0f);
    data.reals()(r, 1) = (a - b) / std::sqrt(2.0f);
    data.reals()(r, 2) = c;
  }
  const PrincipalDirections principal = principal_directions(data, std::vector<double>(3, 1.0), 2);
  ASSERT_EQ(principal.directions.rows(), 2u);
  EXPECT_NEAR(principal.variances[0], 9.0, 1e-4);
  EXPECT_NEAR(principal.variances[1], 4.0, 1e-4);
  for (std::size_t k = 0; k < 2; ++k) {
    const double sign = k == 0 ? 1.0 : -1.0;
    const double along = (principal.directions(k, 0) + sign * principal.directions(k, 1)) / std::sqrt(2.0);
    EXPECT_NEAR(std::abs(along), 1.0, 1e-6);
    EXPECT_NEAR(principal.directions(k, 2), 0.0, 1e-4);
  }
}

}  // namespace
}  // namespace ergodic
