// The landscape of an energy of two real units: shades and lines of equal energy over the plane, and beside it points
// of the same part of the plane. Low energies are dark; a line is drawn every two nats up to sixteen above the lowest.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/matrix.hpp"
#include "ergodic/format/png.hpp"

namespace ergodic {

/// A square part of the plane.
struct Window {
  double left = 0.0;
  double bottom = 0.0;
  double side = 1.0;
};

/// A window about points [count, 2] with a margin. Points that are not finite do not count.
Window window_around(MatrixView<const float> points);

/// The places of the pixels of a square picture, rows from the top left one: [pixels * pixels, 2].
Matrix<float> places_in(const Window& window, std::size_t pixels);

/// Energies at the places on the left, points on the right.
Image landscape(std::span<const double> energies, MatrixView<const float> points, const Window& window,
                std::size_t pixels);

/// The same with axes, numbers and words.
Image landscape_plot(std::span<const double> energies, MatrixView<const float> points, const Window& window,
                     std::size_t pixels);

}  // namespace ergodic
