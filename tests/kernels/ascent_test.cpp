#include "ergodic/kernels/ascent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix;

/// A way of stepping.
struct Way {
  float scale = 1.0f, momentum = 0.0f;
  bool l1 = false;  // of each column
  float l2 = 0.0f;
  bool with_velocity = false;
};

/// Weights and all that steps them.
struct Step {
  Way way;
  Matrix<float> weights, velocity, row_offset, row_change, column_offset, column_change, column_l1;

  Step(std::size_t rows, std::size_t cols, const Way& which)
      : way(which),
        weights(random_matrix(rows, cols, 1)),
        velocity(which.with_velocity ? random_matrix(rows, cols, 2) : Matrix<float>()),
        row_offset(random_matrix(1, rows, 3)),
        row_change(random_matrix(1, rows, 4)),
        column_offset(random_matrix(1, cols, 5)),
        column_change(random_matrix(1, cols, 6)),
        column_l1(which.l1 ? random_matrix(1, cols, 11, 0.01f) : Matrix<float>()) {
    for (std::size_t k = 0; k < weights.elements().size(); k += 5) weights.elements()[k] = 0.0f;  // have no sign
  }

  Ascent ascent() {
    return {weights,
            velocity.elements(),
            row_offset.row(0),
            row_change.row(0),
            column_offset.row(0),
            column_change.row(0),
            column_l1.elements(),
            way.scale,
            0.3f,
            way.momentum,
            way.l2};
  }
};

/// Differences of pair statistics, with earlier sums or without.
template <class Count = std::int16_t>
struct Pairs {
  Matrix<Count> counts;
  Matrix<float> earlier;

  Pairs(std::size_t rows, std::size_t cols, std::uint64_t seed, bool with_earlier)
      : counts(rows, cols), earlier(with_earlier ? random_matrix(rows, cols, seed) : Matrix<float>()) {
    const Matrix<float> random = random_matrix(rows, cols, seed + 100);
    for (std::size_t k = 0; k < random.elements().size(); ++k) {
      counts.elements()[k] = static_cast<Count>(std::clamp(10.0f * random.elements()[k], -100.0f, 100.0f));
    }
    counts(0, 0) = -std::numeric_limits<Count>::max();
    counts(rows - 1, cols - 1) = std::numeric_limits<Count>::max();
  }

  PairBlock block() const { return {counts.view(), 0.01f, earlier.elements().empty() ? nullptr : earlier.data()}; }
};

float difference_of(const PairBlock& block, std::size_t r, std::size_t c) {
  const float earlier = block.earlier ? block.earlier[r * PairCounts::kColumns + c] : 0.0f;
  return earlier +
         block.weight * std::visit([&](auto counts) { return static_cast<float>(counts(r, c)); }, block.counts);
}

/// The same by the formulas, one element after the other.
void ascend_plainly(const Ascent& a, std::size_t first_row, std::size_t first_column, const PairBlock& difference) {
  for (std::size_t r = 0; r < difference.rows(); ++r) {
    for (std::size_t c = 0; c < PairCounts::kColumns; ++c) {
      const std::size_t i = first_row + r, j = first_column + c;
      if (j >= a.weights.cols()) continue;
      float& w = a.weights(i, j);
      const float about_offsets =
          difference_of(difference, r, c) - a.row_offset[i] * a.column_change[j] - a.row_change[i] * a.column_offset[j];
      float g = a.scale * about_offsets;
      if (!a.column_l1.empty() || a.l2 != 0.0f) {
        const float sign = w > 0.0f ? 1.0f : w < 0.0f ? -1.0f : 0.0f;
        g = g - a.l2 * w - (a.column_l1.empty() ? 0.0f : a.column_l1[j]) * sign;
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
void expect_step(const Step& start, std::size_t first_row, std::size_t first_column, const PairBlock& difference) {
  Step truth = start;
  ascend_plainly(truth.ascent(), first_row, first_column, difference);
  test::for_each_target([&] {
    Step found = start;
    ascend(found.ascent(), first_row, first_column, difference);
    ASSERT_TRUE(same_bits(found.weights, truth.weights)) << start.weights.cols() << " from " << first_column;
    ASSERT_TRUE(same_bits(found.velocity, truth.velocity)) << start.weights.cols() << " from " << first_column;
  });
}

/// Calls f(way) for each way of stepping; the first has a loop of its own where nothing was counted earlier.
template <class F>
void for_each_way(const F& f) {
  f(Way{});
  for (const bool l1 : {false, true}) {
    for (const float l2 : {0.0f, 0.03f}) {
      f(Way{0.7f, 0.0f, l1, l2, false});
      f(Way{0.7f, 0.0f, l1, l2, true});
      f(Way{0.7f, 0.9f, l1, l2, true});
    }
  }
}

constexpr std::size_t kWidth = PairCounts::kColumns;  // of a block of differences, even where the weights end before it

TEST(Ascent, EqualsTheFormulasElementByElementAtAllWidths) {
  for (std::size_t width = 1; width <= 130; ++width) {
    for_each_way([&](const Way& way) {
      for (std::size_t first_column = 0; first_column < width; first_column += kWidth) {
        expect_step(Step(3, width, way), 0, first_column, Pairs<>(3, kWidth, 7, width % 2 == 0).block());
        expect_step(Step(3, width, way), 0, first_column, Pairs<std::int8_t>(3, kWidth, 7, width % 2 == 0).block());
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST(Ascent, StepsOnlyThePartThatItIsGiven) {
  for (const std::size_t width : {1u, 63u, 64u, 65u, 129u, 200u}) {
    for (std::size_t first_column = 0; first_column < width; first_column += kWidth) {
      for_each_way([&](const Way& way) {
        for (const bool earlier : {false, true}) {
          expect_step(Step(7, width, way), 2, first_column, Pairs<>(4, kWidth, 8, earlier).block());
        }
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Ascent, RowByRowEqualsAllAtOnce) {
  const Pairs<> difference(10, kWidth, 9, true);
  for_each_way([&](const Way& way) {
    const Step start(10, kWidth, way);
    Step whole = start;
    ascend(whole.ascent(), 0, 0, difference.block());
    Step parts = start;
    for (std::size_t r = 0; r < 10; ++r) {
      const MatrixView<const std::int16_t> counts(difference.counts.data() + r * kWidth, 1, kWidth);
      ascend(parts.ascent(), r, 0, {counts, difference.block().weight, difference.earlier.data() + r * kWidth});
    }
    EXPECT_TRUE(same_bits(parts.weights, whole.weights));
    EXPECT_TRUE(same_bits(parts.velocity, whole.velocity));
  });
}

TEST(Ascent, HugeTinyAndInfiniteNumbersAreSteppedAlikeEverywhere) {
  constexpr float kNumbers[] = {0.0f, -0.0f, 1e-45f, -1e-40f, 1e-38f, 1.0f, -3e38f, 3e38f, INFINITY, -INFINITY};
  for_each_way([&](const Way& way) {
    Step start(std::size(kNumbers), std::size(kNumbers), way);
    Pairs<> difference(std::size(kNumbers), kWidth, 10, true);
    for (std::size_t i = 0; i < std::size(kNumbers); ++i) {
      for (std::size_t j = 0; j < std::size(kNumbers); ++j) {
        start.weights(i, j) = kNumbers[i];
        difference.counts(i, j) = 0;
        difference.earlier(i, j) = kNumbers[j];
      }
    }
    Step truth = start;
    ascend_plainly(truth.ascent(), 0, 0, difference.block());
    test::for_each_target([&] {
      Step found = start;
      ascend(found.ascent(), 0, 0, difference.block());
      for (std::size_t k = 0; k < found.weights.elements().size(); ++k) {
        const float a = found.weights.elements()[k], b = truth.weights.elements()[k];
        ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << a << " and " << b;
      }
    });
  });
}

}  // namespace
}  // namespace ergodic
