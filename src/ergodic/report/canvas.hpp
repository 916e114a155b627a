// Canvas: an RGB picture that is drawn on, with lines, points and words, for plots in PNG files.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "ergodic/format/png.hpp"

namespace ergodic {

/// Red, green and blue in [0, 255].
using Colour = std::array<double, 3>;
inline constexpr Colour kPaper = {255, 255, 255}, kBlack = {0, 0, 0}, kSoftInk = {90, 98, 110};

/// `share` of b over a.
Colour blend(const Colour& a, const Colour& b, double share);

class Canvas {
 public:
  /// White.
  Canvas(std::size_t width, std::size_t height);

  std::size_t width() const { return image_.width; }
  std::size_t height() const { return image_.height; }

  // Pixels beyond the border are left out. x counts from the left, y from the top.
  void set(std::size_t x, std::size_t y, const Colour& colour);
  /// Mixes a share of the colour with what is there.
  void tint(std::size_t x, std::size_t y, const Colour& colour, double share);
  void fill(std::size_t x, std::size_t y, std::size_t width, std::size_t height, const Colour& colour);
  void paste(std::size_t x, std::size_t y, const Image& image);

  /// Words with their top left corner at a place, 7 pixels high above the line and 2 below it; what the font lacks is
  /// left blank.
  void write(std::size_t x, std::size_t y, std::string_view text, const Colour& colour = kSoftInk);
  /// The same turned to the left, to be read upwards; the place is where the text begins, at its lower left corner.
  void write_up(std::size_t x, std::size_t y, std::string_view text, const Colour& colour = kSoftInk);
  /// A letter that fills a rectangle; what it has below the line hangs out of it.
  void stretch(char letter, std::size_t x, std::size_t y, std::size_t width, std::size_t height, const Colour& colour);

  Image take() { return std::move(image_); }

 private:
  Image image_;
};

/// Height of words above the line that they stand on, and their width.
inline constexpr std::size_t kTextHeight = 7;
std::size_t text_width(std::string_view text);

}  // namespace ergodic
