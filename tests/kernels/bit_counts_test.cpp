#include "ergodic/kernels/bit_counts.hpp"

#include <gtest/gtest.h>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

void expect_counts(const Bits& bits, const Context& context = {}) {
  std::vector<std::uint32_t> truth(bits.cols());
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    for (std::size_t c = 0; c < bits.cols(); ++c) truth[c] += bits.get(r, c);
  }
  test::for_each_target([&] {
    const Bits other = test::random_bits(3, 70, 0.5, 1);
    std::vector<std::uint32_t> found(bits.cols(), 77), again = found, of_other(other.cols());
    count_columns(std::array<ColumnCounts, 3>{{{&bits, found}, {&other, of_other}, {&bits, again}}}, context);
    ASSERT_EQ(found, truth) << bits.rows() << " x " << bits.cols();
    ASSERT_EQ(again, truth);
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

TEST(BitCounts, ColumnsAreCountedAtAllSizes) {
  for_each_case([](const Bits& bits) { expect_counts(bits); });
}

TEST(BitCounts, CountsPassTheRangeOf8Bits) {
  for (const std::size_t rows : {254u, 255u, 256u, 510u, 511u, 1000u}) {
    for (const double density : {0.5, 1.0})
      ASSERT_NO_FATAL_FAILURE(expect_counts(test::random_bits(rows, 70, density, 4)));
  }
}

TEST(BitCounts, AreTheSameForAnyNumberOfThreads) {
  const Bits bits = test::random_bits(201, 333, 0.3, 5);
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    ASSERT_NO_FATAL_FAILURE(expect_counts(bits, Context{&threads}));
  }
}

}  // namespace
}  // namespace ergodic
