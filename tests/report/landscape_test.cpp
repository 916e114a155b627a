#include "ergodic/report/landscape.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

std::array<int, 3> colour_at(const Image& image, std::size_t y, std::size_t x) {
  const std::uint8_t* pixel = &image.pixels[3 * (y * image.width + x)];
  return {pixel[0], pixel[1], pixel[2]};
}

int lightness(const Image& image, std::size_t y, std::size_t x) {
  const auto [r, g, b] = colour_at(image, y, x);
  return r + g + b;
}

/// A bowl of energy about (0, 0), seen from -4 to 4.
struct Bowl {
  static constexpr std::size_t kPixels = 80;
  Window window{-4.0, -4.0, 8.0};
  std::vector<double> energies() const {
    const Matrix<float> places = places_in(window, kPixels);
    std::vector<double> out;
    for (std::size_t k = 0; k < places.rows(); ++k) {
      out.push_back(3.0 + 0.5 * (places(k, 0) * places(k, 0) + places(k, 1) * places(k, 1)));
    }
    return out;
  }
};

TEST(Landscape, PlacesGoFromTheTopLeft) {
  const Matrix<float> places = places_in({10.0, -1.0, 4.0}, 4);
  ASSERT_EQ(places.rows(), 16u);
  EXPECT_FLOAT_EQ(places(0, 0), 10.5f);
  EXPECT_FLOAT_EQ(places(0, 1), 2.5f);  // the top
  EXPECT_FLOAT_EQ(places(3, 0), 13.5f);
  EXPECT_FLOAT_EQ(places(12, 1), -0.5f);
}

TEST(Landscape, TheWindowIsASquareAboutThePoints) {
  Matrix<float> points(3, 2);
  points(0, 0) = -1.0f;
  points(1, 0) = 3.0f;
  points(2, 0) = std::numeric_limits<float>::infinity();
  points(2, 1) = 1.0f;
  const Window window = window_around(points);
  EXPECT_DOUBLE_EQ(window.side, 1.3 * 4.0);
  EXPECT_DOUBLE_EQ(window.left + 0.5 * window.side, 1.0);
  EXPECT_DOUBLE_EQ(window.bottom + 0.5 * window.side, 0.5);
  EXPECT_GT(window_around(Matrix<float>(1, 2)).side, 0.0);
  EXPECT_GT(window_around(Matrix<float>(0, 2)).side, 0.0);
}

TEST(Landscape, LowEnergiesAreDarkAndRisesAreCrossedByLines) {
  const Bowl bowl;
  const Image image = landscape(bowl.energies(), Matrix<float>(0, 2), bowl.window, Bowl::kPixels);
  EXPECT_EQ(image.width, 2 * Bowl::kPixels + 8);
  EXPECT_EQ(image.height, Bowl::kPixels);
  EXPECT_LT(lightness(image, 40, 40), lightness(image, 40, 60));
  EXPECT_LT(lightness(image, 40, 60), lightness(image, 40, 79));
  // Lines along the middle row, from the centre out: at 2, 4 and 6 of the 8 nats, each lighter than what follows it.
  int lines = 0;
  for (std::size_t x = 41; x + 1 < Bowl::kPixels; ++x) lines += lightness(image, 40, x) > lightness(image, 40, x + 1);
  EXPECT_EQ(lines, 3);
}

TEST(Landscape, PointsAreWhereTheyAreInTheWindow) {
  const Bowl bowl;
  Matrix<float> points(3, 2);
  points(0, 0) = 2.05f;  // the middle of a pixel, on the right
  points(0, 1) = 3.05f;  // near the top
  points(1, 0) = 100.0f;
  points(2, 0) = std::numeric_limits<float>::quiet_NaN();
  const Image image = landscape(bowl.energies(), points, bowl.window, Bowl::kPixels);
  std::set<std::pair<std::size_t, std::size_t>> dark;
  for (std::size_t y = 0; y < Bowl::kPixels; ++y) {
    for (std::size_t x = Bowl::kPixels; x < image.width; ++x) {
      if (lightness(image, y, x) < 3 * 255) dark.insert({y, x - Bowl::kPixels - 8});
    }
  }
  EXPECT_EQ(dark, (std::set<std::pair<std::size_t, std::size_t>>{{9, 60}, {8, 60}, {10, 60}, {9, 59}, {9, 61}}));
}

TEST(Landscape, EnergiesThatAreNoNumbersAreGreen) {
  const Bowl bowl;
  std::vector<double> energies = bowl.energies();
  energies[0] = std::nan("");
  energies[1] = std::numeric_limits<double>::infinity();
  const Image image = landscape(energies, Matrix<float>(0, 2), bowl.window, Bowl::kPixels);
  EXPECT_EQ(colour_at(image, 0, 0), (std::array<int, 3>{0, 200, 0}));
  EXPECT_GT(lightness(image, 0, 1), 400);
  EXPECT_THROW(landscape(energies, Matrix<float>(0, 2), bowl.window, 79), UsageError);
  EXPECT_THROW(landscape(energies, Matrix<float>(0, 3), bowl.window, Bowl::kPixels), UsageError);
}

}  // namespace
}  // namespace ergodic
