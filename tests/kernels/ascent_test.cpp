#include "ergodic/kernels/ascent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix;

/// Weights and all that steps them; `with_velocity` or without.
struct Step {
  Matrix<float> weights, velocity, row_offset, row_change, column_offset, column_change;
  float scale = 0.7f, rate = 0.3f, momentum = 0.0f, l1 = 0.0f, l2 = 0.0f;

  Step(std::size_t rows, std::size_t cols, bool with_velocity)
      : weights(random_matrix(rows, cols, 1)),
        velocity(with_velocity ? random_matrix(rows, cols, 2) : Matrix<float>()),
        row_offset(random_matrix(1, rows, 3)),
        row_change(random_matrix(1, rows, 4)),
        column_offset(random_matrix(1, cols, 5)),
        column_change(random_matrix(1, cols, 6)) {
    for (std::size_t k = 0; k < weights.elements().size(); k += 5) weights.elements()[k] = 0.0f;  // have no sign
  }

  Ascent ascent() {
    return {weights,
            velocity.elements(),
            row_offset.row(0),
            row_change.row(0),
            column_offset.row(0),
            column_change.row(0),
            scale,
            rate,
            momentum,
            l1,
            l2};
  }
};

/// The same by the formulas, one element after the other.
void ascend_plainly(const Ascent& a, std::size_t first_row, std::size_t first_column,
                    MatrixView<const float> difference) {
  for (std::size_t r = 0; r < difference.rows(); ++r) {
    for (std::size_t c = 0; c < difference.cols(); ++c) {
      const std::size_t i = first_row + r, j = first_column + c;
      if (j >= a.weights.cols()) continue;
      float& w = a.weights(i, j);
      const float about_offsets =
          difference(r, c) - a.row_offset[i] * a.column_change[j] - a.row_change[i] * a.column_offset[j];
      float g = a.scale * about_offsets;
      if (a.l1 != 0.0f || a.l2 != 0.0f) {
        const float sign = w > 0.0f ? 1.0f : w < 0.0f ? -1.0f : 0.0f;
        g = g - a.l2 * w - a.l1 * sign;
      }
      if (!a.velocity.empty()) {
        float& velocity = a.velocity[i * a.weights.cols() + j];
        g = velocity = a.momentum * velocity + g;
      }
      w = w + a.rate * g;
    }
  }
}

bool same_bits(const Matrix<float>& a, const Matrix<float>& b) {
  const auto same = [](float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); };
  return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(), same);
}

/// Steps a part of the weights, and compares all of them: those outside the part stay as they are.
void expect_step(const Step& start, std::size_t first_row, std::size_t first_column,
                 MatrixView<const float> difference) {
  Step truth = start;
  ascend_plainly(truth.ascent(), first_row, first_column, difference);
  test::for_each_target([&] {
    Step found = start;
    ascend(found.ascent(), first_row, first_column, difference);
    ASSERT_TRUE(same_bits(found.weights, truth.weights)) << start.weights.cols() << " from " << first_column;
    ASSERT_TRUE(same_bits(found.velocity, truth.velocity)) << start.weights.cols() << " from " << first_column;
  });
}

/// Calls f(momentum, l1, l2, with_velocity) for each way of stepping.
template <class F>
void for_each_way(const F& f) {
  for (const float l1 : {0.0f, 0.01f}) {
    for (const float l2 : {0.0f, 0.03f}) {
      f(0.0f, l1, l2, false);
      f(0.0f, l1, l2, true);
      f(0.9f, l1, l2, true);
    }
  }
}

TEST(Ascent, EqualsTheFormulasElementByElementAtAllWidths) {
  for (std::size_t width = 1; width <= 130; ++width) {
    for_each_way([&](float momentum, float l1, float l2, bool with_velocity) {
      Step start(3, width, with_velocity);
      start.momentum = momentum;
      start.l1 = l1;
      start.l2 = l2;
      expect_step(start, 0, 0, random_matrix(3, width, 7));
    });
    if (HasFatalFailure()) return;
  }
}

TEST(Ascent, StepsOnlyThePartThatItIsGiven) {
  for (const std::size_t width : {1u, 63u, 64u, 65u, 129u, 200u}) {
    for (std::size_t first_column = 0; first_column < width; first_column += 64) {
      for_each_way([&](float momentum, float l1, float l2, bool with_velocity) {
        Step start(7, width, with_velocity);
        start.momentum = momentum;
        start.l1 = l1;
        start.l2 = l2;
        // As wide as a tile of the statistics, even where the weights end before it.
        expect_step(start, 2, first_column, random_matrix(4, 64, 8));
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Ascent, TileByTileEqualsAllAtOnce) {
  const Matrix<float> difference = random_matrix(10, 128, 9);
  for_each_way([&](float momentum, float l1, float l2, bool with_velocity) {
    Step start(10, 128, with_velocity);
    start.momentum = momentum;
    start.l1 = l1;
    start.l2 = l2;
    Step whole = start;
    ascend(whole.ascent(), 0, 0, difference);
    Step parts = start;
    for (std::size_t r = 0; r < 10; r += 5) {
      for (std::size_t c = 0; c < 128; c += 64) {
        Matrix<float> tile(5, 64);
        for (std::size_t i = 0; i < 5; ++i) {
          for (std::size_t j = 0; j < 64; ++j) tile(i, j) = difference(r + i, c + j);
        }
        ascend(parts.ascent(), r, c, tile);
      }
    }
    EXPECT_TRUE(same_bits(parts.weights, whole.weights));
    EXPECT_TRUE(same_bits(parts.velocity, whole.velocity));
  });
}

TEST(Ascent, HugeTinyAndInfiniteNumbersAreSteppedAlikeEverywhere) {
  constexpr float kNumbers[] = {0.0f, -0.0f, 1e-45f, -1e-40f, 1e-38f, 1.0f, -3e38f, 3e38f, INFINITY, -INFINITY};
  for_each_way([&](float momentum, float l1, float l2, bool with_velocity) {
    Step start(std::size(kNumbers), std::size(kNumbers), with_velocity);
    start.momentum = momentum;
    start.l1 = l1;
    start.l2 = l2;
    Matrix<float> difference(std::size(kNumbers), std::size(kNumbers));
    for (std::size_t i = 0; i < std::size(kNumbers); ++i) {
      for (std::size_t j = 0; j < std::size(kNumbers); ++j) {
        start.weights(i, j) = kNumbers[i];
        difference(i, j) = kNumbers[j];
      }
    }
    Step truth = start;
    ascend_plainly(truth.ascent(), 0, 0, difference);
    test::for_each_target([&] {
      Step found = start;
      ascend(found.ascent(), 0, 0, difference);
      for (std::size_t k = 0; k < found.weights.elements().size(); ++k) {
        const float a = found.weights.elements()[k], b = truth.weights.elements()[k];
        ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << a << " and " << b;
      }
    });
  });
}

}  // namespace
}  // namespace ergodic
