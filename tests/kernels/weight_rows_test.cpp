#include "ergodic/kernels/weight_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

/// Rows of random numbers, of lengths about those of vectors.
template <class F>
void for_each_length(const F& f) {
  for (const std::size_t length : {1u, 2u, 7u, 15u, 16u, 17u, 31u, 33u, 100u, 501u}) {
    const Matrix<float> rows = test::random_matrix(5, length, length);
    test::for_each_target([&] { f(rows); });
  }
}

std::vector<float> row_of(const Matrix<float>& rows, std::size_t r) {
  const std::span<const float> row = rows.row(r);
  return {row.begin(), row.end()};
}

TEST(WeightRows, DotsAreSixteenSums) {
  for_each_length([](const Matrix<float>& rows) {
    std::vector<float> sums(16);
    for (std::size_t k = 0; k < rows.cols(); ++k) sums[k % 16] += rows(0, k) * rows(1, k);
    for (std::size_t half = 8; half > 0; half /= 2) {
      for (std::size_t s = 0; s < half; ++s) sums[s] += sums[s + half];
    }
    ASSERT_EQ(dot_rows(rows.row(0), rows.row(1)), sums[0]);
  });
}

TEST(WeightRows, RowsAreCentredAddedAndStepped) {
  for_each_length([](const Matrix<float>& rows) {
    std::vector<float> centred = row_of(rows, 0), sum = row_of(rows, 1), velocity = row_of(rows, 2), values = sum;
    std::vector<float> defined_centred = centred, defined_sum = sum, defined_velocity = velocity, defined = values;
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      float& c = defined_centred[j];
      c = (c - 0.3f * rows(3, j) - 0.7f * rows(2, j)) * (1.5f * rows(4, j));
      defined_sum[j] += 0.9f * rows(3, j);
      defined_velocity[j] = 0.6f * defined_velocity[j] + rows(4, j);
      defined[j] += 0.01f * defined_velocity[j];
    }
    centre_row({0.3f, 0.7f, 1.5f, rows.row(2), rows.row(3), rows.row(4)}, centred);
    add_row(0.9f, rows.row(3), sum);
    step_row(0.6f, 0.01f, rows.row(4), velocity, values);
    ASSERT_EQ(centred, defined_centred);
    ASSERT_EQ(sum, defined_sum);
    ASSERT_EQ(velocity, defined_velocity);
    ASSERT_EQ(values, defined);
  });
}

TEST(WeightRows, OthersFollowARow) {
  for_each_length([](const Matrix<float>& rows) {
    std::vector<float> follow = row_of(rows, 0), row = row_of(rows, 1), defined_follow = follow, defined = row;
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      defined_follow[j] += 0.3f * rows(1, j);
      defined[j] += 0.7f * rows(2, j);
    }
    follow_row(0.3f, follow, 0.7f, rows.row(2), row);
    ASSERT_EQ(follow, defined_follow);
    ASSERT_EQ(row, defined);
  });
}

TEST(WeightRows, SquaresAndDistancesAreAdded) {
  for_each_length([](const Matrix<float>& rows) {
    std::vector<float> squares = row_of(rows, 0), distances = squares, defined_squares = squares, defined = squares;
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      defined_squares[j] += 0.9f * (rows(1, j) * rows(1, j));
      defined[j] += 0.3f * std::abs(rows(2, j) - rows(3, j));
    }
    add_squares(0.9f, rows.row(1), squares);
    add_distances(0.3f, rows.row(2), rows.row(3), distances);
    ASSERT_EQ(squares, defined_squares);
    ASSERT_EQ(distances, defined);
  });
}

TEST(WeightRows, AreRoundedAboutOffsetsAndWidenedAgain) {
  for_each_length([](const Matrix<float>& rows) {
    constexpr std::size_t kRows = 3;
    const std::vector<float> factors{0.7f, 0.0f, -0.4f};
    std::vector<float> scales = row_of(rows, 2);
    for (float& scale : scales) scale *= 1000.0f;
    Matrix<std::int16_t> rounded(kRows, rows.cols()), defined(kRows, rows.cols());
    Matrix<float> widened(kRows, rows.cols()), defined_widened(kRows, rows.cols());
    std::vector<std::int16_t> sums(rows.cols(), 5), defined_sums = sums;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t j = 0; j < rows.cols(); ++j) {
        defined(r, j) = static_cast<std::int16_t>(std::nearbyint((rows(r, j) - rows(1, j)) * scales[j]));
        defined_sums[j] = static_cast<std::int16_t>(defined_sums[j] + defined(r, j));
        defined_widened(r, j) = static_cast<float>(defined(r, j)) * rows(3, j) + factors[r] * rows(4, j);
      }
      round_about(rows.row(r), rows.row(1), scales, rounded.row(r), sums);
    }
    widen_about(rounded, rows.row(3), factors, rows.row(4), widened);
    ASSERT_TRUE(std::ranges::equal(rounded.elements(), defined.elements()));
    ASSERT_EQ(sums, defined_sums);
    ASSERT_TRUE(std::ranges::equal(widened.elements(), defined_widened.elements()));
  });
}

}  // namespace
}  // namespace ergodic
