#include "ergodic/core/leading_directions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace ergodic {
namespace {

/// The product with a matrix of these eigenvalues, whose eigenvectors are the reflections of the axes at u.
AddProduct reflected(const std::vector<double>& eigenvalues, const std::vector<double>& u) {
  return [=](const Matrix<double>& rows, Matrix<double>& out) {
    const auto reflect = [&](std::span<const double> x) {
      const double along = 2.0 * std::inner_product(x.begin(), x.end(), u.begin(), 0.0);
      std::vector<double> y(x.begin(), x.end());
      for (std::size_t i = 0; i < y.size(); ++i) y[i] -= along * u[i];
      return y;
    };
    for (std::size_t k = 0; k < rows.rows(); ++k) {
      std::vector<double> x = reflect(rows.row(k));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] *= eigenvalues[i];
      x = reflect(x);
      for (std::size_t i = 0; i < x.size(); ++i) out(k, i) += x[i];
    }
  };
}

const std::vector<double> kNormal{0.5, -0.5, 0.5, 0.1, std::sqrt(0.24)};

TEST(LeadingDirections, AreThoseThatAreStretchedMost) {
  const LeadingDirections found = leading_directions(5, 2, reflected({1.0, 8.0, 0.5, 3.0, 0.0}, kNormal));
  ASSERT_EQ(found.directions.rows(), 2u);
  const std::size_t axes[] = {1, 3};
  for (std::size_t k = 0; k < 2; ++k) {
    // Twenty iterations leave (3/8)^20 = 3e-9 and (1/3)^20 = 3e-10 of the others.
    EXPECT_NEAR(found.stretches[k], k == 0 ? 8.0 : 3.0, 1e-8);
    for (std::size_t i = 0; i < 5; ++i) {  // which way a direction points says nothing
      const double expected = (i == axes[k] ? 1.0 : 0.0) - 2.0 * kNormal[axes[k]] * kNormal[i];
      EXPECT_NEAR(std::abs(found.directions(k, i)), std::abs(expected), 1e-7) << k << " " << i;
    }
  }
}

TEST(LeadingDirections, OfAMatrixOfLowRankThatItDoesNotHaveAreZero) {
  const LeadingDirections found = leading_directions(5, 9, reflected({2.0, 0.0, 0.0, 1.0, 0.0}, kNormal));
  ASSERT_EQ(found.directions.rows(), 5u);
  for (std::size_t k = 0; k < 5; ++k) {
    const std::span<const double> row = found.directions.row(k);
    EXPECT_NEAR(std::inner_product(row.begin(), row.end(), row.begin(), 0.0), k < 2 ? 1.0 : 0.0, 1e-12) << k;
    EXPECT_NEAR(found.stretches[k], k == 0 ? 2.0 : k == 1 ? 1.0 : 0.0, 1e-8) << k;
  }
}

}  // namespace
}  // namespace ergodic
