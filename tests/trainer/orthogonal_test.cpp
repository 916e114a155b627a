#include "ergodic/trainer/orthogonal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ergodic/core/threads.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

/// Orthonormal columns, by Gram and Schmidt.
std::vector<std::vector<double>> orthonormal(std::size_t count, std::size_t size, std::uint64_t seed) {
  std::vector<std::vector<double>> out;
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::uint32_t c = 0; c < count; ++c) {
    std::vector<double> column(size);
    for (std::uint32_t i = 0; i < size; ++i) column[i] = draw.normal(c, i);
    for (int twice = 0; twice < 2; ++twice) {
      for (const auto& other : out) {
        double dot = 0.0;
        for (std::size_t i = 0; i < size; ++i) dot += other[i] * column[i];
        for (std::size_t i = 0; i < size; ++i) column[i] -= dot * other[i];
      }
    }
    double square = 0.0;
    for (const double x : column) square += x * x;
    for (double& x : column) x /= std::sqrt(square);
    out.push_back(std::move(column));
  }
  return out;
}

Matrix<double> product(const std::vector<std::vector<double>>& u, const std::vector<double>& s,
                       const std::vector<std::vector<double>>& v) {
  Matrix<double> out(u[0].size(), v[0].size());
  for (std::size_t k = 0; k < s.size(); ++k) {
    for (std::size_t i = 0; i < out.rows(); ++i) {
      for (std::size_t j = 0; j < out.cols(); ++j) out(i, j) += u[k][i] * s[k] * v[k][j];
    }
  }
  return out;
}

Matrix<float> rounded(const Matrix<double>& m) {
  Matrix<float> out(m.rows(), m.cols());
  for (std::size_t k = 0; k < m.elements().size(); ++k) out.elements()[k] = static_cast<float>(m.elements()[k]);
  return out;
}

/// What five iterations make of singular values.
std::vector<double> settled_values(std::vector<double> s) {
  double squares = 0.0;
  for (const double x : s) squares += x * x;
  for (double& x : s) {
    x /= std::sqrt(squares);
    for (int k = 0; k < 5; ++k) x = 3.4445 * x - 4.7750 * x * x * x + 2.0315 * x * x * x * x * x;
  }
  return s;
}

TEST(Orthogonalise, TakesEachSingularValueByItself) {
  for (const auto& [rows, cols] : {std::pair{12, 7}, {7, 12}, {9, 9}, {60, 33}, {1, 8}, {2, 90}}) {
    const auto count = static_cast<std::size_t>(std::min(rows, cols));
    const auto u = orthonormal(count, static_cast<std::size_t>(rows), 1);
    const auto v = orthonormal(count, static_cast<std::size_t>(cols), 2);
    std::vector<double> s;
    for (std::size_t k = 0; k < count; ++k) s.push_back(30.0 * std::pow(0.8, static_cast<double>(k % 20)));
    Matrix<float> found = rounded(product(u, s, v));
    orthogonalise(found, {});
    const std::vector<double> settled = count == 1 ? std::vector{1.0} : settled_values(s);
    for (const double value : settled) {
      EXPECT_GT(value, 0.6);
      EXPECT_LT(value, 1.3);
    }
    const Matrix<double> expected = product(u, settled, v);
    // The smallest values, a 200th of the norm, grow by a few hundred, and float's roundoff of 6e-8 with them.
    for (std::size_t k = 0; k < found.elements().size(); ++k) {
      ASSERT_NEAR(found.elements()[k], expected.elements()[k], 2e-4) << rows << " x " << cols;
    }
  }
}

TEST(Orthogonalise, LeavesZerosAlone) {
  Matrix<float> zeros(5, 4);
  orthogonalise(zeros, {});
  for (const float x : zeros.elements()) EXPECT_EQ(x, 0.0f);
}

TEST(Orthogonalise, IsTheSameForAnyNumberOfThreadsAndOnEveryTarget) {
  const Matrix<float> start = test::random_matrix(150, 70, 3);
  Matrix<float> alone = start;
  orthogonalise(alone, {});
  const auto expect_same = [&](const Context& context) {
    Matrix<float> again = start;
    orthogonalise(again, context);
    for (std::size_t k = 0; k < alone.elements().size(); ++k) ASSERT_EQ(again.elements()[k], alone.elements()[k]);
  };
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    expect_same(Context{&threads});
  }
  test::for_each_target([&] { expect_same({}); });
}

}  // namespace
}  // namespace ergodic
