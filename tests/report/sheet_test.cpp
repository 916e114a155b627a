#include "ergodic/report/sheet.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr int kGap = 72;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Matrix<float> matrix(std::size_t rows, std::size_t cols, float value) {
  Matrix<float> m(rows, cols);
  std::fill(m.elements().begin(), m.elements().end(), value);
  return m;
}

int grey_at(const Image& image, std::size_t y, std::size_t x) { return image.pixels[y * image.width + x]; }

std::array<int, 3> colour_at(const Image& image, std::size_t y, std::size_t x) {
  const std::uint8_t* pixel = &image.pixels[3 * (y * image.width + x)];
  return {pixel[0], pixel[1], pixel[2]};
}

void expect_size(const Image& image, std::size_t width, std::size_t height, std::size_t channels) {
  EXPECT_EQ(image.width, width);
  EXPECT_EQ(image.height, height);
  EXPECT_EQ(image.channels, channels);
  EXPECT_EQ(image.pixels.size(), width * height * channels);
}

TEST(Sheet, EveryPixelIsWhereTheFormulaSays) {
  // Five tiles of 2 x 3 in three columns; tile r has the value (r + 1) / 10 + its place / 60.
  Matrix<float> tiles(5, 6);
  for (std::size_t r = 0; r < 5; ++r) {
    for (std::size_t i = 0; i < 6; ++i) tiles(r, i) = static_cast<float>(r + 1) / 10 + static_cast<float>(i) / 60;
  }
  const std::size_t scale = 4, gap = 2;
  const Image image = grey_sheet(tiles, {2, 3, 3, scale, gap});
  expect_size(image, 2 + 3 * (12 + 2), 2 + 2 * (8 + 2), 1);
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) {
      const std::size_t row = y / 10, in_y = y % 10, column = x / 14, in_x = x % 14;
      const bool is_gap = in_y < gap || in_x < gap || row * 3 + column >= 5;
      int expected = kGap;
      if (!is_gap) {
        const float value = tiles(row * 3 + column, (in_y - gap) / scale * 3 + (in_x - gap) / scale);
        expected = static_cast<int>(std::lround(255.0 * value));
      }
      ASSERT_EQ(grey_at(image, y, x), expected) << y << ' ' << x;
    }
  }
}

TEST(Sheet, GreyIsClippedAndNanIsBlack) {
  Matrix<float> tiles(1, 4);
  tiles(0, 0) = -3.0f;
  tiles(0, 1) = 7.0f;
  tiles(0, 2) = kNan;
  tiles(0, 3) = std::numeric_limits<float>::infinity();
  const Image image = grey_sheet(tiles, {1, 4, 1, 1, 0});
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{0, 255, 0, 255}));
}

TEST(Sheet, TheAutomaticScaleMakesSmallTilesLegible) {
  const auto size_of_one = [](std::size_t height, std::size_t width) {
    const Image image = grey_sheet(matrix(1, height * width, 0.5f), {height, width, 0, 0, 0});
    return std::pair(image.height, image.width);
  };
  EXPECT_EQ(size_of_one(28, 28), std::pair(std::size_t{56}, std::size_t{56}));
  EXPECT_EQ(size_of_one(8, 8), std::pair(std::size_t{56}, std::size_t{56}));
  EXPECT_EQ(size_of_one(3, 3), std::pair(std::size_t{57}, std::size_t{57}));
  EXPECT_EQ(size_of_one(64, 56), std::pair(std::size_t{64}, std::size_t{56}));
  EXPECT_EQ(size_of_one(1, 100), std::pair(std::size_t{4}, std::size_t{400}));
  EXPECT_EQ(size_of_one(1, 1), std::pair(std::size_t{56}, std::size_t{56}));
}

TEST(Sheet, TheAutomaticColumnsMakeTheSheetNearlySquare) {
  expect_size(grey_sheet(matrix(100, 784, 0), {28, 28}), 2 + 10 * 58, 2 + 10 * 58, 1);
  expect_size(grey_sheet(matrix(10, 4, 0), {1, 4, 0, 1, 0}), 8, 5, 1);  // 2 x 5 flat tiles
  expect_size(grey_sheet(matrix(3, 4, 0), {2, 2, 50, 1, 0}), 6, 2, 1);  // no more columns than tiles
}

TEST(Sheet, RowsShorterThanTheTileLeaveItsEndAsGap) {
  const Image image = grey_sheet(matrix(1, 3, 1.0f), {2, 2, 1, 1, 0});
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{255, 255, 255, kGap}));
}

TEST(Sheet, SignsHaveTheirColours) {
  Matrix<float> tiles(2, 5);
  const std::array<float, 5> values = {-2.0f, -1.0f, 0.0f, 1.0f, 2.0f};
  for (std::size_t i = 0; i < 5; ++i) {
    tiles(0, i) = values[i];
    tiles(1, i) = 1000.0f * values[i];
  }
  const Image image = signed_sheet(tiles, {1, 5, 1, 1, 0});
  expect_size(image, 5, 2, 3);
  const std::array<std::array<int, 3>, 5> expected = {
      {{5, 48, 97}, {67, 147, 195}, {247, 247, 247}, {214, 96, 77}, {103, 0, 31}}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(colour_at(image, 0, i), expected[i]);
    EXPECT_EQ(colour_at(image, 1, i), expected[i]) << "each tile has its own scale";
  }
}

TEST(Sheet, OneStrayWeightDoesNotHideTheOthers) {
  Matrix<float> tiles = matrix(1, 784, 1.0f);
  tiles(0, 0) = -1e6f;
  const Image image = signed_sheet(tiles, {28, 28, 1, 1, 0});
  EXPECT_EQ(colour_at(image, 0, 0), (std::array<int, 3>{5, 48, 97}));
  EXPECT_EQ(colour_at(image, 5, 5), (std::array<int, 3>{103, 0, 31}));
}

TEST(Sheet, SparseDeadAndBrokenFilters) {
  Matrix<float> tiles(3, 784);
  tiles(0, 7) = 0.5f;  // alone: the quantile is zero, but the weight shows
  for (float& w : tiles.row(2)) w = kNan;
  const Image image = signed_sheet(tiles, {28, 28, 1, 1, 0});
  EXPECT_EQ(colour_at(image, 0, 7), (std::array<int, 3>{103, 0, 31}));
  EXPECT_EQ(colour_at(image, 0, 8), (std::array<int, 3>{247, 247, 247}));
  EXPECT_EQ(colour_at(image, 30, 3), (std::array<int, 3>{247, 247, 247}));
  EXPECT_EQ(colour_at(image, 60, 3), (std::array<int, 3>{0, 200, 0}));
}

TEST(Sheet, PairsAreAdjacentAndApartFromEachOther) {
  // One gap (2) inside a pair, three (6) around: 6 | 4 2 4 | 6 | 4 2 4 | 6
  const Image image = paired_sheet(matrix(3, 4, 0.0f), matrix(3, 4, 1.0f), {2, 2, 2, 2, 2});
  expect_size(image, 6 + 2 * (10 + 6), 6 + 2 * (4 + 6), 1);
  for (std::size_t x = 0; x < image.width; ++x) {
    const std::size_t in = x % 16;
    const int expected = in < 6 || (in >= 10 && in < 12) ? kGap : in < 10 ? 0 : 255;
    EXPECT_EQ(grey_at(image, 6, x), expected) << x;
    EXPECT_EQ(grey_at(image, 16, x), x < 16 ? expected : kGap) << "there is no fourth pair, " << x;
    EXPECT_EQ(grey_at(image, 12, x), kGap) << x;
  }
}

TEST(Sheet, GroupsHaveAsManyTilesInACellAsThereAreColumns) {
  // One gap (1) inside a group, three (3) around: 3 | 2 1 2 1 2 | 3
  const Matrix<float> first = matrix(2, 2, 0.0f), second = matrix(2, 2, 1.0f), third = matrix(2, 2, 0.5f);
  const std::array<MatrixView<const float>, 3> columns{first.view(), second.view(), third.view()};
  const Image image = grouped_sheet(columns, {1, 2, 1, 1, 1});
  expect_size(image, 3 + 8 + 3, 3 + 2 * (1 + 3), 1);
  const int expected[] = {kGap, kGap, kGap, 0, 0, kGap, 255, 255, kGap, 128, 128, kGap, kGap, kGap};
  for (std::size_t x = 0; x < image.width; ++x) {
    EXPECT_EQ(grey_at(image, 3, x), expected[x]) << x;
    EXPECT_EQ(grey_at(image, 7, x), expected[x]) << x;
  }
}

TEST(Sheet, ImpossibleRequestsAreRefused) {
  const Matrix<float> tiles = matrix(2, 6, 0.5f);
  EXPECT_THROW(grey_sheet(tiles, {}), UsageError);
  EXPECT_THROW(grey_sheet(tiles, {2, 2}), UsageError);
  EXPECT_THROW(signed_sheet(Matrix<float>(0, 6), {2, 3}), UsageError);
  EXPECT_THROW(paired_sheet(tiles, matrix(1, 6, 0), {2, 3}), UsageError);
  EXPECT_THROW(grouped_sheet({}, {2, 3}), UsageError);
  EXPECT_THROW(tile_shape_for(0), UsageError);
}

TEST(Sheet, TileShapesAreNearlySquareAndLargeEnough) {
  using Shape = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(tile_shape_for(1), Shape(1, 1));
  EXPECT_EQ(tile_shape_for(3), Shape(1, 3));
  EXPECT_EQ(tile_shape_for(12), Shape(3, 4));
  EXPECT_EQ(tile_shape_for(13), Shape(4, 4));
  EXPECT_EQ(tile_shape_for(784), Shape(28, 28));
  for (std::size_t units = 1; units <= 2000; ++units) {
    const auto [height, width] = tile_shape_for(units);
    EXPECT_LE(height, width);
    EXPECT_LE(width, 3 * height);
    EXPECT_GE(height * width, units);
    EXPECT_LT(height * width - units, width) << "padding is less than a row";
  }
}

}  // namespace
}  // namespace ergodic
