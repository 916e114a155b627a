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

/// weight * sum over j of #{rows: x(r, i) and y(r, j) are on} value(j) for each i, in integers.
std::vector<double> plain_projection(const Bits& x, const Bits& y, double weight, std::span<const float> values) {
  std::vector<std::int64_t> sums(x.cols());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    std::int64_t of_row = 0;
    for_each_set(y.row(r), [&](std::size_t j) { of_row += static_cast<std::int64_t>(values[j]); });
    for_each_set(x.row(r), [&](std::size_t i) { sums[i] += of_row; });
  }
  std::vector<double> out;
  for (const std::int64_t sum : sums) out.push_back(weight * static_cast<double>(sum));
  return out;
}

/// Compares both projections with plain sums on each instruction set: of one side, and with another that has more rows.
/// With weights that are powers of two all is exact.
void expect_projection(const Bits& x, const Bits& y, const std::vector<float>& y_values, const Context& context = {}) {
  const std::vector<float> x_values = random_values(x.cols(), 5);
  const Bits more_x = random_bits(x.rows() + 70, x.cols(), 0.3, 7),
             more_y = random_bits(x.rows() + 70, y.cols(), 0.6, 8);
  const WeightedPairs sides[] = {{&x, &y, -0.25f}, {&more_x, &more_y, 0.5f}};
  for (const std::size_t count : {1u, 2u}) {
    std::vector<double> onto_x(x.cols(), 3.0), onto_y(y.cols(), 4.0);
    for (const auto& [a, b, weight] : std::span(sides).first(count)) {
      const auto add = [](const std::vector<double>& from, std::vector<double>& to) {
        for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
      };
      add(plain_projection(*a, *b, weight, y_values), onto_x);
      add(plain_projection(*b, *a, weight, x_values), onto_y);
    }
    test::for_each_target([&] {
      PairProjection projection;
      std::vector<double> found_x(x.cols(), 3.0), found_y(y.cols(), 4.0);
      projection.add(std::span(sides).first(count), {x_values, found_x}, {y_values, found_y}, context);
      ASSERT_EQ(found_x, onto_x);
      ASSERT_EQ(found_y, onto_y);
    });
  }
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
