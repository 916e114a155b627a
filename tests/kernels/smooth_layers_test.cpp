#include "ergodic/kernels/smooth_layers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

Matrix<double> random_doubles(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix<double> out(rows, cols);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t k = 0; k < rows * cols; ++k) out.elements()[k] = draw.normal(3, static_cast<std::uint32_t>(k));
  return out;
}

TEST(SmoothLayers, ProductsAddInOrderOnEveryTarget) {
  for (std::size_t rows = 1; rows <= 18; ++rows) {
    const Matrix<double> a = random_doubles(rows, 13, rows), b = random_doubles(11, 24, 100);
    const Matrix<double> bias = random_doubles(1, 24, 101);
    Matrix<double> defined(rows, 24), found(rows, 24);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = 0; j < 24; ++j) {
        defined(r, j) = bias(0, j);
        for (std::size_t i = 0; i < 11; ++i) defined(r, j) = std::fma(a(r, i), b(i, j), defined(r, j));
      }
    }
    test::for_each_target([&] {
      multiply_layer(a, b, bias.row(0), found);
      ASSERT_EQ(found, defined);
    });
  }
}

TEST(SmoothLayers, ActivationsAreThoseOfLongDoublesAndTheSameOnEveryTarget) {
  std::vector<double> fields;  // an odd number
  for (double f = -800.0; f <= 800.0; f += 0.037) fields.push_back(f);
  std::vector<double> first;
  test::for_each_target([&] {
    std::vector<double> found = fields;
    activate_smoothly(found);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const long double f = std::max(fields[k], -700.0), value = fields[k] / (1.0L + std::exp(-f));
      // Half a unit of 2.2e-16 each for the polynomial's last step, its power of two, the sum, the quotient and the
      // product; 1.7e-16 for what the series leaves out.
      ASSERT_LE(std::abs(found[k] - value), 8e-16L * std::abs(value)) << fields[k];
    }
    if (first.empty()) first = found;
    ASSERT_EQ(found, first);
  });
}

TEST(SmoothLayers, ActivationsInFloatAreNearThoseInDoubleAndTheSameOnEveryTarget) {
  std::vector<float> fields;  // an odd number
  for (float f = -120.0f; f <= 120.0f; f += 0.0937f) fields.push_back(f);
  std::vector<float> first, first_slopes;
  test::for_each_target([&] {
    std::vector<float> found = fields, slopes(fields.size());
    activate_smoothly(found, slopes);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const double f = fields[k], s = sigmoid(f), value = f * s;
      // A sigmoid is off by 2e-7, a value by that times f and a roundoff of 6e-8, a slope by twice that and a few more.
      ASSERT_NEAR(found[k], value, 3e-7 * (1.0 + std::abs(f))) << f;
      ASSERT_NEAR(slopes[k], s + value * (1.0 - s), 1e-6 * (1.0 + std::abs(f) * (1.0 - s))) << f;
    }
    if (first.empty()) first = found, first_slopes = slopes;
    ASSERT_EQ(found, first);
    ASSERT_EQ(slopes, first_slopes);
  });
}

}  // namespace
}  // namespace ergodic
