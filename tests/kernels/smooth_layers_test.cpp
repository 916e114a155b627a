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
        for (std::size_t i = 0; i < 11; ++i) defined(r, j) += a(r, i) * b(i, j);
      }
    }
    test::for_each_target([&] {
      multiply_layer(a, b, bias.row(0), found);
      ASSERT_EQ(found, defined);
    });
  }
}

TEST(SmoothLayers, ActivationsAreThoseOfElementaryFunctionsOnEveryTarget) {
  std::vector<double> fields, values, slopes;
  for (double f = -800.0; f <= 800.0; f += 0.37) fields.push_back(f);
  for (const double f : fields) {
    const double e = exp_within(-std::min(std::abs(f), 700.0)), s = (f >= 0.0 ? 1.0 : e) / (1.0 + e);
    values.push_back(f * s);
    slopes.push_back(s + f * s * (1.0 - s));
  }
  test::for_each_target([&] {
    std::vector<double> found = fields, found_slopes(fields.size());
    activate_smoothly(found, found_slopes);
    ASSERT_EQ(found, values);
    ASSERT_EQ(found_slopes, slopes);
  });
}

TEST(SmoothLayers, OuterProductsAddRowsInOrderOnEveryTarget) {
  for (const std::size_t width : {1u, 5u, 8u, 17u}) {
    for (const std::size_t height : {1u, 7u, 8u, 19u}) {
      const Matrix<double> x = random_doubles(9, height + 2, 1), y = random_doubles(9, width + 1, 2);
      const Matrix<double> weights = random_doubles(1, 9, 3), first = random_doubles(height, width, 4);
      Matrix<double> defined = first;
      for (std::size_t r = 0; r < 9; ++r) {
        for (std::size_t i = 0; i < height; ++i) {
          for (std::size_t j = 0; j < width; ++j) defined(i, j) += weights(0, r) * x(r, i) * y(r, j);
        }
      }
      test::for_each_target([&] {
        Matrix<double> found = first;
        add_weighted_outer(weights.row(0), x, y, found);
        ASSERT_EQ(found, defined);
      });
    }
  }
}

}  // namespace
}  // namespace ergodic
