#include "ergodic/report/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ergodic/report/curves.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kSide = 400;  // pixels of a cloud
constexpr std::size_t kTick = 4;
constexpr std::size_t kTicks = 6;  // about
constexpr double kMargin = 0.03;   // of the range, so that the outermost points do not lie on the border
constexpr Colour kPoint = {8, 48, 107}, kLine = {170, 176, 186};

std::size_t rounded(double value) { return static_cast<std::size_t>(std::lround(std::max(value, 0.0))); }

/// Where words begin that stand around a middle.
std::size_t centred(std::size_t middle, std::string_view text) {
  return middle - std::min(middle, text_width(text) / 2);
}

/// A range that both coordinates of a cloud fit into.
std::pair<double, double> range_of(const Cloud& cloud) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto values : {cloud.x, cloud.y}) {
    for (const double v : values) {
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    }
  }
  if (!(low <= high)) return {0.0, 1.0};
  const double room = high > low ? kMargin * (high - low) : 0.5;
  return {low - room, high + room};
}

void draw_cloud(Canvas& canvas, const PlotFrame& frame, const Cloud& cloud) {
  for (std::size_t k = 0; k < frame.side; ++k) canvas.set(frame.left + k, frame.top + frame.side - 1 - k, kLine);
  const double pixels = static_cast<double>(frame.side - 1) / (frame.x_high - frame.x_low);
  std::vector<std::uint32_t> points(frame.side * frame.side);
  for (std::size_t k = 0; k < cloud.x.size(); ++k) {
    if (!std::isfinite(cloud.x[k]) || !std::isfinite(cloud.y[k])) continue;
    const std::size_t column = rounded((cloud.x[k] - frame.x_low) * pixels);
    const std::size_t row = frame.side - 1 - rounded((cloud.y[k] - frame.y_low) * pixels);
    ++points[row * frame.side + column];
  }
  const double most = std::log1p(*std::ranges::max_element(points));
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k] == 0) continue;
    const double ink = 0.35 + 0.65 * std::log1p(points[k]) / most;
    // A plus of five pixels, so that a lone point is seen.
    const std::size_t x = frame.left + k % frame.side, y = frame.top + k / frame.side;
    canvas.tint(x, y, kPoint, ink);
    for (const auto& [dx, dy] : {std::pair{0, 1}, {2, 1}, {1, 0}, {1, 2}}) {
      canvas.tint(x + static_cast<std::size_t>(dx) - 1, y + static_cast<std::size_t>(dy) - 1, kPoint, 0.5 * ink);
    }
  }
}

}  // namespace

void draw_axes(Canvas& canvas, const PlotFrame& frame, const std::string& title, const std::string& x_title,
               const std::string& y_title) {
  const std::size_t right = frame.left + frame.side, bottom = frame.top + frame.side;
  canvas.fill(frame.left - 1, frame.top - 1, frame.side + 2, 1, kSoftInk);
  canvas.fill(frame.left - 1, bottom, frame.side + 2, 1, kSoftInk);
  canvas.fill(frame.left - 1, frame.top, 1, frame.side, kSoftInk);
  canvas.fill(right, frame.top, 1, frame.side, kSoftInk);
  const auto along = [&](double value, double low, double high) {
    return std::min(rounded((value - low) / (high - low) * static_cast<double>(frame.side)), frame.side - 1);
  };
  for (const auto& [value, label] : labelled_ticks(frame.x_low, frame.x_high, kTicks)) {
    const std::size_t x = frame.left + along(value, frame.x_low, frame.x_high);
    canvas.fill(x, bottom + 1, 1, kTick, kSoftInk);
    canvas.write(centred(x, label), bottom + kTick + 4, label);
  }
  for (const auto& [value, label] : labelled_ticks(frame.y_low, frame.y_high, kTicks)) {
    const std::size_t y = bottom - 1 - along(value, frame.y_low, frame.y_high);
    canvas.fill(frame.left - 1 - kTick, y, kTick, 1, kSoftInk);
    canvas.write(frame.left - 4 - kTick - text_width(label), y - kTextHeight / 2, label);
  }
  const std::size_t middle = frame.left + frame.side / 2;
  canvas.write(centred(middle, title), frame.top - 6 - kTextHeight, title, kBlack);
  canvas.write(centred(middle, x_title), bottom + kTick + 20, x_title);
  canvas.write_up(frame.left - kAxisLeft + 6, frame.top + frame.side / 2 + text_width(y_title) / 2, y_title);
}

Image scatter_plots(std::span<const Cloud> clouds) {
  const std::size_t each = kAxisLeft + kSide + kAxisRight;
  Canvas canvas(each * clouds.size(), kAxisTop + kSide + kAxisBottom);
  for (std::size_t k = 0; k < clouds.size(); ++k) {
    const auto [low, high] = range_of(clouds[k]);
    const PlotFrame frame{k * each + kAxisLeft, kAxisTop, kSide, low, high, low, high};
    draw_cloud(canvas, frame, clouds[k]);
    draw_axes(canvas, frame, clouds[k].title, clouds[k].x_title, clouds[k].y_title);
  }
  return canvas.take();
}

}  // namespace ergodic
