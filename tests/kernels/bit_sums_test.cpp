#include "ergodic/kernels/bit_sums.hpp"

#include <gtest/gtest.h>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

constexpr std::int32_t kLimit = 1 << kBitSumRange;

std::vector<std::int32_t> random_values(std::size_t count, std::int32_t below, std::uint64_t seed) {
  std::vector<std::int32_t> out(count);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t range = 2 * static_cast<std::uint64_t>(below) - 1;
    out[k] = static_cast<std::int32_t>(draw.below(range, 0, static_cast<std::uint32_t>(k))) - (below - 1);
  }
  return out;
}

void expect_row_sums(const Bits& bits, const std::vector<std::int32_t>& values, const Context& context) {
  std::vector<std::int32_t> truth(bits.rows());
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    for (std::size_t c = 0; c < bits.cols(); ++c) truth[r] += bits.get(r, c) ? values[c] : 0;
  }
  test::for_each_target([&] {
    std::vector<std::int32_t> found(bits.rows(), 77);
    sum_rows(bits, values, found, context);
    ASSERT_EQ(found, truth) << bits.rows() << " x " << bits.cols();
  });
}

void expect_column_sums(const Bits& bits, const std::vector<std::int32_t>& values, const Context& context) {
  std::vector<std::int64_t> true_counts(bits.cols()), true_sums(bits.cols());
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    for (std::size_t c = 0; c < bits.cols(); ++c) {
      true_counts[c] += bits.get(r, c);
      true_sums[c] += bits.get(r, c) ? values[r] : 0;
    }
  }
  test::for_each_target([&] {
    std::vector<std::int64_t> counts(bits.cols(), 77), sums(bits.cols(), 77);
    sum_columns(bits, values, counts, sums, context);
    ASSERT_EQ(counts, true_counts) << bits.rows() << " x " << bits.cols();
    ASSERT_EQ(sums, true_sums) << bits.rows() << " x " << bits.cols();
  });
}

/// Calls f(bits) for 1 to 130 rows with few columns, 1 to 130 columns with few rows, the edges, and other densities.
template <class F>
void for_each_case(const F& f) {
  constexpr double kDensities[] = {0.0, 0.02, 0.5, 1.0};
  std::vector<std::pair<std::size_t, std::size_t>> sizes;
  for (std::size_t n = 1; n <= 130; ++n) {
    sizes.insert(sizes.end(), {{n, 1 + n % 7}, {n, 65}, {1 + n % 7, n}, {33, n}});
  }
  for (const std::size_t rows : test::kEdges) {
    for (const std::size_t cols : test::kEdges) {
      if (rows * cols < 70000) sizes.emplace_back(rows, cols);
    }
  }
  std::size_t k = 0;
  for (const auto& [rows, cols] : sizes) {
    // The densities take turns; adding the quotient moves them on against the four sizes made at a time.
    ASSERT_NO_FATAL_FAILURE(f(test::random_bits(rows, cols, kDensities[(k + k / 4) % 4], k)));
    ++k;
  }
}

TEST(BitSums, RowsAreSummedAtAllSizes) {
  for_each_case([](const Bits& bits) {
    const auto below = static_cast<std::int32_t>(kLimit / static_cast<std::int32_t>(bits.cols()));
    expect_row_sums(bits, random_values(bits.cols(), below, 1), {});
  });
}

TEST(BitSums, ColumnsAreSummedAtAllSizes) {
  for_each_case([](const Bits& bits) { expect_column_sums(bits, random_values(bits.rows(), kLimit, 2), {}); });
}

TEST(BitSums, RowsReachTheLimitButNotBeyond) {
  for (const std::size_t cols : {1u, 7u, 8u, 9u, 64u, 130u}) {
    const Bits bits = test::random_bits(3, cols, 1.0, 3);
    for (const std::int32_t sign : {1, -1}) {
      // All in one value at any place, and spread evenly.
      for (std::size_t c = 0; c < cols; ++c) {
        std::vector<std::int32_t> values(cols);
        values[c] = sign * (kLimit - 1);
        expect_row_sums(bits, values, {});
      }
      expect_row_sums(bits, std::vector<std::int32_t>(cols, sign * ((kLimit - 1) / static_cast<std::int32_t>(cols))),
                      {});
    }
  }
}

TEST(BitSums, ColumnsOfLargestValuesPassTheRangeOf32Bits) {
  for (const std::size_t rows : {127u, 128u, 129u, 1000u}) {
    for (const std::int32_t sign : {1, -1}) {
      for (const double density : {0.5, 1.0}) {
        expect_column_sums(test::random_bits(rows, 70, density, 4),
                           std::vector<std::int32_t>(rows, sign * (kLimit - 1)), {});
      }
    }
  }
}

TEST(BitSums, AreTheSameForAnyNumberOfThreads) {
  const Bits bits = test::random_bits(201, 333, 0.3, 5);
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    expect_row_sums(bits, random_values(333, 50000, 6), Context{&threads});
    expect_column_sums(bits, random_values(201, kLimit, 7), Context{&threads});
  }
}

}  // namespace
}  // namespace ergodic
