// Plots for PNG files: axes with ticks, numbers and titles around a square of pixels, and clouds of points in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ergodic/report/canvas.hpp"

namespace ergodic {

/// A square of pixels on a canvas and the numbers that it shows.
struct PlotFrame {
  std::size_t left, top, side;  ///< pixels
  double x_low, x_high, y_low, y_high;
};
/// Room that axes need: on the left of a frame, above it for its title, and below.
inline constexpr std::size_t kAxisLeft = 62, kAxisTop = 24, kAxisBottom = 40, kAxisRight = 16;

/// Draws a border, ticks with their numbers, the titles of the axes, and a title above.
void draw_axes(Canvas& canvas, const PlotFrame& frame, const std::string& title, const std::string& x_title,
               const std::string& y_title);

/// Points on equal axes, and in words what they are.
struct Cloud {
  std::string title, x_title, y_title;
  std::span<const double> x, y;
};
/// Clouds side by side, each with the line on which its points would lie if x and y agreed; darker where more points
/// fall on a pixel. Points that are not finite are left out.
Image scatter_plots(std::span<const Cloud> clouds);

}  // namespace ergodic
