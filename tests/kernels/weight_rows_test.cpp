#include "ergodic/kernels/weight_rows.hpp"

#include <gtest/gtest.h>

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
    std::vector<float> scales = row_of(rows, 2), widened(rows.cols()), defined_widened(rows.cols());
    for (float& scale : scales) scale *= 1000.0f;
    std::vector<std::int16_t> rounded(rows.cols()), defined(rows.cols());
    for (std::size_t j = 0; j < rows.cols(); ++j) {
      defined[j] = static_cast<std::int16_t>(std::nearbyint((rows(0, j) - rows(1, j)) * scales[j]));
      defined_widened[j] = static_cast<float>(defined[j]) * rows(3, j) + 0.7f * rows(4, j);
    }
    round_about(rows.row(0), rows.row(1), scales, rounded);
    widen_about(rounded, rows.row(3), 0.7f, rows.row(4), widened);
    ASSERT_EQ(rounded, defined);
    ASSERT_EQ(widened, defined_widened);
  });
}

}  // namespace
}  // namespace ergodic
