#include "ergodic/kernels/fields.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

TEST(AddRows, IsTheSumInOrderAtAllWidths) {
  constexpr std::uint32_t kRows = 17;
  for (std::size_t width = 1; width <= 130; ++width) {
    const Matrix<float> table = test::random_matrix(kRows, width, width);
    std::vector<std::uint32_t> rows;
    for (std::uint32_t k = 0; k < width % 40; ++k) rows.push_back(k * 7 % kRows);
    std::vector<double> expected(width);
    for (std::size_t c = 0; c < width; ++c) {
      expected[c] = 0.1 * static_cast<double>(c);
      for (const std::uint32_t r : rows) expected[c] += double{table(r, c)};
    }
    test::for_each_target([&] {
      std::vector<double> found(width);
      for (std::size_t c = 0; c < width; ++c) found[c] = 0.1 * static_cast<double>(c);
      add_rows(table, rows, found);
      EXPECT_EQ(found, expected) << width << " columns";
      const std::size_t first = width / 3;
      std::vector<double> part(width - first);
      for (std::size_t c = first; c < width; ++c) part[c - first] = 0.1 * static_cast<double>(c);
      add_rows(table, rows, part, first);
      EXPECT_EQ(part, std::vector<double>(expected.begin() + static_cast<std::ptrdiff_t>(first), expected.end()));
    });
  }
}

}  // namespace
}  // namespace ergodic
