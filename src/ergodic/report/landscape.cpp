#include "ergodic/report/landscape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ergodic/core/error.hpp"
#include "ergodic/report/plot.hpp"

namespace ergodic {
namespace {

constexpr double kMargin = 0.15;  // of the points' extent, on each side
constexpr double kShown = 16.0;   // nats above the lowest energy; beyond them all is one shade
constexpr double kBetweenLines = 2.0;
constexpr std::size_t kGap = 8;  // pixels between the two halves
constexpr double kInk = 0.45;    // of a point over what is there: where points meet it grows darker

// Single-hue blues of ColorBrewer (Harrower and Brewer 2003), dark to light: lightness rises evenly.
constexpr std::array<Colour, 5> kShades = {Colour{8, 48, 107}, Colour{33, 113, 181}, Colour{107, 174, 214},
                                           Colour{198, 219, 239}, Colour{247, 251, 255}};
constexpr Colour kPoint = {8, 48, 107}, kNotFinite = {0, 200, 0};

Colour shade_of(double height) {
  const double place = std::clamp(height / kShown, 0.0, 1.0) * static_cast<double>(kShades.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), kShades.size() - 2);
  return blend(kShades[below], kShades[below + 1], place - static_cast<double>(below));
}

/// Which two lines an energy lies between.
int band_of(double height) { return static_cast<int>(std::min(height, kShown) / kBetweenLines); }

void draw_energies(Canvas& canvas, std::span<const double> energies, std::size_t pixels) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const double energy : energies) {
    if (std::isfinite(energy)) lowest = std::min(lowest, energy);
  }
  const auto height = [&](std::size_t y, std::size_t x) { return energies[y * pixels + x] - lowest; };
  for (std::size_t y = 0; y < pixels; ++y) {
    for (std::size_t x = 0; x < pixels; ++x) {
      if (std::isnan(height(y, x))) {
        canvas.set(x, y, kNotFinite);
        continue;
      }
      canvas.set(x, y, shade_of(height(y, x)));
      const std::size_t down = std::min(y + 1, pixels - 1), right = std::min(x + 1, pixels - 1);
      const int band = band_of(height(y, x));
      const bool line = band != band_of(height(down, x)) || band != band_of(height(y, right));
      if (line) canvas.tint(x, y, height(y, x) < 0.5 * kShown ? kPaper : kPoint, 0.5);
    }
  }
}

void draw_points(Canvas& canvas, MatrixView<const float> points, const Window& window, std::size_t pixels) {
  const double scale = static_cast<double>(pixels) / window.side;
  for (std::size_t r = 0; r < points.rows(); ++r) {
    const double x = (points(r, 0) - window.left) * scale;
    const double y = static_cast<double>(pixels) - (points(r, 1) - window.bottom) * scale;
    const double edge = static_cast<double>(pixels) - 1.0;
    if (!(x >= 1.0 && x < edge && y >= 1.0 && y < edge)) continue;
    // A plus of five pixels.
    const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
    for (const auto& [dy, dx] : {std::pair{1, 1}, {0, 1}, {2, 1}, {1, 0}, {1, 2}}) {
      canvas.tint(pixels + kGap + column + static_cast<std::size_t>(dx) - 1, row + static_cast<std::size_t>(dy) - 1,
                  kPoint, kInk);
    }
  }
}

}  // namespace

Window window_around(MatrixView<const float> points) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::array<double, 2> low = {kInfinity, kInfinity}, high = {-kInfinity, -kInfinity};
  for (std::size_t r = 0; r < points.rows(); ++r) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!std::isfinite(points(r, i))) continue;
      low[i] = std::min(low[i], double{points(r, i)});
      high[i] = std::max(high[i], double{points(r, i)});
    }
  }
  if (!(low[0] <= high[0] && low[1] <= high[1])) return {-1.0, -1.0, 2.0};
  const double extent = std::max(high[0] - low[0], high[1] - low[1]);
  const double side = extent > 0.0 ? (1.0 + 2.0 * kMargin) * extent : 1.0;
  return {0.5 * (low[0] + high[0] - side), 0.5 * (low[1] + high[1] - side), side};
}

Matrix<float> places_in(const Window& window, std::size_t pixels) {
  Matrix<float> out(pixels * pixels, 2);
  const double step = window.side / static_cast<double>(pixels);
  for (std::size_t k = 0; k < out.rows(); ++k) {
    out(k, 0) = static_cast<float>(window.left + (static_cast<double>(k % pixels) + 0.5) * step);
    out(k, 1) = static_cast<float>(window.bottom + window.side - (static_cast<double>(k / pixels) + 0.5) * step);
  }
  return out;
}

Image landscape(std::span<const double> energies, MatrixView<const float> points, const Window& window,
                std::size_t pixels) {
  require(
      energies.size() == pixels * pixels,
      fmt::format("a landscape of {} x {} pixels needs as many energies, found {}", pixels, pixels, energies.size()));
  require(points.cols() == 2, fmt::format("a landscape is of two units, found {}", points.cols()));
  Canvas canvas(2 * pixels + kGap, pixels);
  draw_energies(canvas, energies, pixels);
  draw_points(canvas, points, window, pixels);
  return canvas.take();
}

Image landscape_plot(std::span<const double> energies, MatrixView<const float> points, const Window& window,
                     std::size_t pixels) {
  const Image bare = landscape(energies, points, window, pixels);
  const std::size_t each = kAxisLeft + pixels + kAxisRight;
  Canvas canvas(2 * each, kAxisTop + pixels + kAxisBottom);
  const char* const titles[] = {"energy (a line every 2 nats)", "samples"};
  for (std::size_t half = 0; half < 2; ++half) {
    Image part{pixels, pixels, 3, {}};
    for (std::size_t y = 0; y < pixels; ++y) {
      const auto first =
          bare.pixels.begin() + static_cast<std::ptrdiff_t>(3 * (y * bare.width + half * (pixels + kGap)));
      part.pixels.insert(part.pixels.end(), first, first + static_cast<std::ptrdiff_t>(3 * pixels));
    }
    canvas.paste(half * each + kAxisLeft, kAxisTop, part);
    draw_axes(canvas,
              {half * each + kAxisLeft, kAxisTop, pixels, window.left, window.left + window.side, window.bottom,
               window.bottom + window.side},
              titles[half], "unit 1", "unit 2");
  }
  return canvas.take();
}

}  // namespace ergodic
