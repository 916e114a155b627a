#include "ergodic/report/canvas.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ergodic {
namespace {

/// The picture as text: '#' where it is not white.
std::string ink_of(const Image& image) {
  std::string out;
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) out += image.pixels[3 * (y * image.width + x)] < 255 ? '#' : '.';
    out += '\n';
  }
  return out;
}

TEST(Canvas, WritesWords) {
  Canvas canvas(11, 7);
  canvas.write(0, 0, "1L");
  EXPECT_EQ(ink_of(canvas.take()),
            "..#...#....\n"
            ".##...#....\n"
            "..#...#....\n"
            "..#...#....\n"
            "..#...#....\n"
            "..#...#....\n"
            ".###..#####\n");
  EXPECT_EQ(text_width("1L"), 11u);
}

TEST(Canvas, LettersReachBelowTheLine) {
  Canvas canvas(11, 9);
  canvas.write(0, 0, "Pp");
  EXPECT_EQ(ink_of(canvas.take()),
            "####.......\n"
            "#...#......\n"
            "#...#.####.\n"
            "####..#...#\n"
            "#.....#...#\n"
            "#.....#...#\n"
            "#.....####.\n"
            "......#....\n"
            "......#....\n");
}

TEST(Canvas, WritesUpwards) {
  Canvas canvas(7, 5);
  canvas.write_up(0, 4, "L");
  EXPECT_EQ(ink_of(canvas.take()),
            "......#\n"
            "......#\n"
            "......#\n"
            "......#\n"
            "#######\n");
}

TEST(Canvas, StretchesALetter) {
  Canvas canvas(10, 14);
  canvas.stretch('T', 0, 0, 10, 14, kBlack);
  const std::string ink = ink_of(canvas.take());
  EXPECT_TRUE(ink.starts_with("##########\n##########\n....##....\n")) << ink;
  EXPECT_TRUE(ink.ends_with("....##....\n")) << ink;
}

TEST(Canvas, LeavesOutWhatIsBeyondTheBorder) {
  Canvas canvas(3, 3);
  canvas.write(1, 1, "W");
  canvas.fill(2, 2, 100, 100, kBlack);
  canvas.set(~std::size_t{0}, 0, kBlack);
  const Image image = canvas.take();
  EXPECT_EQ(image.pixels.size(), 27u);
}

}  // namespace
}  // namespace ergodic
