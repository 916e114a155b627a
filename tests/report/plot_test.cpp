#include "ergodic/report/plot.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace ergodic {
namespace {

int red_at(const Image& image, std::size_t x, std::size_t y) { return image.pixels[3 * (y * image.width + x)]; }

std::size_t inked(const Image& image, std::size_t left, std::size_t top, std::size_t width, std::size_t height) {
  std::size_t out = 0;
  for (std::size_t y = top; y < top + height; ++y) {
    for (std::size_t x = left; x < left + width; ++x) out += red_at(image, x, y) < 255 ? 1 : 0;
  }
  return out;
}

TEST(ScatterPlots, HaveAxesWithNumbersAndWords) {
  const std::array x{0.0, 1.0}, y{0.0, 1.0};
  const Image image = scatter_plots(std::array{Cloud{"means", "data", "samples", x, y}});
  ASSERT_EQ(image.channels, 3u);
  EXPECT_GT(inked(image, kAxisLeft, 0, 400, kAxisTop - 2), 40u) << "a title";
  EXPECT_GT(inked(image, 0, kAxisTop, 20, 400), 40u) << "a title on the left";
  EXPECT_GT(inked(image, 20, kAxisTop, kAxisLeft - 22, 400), 40u) << "numbers";
  EXPECT_GT(inked(image, kAxisLeft, kAxisTop + 402, 400, 16), 40u) << "numbers";
}

TEST(ScatterPlots, PointsLieWhereTheyBelong) {
  const std::array x{0.0, 1.0, 1.0}, y{0.0, 1.0, 0.0};
  const Image image = scatter_plots(std::array{Cloud{"", "", "", x, y}});
  // A margin of 3 % of a range of 1 on each side: 0 and 1 are at 0.03 / 1.06 and 1.03 / 1.06 of the side.
  const std::size_t low = kAxisLeft + static_cast<std::size_t>(std::lround(0.03 / 1.06 * 399));
  const std::size_t high = kAxisLeft + static_cast<std::size_t>(std::lround(1.03 / 1.06 * 399));
  const std::size_t bottom = kAxisTop + 399 - (low - kAxisLeft), top = kAxisTop + 399 - (high - kAxisLeft);
  EXPECT_LT(red_at(image, low, bottom), 60);
  EXPECT_LT(red_at(image, high, top), 60);
  EXPECT_LT(red_at(image, high, bottom), 60);
  EXPECT_EQ(red_at(image, low, top), 255);
}

TEST(ScatterPlots, ValuesThatAreEqualOrNotFiniteAreFine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::array equal{2.0, 2.0}, none{nan, nan};
  EXPECT_NO_THROW(scatter_plots(std::array{Cloud{"", "", "", equal, equal}, Cloud{"", "", "", none, equal}}));
  EXPECT_NO_THROW(scatter_plots(std::array{Cloud{"", "", "", {}, {}}}));
}

}  // namespace
}  // namespace ergodic
