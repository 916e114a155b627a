// Handwritten-looking digits without a download: 28x28 grey images in ten classes, drawn by a random pen.
//
// A class has a few forms (a seven with and without a bar), a form a few masters (see digit_strokes.hpp). A digit is a
// blend of two masters, bent by a smooth random warp, slanted, turned, stretched, and traced by a pen of varying
// width; then its ink is scaled to a box of 20x20 and its centre of mass moved to the middle of the image, as was done
// for MNIST (LeCun et al., "Gradient-based learning applied to document recognition", 1998).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ergodic/core/random.hpp"

namespace ergodic {

inline constexpr std::size_t kDigitSide = 28;
inline constexpr std::size_t kDigitPixels = kDigitSide * kDigitSide;
inline constexpr std::size_t kDigitClasses = 10;

/// One 28x28 grey image (0 = paper, 255 = ink), row by row from the top, and its class 0..9.
struct Digit {
  std::array<std::uint8_t, kDigitPixels> pixels;
  std::uint8_t label;

  bool operator==(const Digit&) const = default;
};

/// The digit at `index` of the infinite sheet of this draw: a pure function of both, the same bytes on every CPU.
/// Classes are uniform. Row `index` of the draw is used up.
Digit draw_digit(const Draw& draw, std::uint32_t index);

}  // namespace ergodic
