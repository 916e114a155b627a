#include "ergodic/kernels/pair_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_bits;

/// How many rows have both bits on, counted one by one.
Matrix<std::int64_t> count_plainly(const Bits& x, const Bits& y) {
  Matrix<std::int64_t> out(x.cols(), y.cols());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for_each_set(x.row(r), [&](std::size_t i) { for_each_set(y.row(r), [&](std::size_t j) { ++out(i, j); }); });
  }
  return out;
}

/// Runs and puts the tiles together. Each element must come exactly once, and zeros beyond the last column.
Matrix<float> run(PairCounts& counts, std::span<const WeightedPairs> sides, const Context& context) {
  const std::size_t rows = sides[0].x->cols(), cols = sides[0].y->cols();
  Matrix<float> out(rows, cols);
  Matrix<int> times(rows, cols);
  std::mutex mutex;
  const auto sink = [&](std::size_t first_row, std::size_t first_column, const PairBlock& block) {
    const std::lock_guard lock(mutex);
    const Matrix<float> tile = std::visit(
        [](auto counts) {
          Matrix<float> out(counts.rows(), counts.cols());
          std::ranges::transform(counts.elements(), out.elements().begin(), [](auto count) { return float(count); });
          return out;
        },
        block.counts);
    ASSERT_EQ(tile.cols(), PairCounts::kColumns);
    ASSERT_LE(first_row + tile.rows(), rows);
    ASSERT_LT(first_column, cols);
    ASSERT_EQ(first_row % PairCounts::kColumns, 0u);
    ASSERT_EQ(first_column % PairCounts::kColumns, 0u);
    for (std::size_t r = 0; r < tile.rows(); ++r) {
      for (std::size_t c = 0; c < tile.cols(); ++c) {
        const float earlier = block.earlier ? block.earlier[r * tile.cols() + c] : 0.0f;
        const float sum = earlier + block.weight * tile(r, c);
        if (first_column + c >= cols) {
          ASSERT_EQ(sum, 0.0f);
        } else {
          out(first_row + r, first_column + c) = sum;
          ++times(first_row + r, first_column + c);
        }
      }
    }
  };
  counts.begin(sides, context);
  for (std::size_t s = 0; s < sides.size(); ++s) {
    std::vector<std::uint32_t> rows_on(rows);
    for (std::size_t r = 0; r < sides[s].x->rows(); ++r) {
      for_each_set(sides[s].x->row(r), [&](std::size_t i) { ++rows_on[i]; });
    }
    EXPECT_TRUE(std::ranges::equal(counts.rows_on(s), rows_on));
  }
  counts.run(sides, sink, context);
  for (const int t : times.elements()) EXPECT_EQ(t, 1);
  return out;
}

/// Compares with plain counting on each instruction set, and each with the others to the last bit.
void expect_counts(PairCounts& counts, std::span<const WeightedPairs> sides, const Context& context = {}) {
  const bool exact = sides.size() == 1 || std::abs(sides[0].weight) == std::abs(sides[1].weight);
  const std::size_t rows = sides[0].x->cols(), cols = sides[0].y->cols();
  Matrix<double> truth(rows, cols), size(rows, cols);
  for (const WeightedPairs& side : sides) {
    const Matrix<std::int64_t> counted = count_plainly(*side.x, *side.y);
    for (std::size_t k = 0; k < truth.elements().size(); ++k) {
      truth.elements()[k] += double{side.weight} * static_cast<double>(counted.elements()[k]);
      size.elements()[k] += std::abs(double{side.weight} * static_cast<double>(counted.elements()[k]));
    }
  }
  std::optional<Matrix<float>> first;
  test::for_each_target([&] {
    const Matrix<float> found = run(counts, sides, context);
    if (!first) first = found;
    ASSERT_TRUE(found == *first);
    for (std::size_t k = 0; k < truth.elements().size(); ++k) {
      if (exact) {
        // An integer below 2^15 times the weight is rounded once. In double the product is exact.
        ASSERT_EQ(found.elements()[k], static_cast<float>(truth.elements()[k])) << k;
      } else {
        // Two products and their sum are rounded, each by at most 2^-24 of a number no larger than `size`.
        ASSERT_NEAR(found.elements()[k], truth.elements()[k], 3 * 0x1p-24 * size.elements()[k]) << k;
      }
    }
  });
}

/// Two batches, with weights that average over each: their difference.
struct Batches {
  Bits x0, y0, x1, y1;

  Batches(std::size_t rows0, std::size_t rows1, std::size_t units_x, std::size_t units_y, double density_x,
          double density_y, std::uint64_t seed)
      : x0(random_bits(rows0, units_x, density_x, seed)),
        y0(random_bits(rows0, units_y, density_y, seed + 1000)),
        x1(random_bits(rows1, units_x, density_x, seed + 2000)),
        y1(random_bits(rows1, units_y, density_y, seed + 3000)) {}

  std::array<WeightedPairs, 2> sides() const {
    return {WeightedPairs{&x0, &y0, 1.0f / static_cast<float>(x0.rows())},
            WeightedPairs{&x1, &y1, -1.0f / static_cast<float>(x1.rows())}};
  }
};

// Around the sizes of words, of groups, and of blocks, which are of at most 112 rows.
constexpr std::size_t kRows[] = {1,   2,   3,   4,   5,   7,   8,   9,   31,  60,  63,  64, 65,
                                 111, 112, 113, 117, 127, 128, 129, 223, 224, 225, 337, 16, 100};
constexpr double kDensities[] = {0.0, 0.02, 0.2, 0.5, 1.0};

TEST(PairCounts, EqualPlainCountingForAnyNumberOfUnits) {
  PairCounts kept;  // its memory is used again for other sizes
  std::size_t k = 0;
  for (std::size_t units = 1; units <= 130; ++units) {
    for (const bool turned : {false, true}) {
      const std::size_t others = std::array{1u, 64u, 65u, 3u, 130u}[k % 5];
      const std::size_t rows = kRows[k % std::size(kRows)];
      const std::size_t other_rows = k % 3 == 0 ? kRows[(k * 7 + 3) % std::size(kRows)] : rows;
      const Batches batches(rows, other_rows, turned ? others : units, turned ? units : others, kDensities[(k / 2) % 5],
                            kDensities[(k / 3) % 5], k);
      SCOPED_TRACE(testing::Message() << rows << " and " << other_rows << " rows, " << batches.x0.cols() << " x "
                                      << batches.y0.cols() << " units");
      ASSERT_NO_FATAL_FAILURE(expect_counts(kept, batches.sides()));
      PairCounts fresh;
      ASSERT_NO_FATAL_FAILURE(expect_counts(fresh, batches.sides()));
      ++k;
    }
  }
}

TEST(PairCounts, EqualPlainCountingForAnyNumberOfRows) {
  PairCounts counts;
  for (std::size_t rows = 1; rows <= 130; ++rows) {
    const Batches same(rows, rows, 70, 66, 0.4, 0.6, rows);
    ASSERT_NO_FATAL_FAILURE(expect_counts(counts, same.sides())) << rows;
    const Batches different(rows, 131 - rows, 9, 66, 0.9, 0.6, rows);
    ASSERT_NO_FATAL_FAILURE(expect_counts(counts, different.sides())) << rows;
  }
  for (const std::size_t rows : {223u, 224u, 225u, 336u, 337u, 448u, 449u, 511u, 512u, 513u, 560u, 561u, 1121u}) {
    for (const double density : kDensities) {
      const Batches same(rows, rows, 33, 70, density, density, rows);
      ASSERT_NO_FATAL_FAILURE(expect_counts(counts, same.sides())) << rows;
      const Batches different(rows, 100, 33, 70, density, density, rows);
      ASSERT_NO_FATAL_FAILURE(expect_counts(counts, different.sides())) << rows;
    }
  }
}

TEST(PairCounts, EqualPlainCountingAroundTheEdges) {
  PairCounts counts;
  std::size_t k = 0;
  for (const std::size_t units_x : {63u, 64u, 65u, 112u, 113u, 511u, 512u, 513u, 1025u}) {
    for (const std::size_t units_y : {63u, 64u, 65u, 112u, 113u, 511u, 512u, 513u}) {
      const std::size_t rows = kRows[k % std::size(kRows)];
      const Batches batches(rows, k % 2 == 0 ? rows : 20, units_x, units_y, 0.3, 0.3, k);
      ASSERT_NO_FATAL_FAILURE(expect_counts(counts, batches.sides())) << units_x << " x " << units_y;
      ++k;
    }
  }
}

TEST(PairCounts, OneSideAloneAndWeightsOfAnySignAreCounted) {
  PairCounts counts;
  const Batches batches(150, 150, 40, 70, 0.5, 0.5, 1);
  for (const float weight : {1.0f, -1.0f, 0.1f, 0.0f, 1e-30f}) {
    const WeightedPairs one[] = {{&batches.x0, &batches.y0, weight}};
    ASSERT_NO_FATAL_FAILURE(expect_counts(counts, one));
    for (const float other : {weight, -weight, 0.3f, 0.0f}) {
      const WeightedPairs two[] = {{&batches.x0, &batches.y0, weight}, {&batches.x1, &batches.y1, other}};
      ASSERT_NO_FATAL_FAILURE(expect_counts(counts, two)) << weight << " and " << other;
    }
  }
}

TEST(PairCounts, ABatchMinusItselfIsZero) {
  PairCounts counts;
  const Bits x = random_bits(300, 90, 0.5, 2), y = random_bits(300, 90, 0.5, 3);
  const WeightedPairs sides[] = {{&x, &y, 1.0f / 300}, {&x, &y, -1.0f / 300}};
  test::for_each_target([&] {
    const Matrix<float> sums = run(counts, sides, {});
    for (const float sum : sums.elements()) ASSERT_EQ(sum, 0.0f);
  });
}

TEST(PairCounts, ABatchWithoutRowsAddsNothing) {
  PairCounts counts;
  const Batches batches(100, 100, 40, 70, 0.5, 0.5, 2);
  const Bits no_x(0, 40), no_y(0, 70);
  const WeightedPairs all[][2] = {{{&batches.x0, &batches.y0, 1.0f}, {&no_x, &no_y, -1.0f}},
                                  {{&no_x, &no_y, 0.5f}, {&batches.x0, &batches.y0, 0.5f}},
                                  {{&no_x, &no_y, 1.0f}, {&no_x, &no_y, -1.0f}}};
  for (const auto& sides : all) ASSERT_NO_FATAL_FAILURE(expect_counts(counts, sides));
}

TEST(PairCounts, DifferencesAtTheEdgeOf8BitsAreCounted) {
  PairCounts counts;
  for (const std::size_t rows : {64u, 126u, 127u, 128u, 129u}) {
    const Bits x = random_bits(rows, 70, 1.0, 1), y = random_bits(rows, 66, 1.0, 2);
    const Bits none = random_bits(rows, 70, 0.0, 3), some = random_bits(rows, 70, 0.3, 4);
    const WeightedPairs all[][2] = {{{&x, &y, 1.0f}, {&none, &y, -1.0f}},
                                    {{&none, &y, 1.0f}, {&x, &y, -1.0f}},
                                    {{&x, &y, -1.0f}, {&some, &y, 1.0f}},
                                    {{&x, &y, 1.0f}, {&some, &y, 1.0f}},
                                    {{&x, &y, -1.0f}, {&x, &y, -1.0f}}};
    for (const auto& sides : all) ASSERT_NO_FATAL_FAILURE(expect_counts(counts, sides)) << rows;
  }
}

TEST(PairCounts, MoreRowsThanFit16BitsAreCounted) {
  // With weights of 1, all partial sums are integers that a float holds.
  PairCounts counts;
  for (const std::size_t rows : {32704u, 32766u, 32767u, 32768u, 32769u, 40000u, 70000u}) {
    for (const double density : {0.5, 1.0}) {
      const Bits x = random_bits(rows, 3, density, 4), y = random_bits(rows, 2, 1.0, 5);
      const Bits few_x = random_bits(1000, 3, 0.7, 6), few_y = random_bits(1000, 2, 0.7, 7);
      const WeightedPairs all[][2] = {{{&x, &y, 1.0f}, {&few_x, &few_y, -1.0f}},
                                      {{&few_x, &few_y, -1.0f}, {&x, &y, 1.0f}},
                                      {{&x, &y, -1.0f}, {&x, &y, -1.0f}}};
      for (const auto& sides : all) ASSERT_NO_FATAL_FAILURE(expect_counts(counts, sides)) << rows;
    }
  }
}

TEST(PairCounts, SumsAreTheSameForAnyNumberOfThreads) {
  const Batches batches(300, 130, 700, 500, 0.3, 0.3, 8);
  PairCounts counts;
  const Matrix<float> alone = run(counts, batches.sides(), {});
  test::for_each_target([&] {
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      PairCounts fresh;
      ASSERT_TRUE(run(fresh, batches.sides(), Context{&threads}) == alone) << count << " threads";
    }
  });
}

}  // namespace
}  // namespace ergodic
