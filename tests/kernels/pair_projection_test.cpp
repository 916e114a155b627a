#include "ergodic/kernels/pair_projection.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_bits;

/// Integers as large as they may be, and their opposites, and any between.
std::vector<float> random_values(std::size_t size, std::uint64_t seed) {
  std::vector<float> out(size);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  const double largest = std::ldexp(1.0, PairProjection::kMaxBits);
  for (std::uint32_t k = 0; k < size; ++k) {
    const double part = k % 3 == 0 ? 1.0 : draw.uniform(0, k);
    out[k] = static_cast<float>(std::nearbyint((draw.uniform(1, k) < 0.5 ? 1.0 : -1.0) * part * largest));
  }
  return out;
}

/// Compares with plain sums, in integers, on each instruction set. With a weight that is a power of two all is exact.
void expect_projection(const Bits& x, const Bits& y, std::span<const float> values, const Context& context = {}) {
  std::vector<std::int64_t> sums(x.cols());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    std::int64_t of_row = 0;
    for_each_set(y.row(r), [&](std::size_t j) { of_row += static_cast<std::int64_t>(values[j]); });
    for_each_set(x.row(r), [&](std::size_t i) { sums[i] += of_row; });
  }
  test::for_each_target([&] {
    PairProjection projection;
    std::vector<double> found(x.cols(), 3.0);
    projection.add(x, y, -0.25, values, found, context);
    for (std::size_t i = 0; i < x.cols(); ++i) ASSERT_EQ(found[i], 3.0 - 0.25 * static_cast<double>(sums[i])) << i;
  });
}

TEST(PairProjection, EqualsPlainSumsAtAllSizes) {
  constexpr double kDensities[] = {0.0, 0.02, 0.5, 1.0};
  for (std::size_t size = 1; size <= 130; ++size) {
    const std::size_t other = std::array{1u, 7u, 63u, 64u, 65u}[size % 5], rows = 1 + size * 37 % 130;
    SCOPED_TRACE(testing::Message() << rows << " rows, " << size << " and " << other << " units");
    const Bits x = random_bits(rows, size, kDensities[size % 4], size),
               y = random_bits(rows, other, kDensities[size / 4 % 4], size + 1000);
    ASSERT_NO_FATAL_FAILURE(expect_projection(x, y, random_values(other, size)));
    ASSERT_NO_FATAL_FAILURE(expect_projection(y, x, random_values(size, size)));
  }
}

TEST(PairProjection, TheLargestSumsAreExact) {
  for (const std::size_t units : {4095u, 4096u, 4097u, 10000u}) {
    for (const std::size_t rows : {63u, 64u, 65u, 300u}) {
      const Bits x = random_bits(rows, 3, 1.0, 1), y = random_bits(rows, units, 1.0, 2);
      for (const float value : {4096.0f, -4096.0f, 4095.0f}) {
        ASSERT_NO_FATAL_FAILURE(expect_projection(x, y, std::vector<float>(units, value))) << units << ", " << rows;
      }
    }
  }
}

TEST(PairProjection, IsTheSameForAnyNumberOfThreads) {
  const Bits x = random_bits(201, 700, 0.3, 3), y = random_bits(201, 500, 0.3, 4);
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    ASSERT_NO_FATAL_FAILURE(expect_projection(x, y, random_values(500, 5), Context{&threads}));
  }
}

TEST(PairProjection, ABatchWithoutRowsAddsNothing) {
  ASSERT_NO_FATAL_FAILURE(expect_projection(Bits(0, 40), Bits(0, 70), random_values(70, 6)));
}

}  // namespace
}  // namespace ergodic
