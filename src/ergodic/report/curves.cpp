#include "ergodic/report/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

using Points = std::vector<std::pair<double, double>>;

// The drawing. The right margin holds the last values in writing.
constexpr double kLeft = 58, kRight = 392, kTop = 12, kBottom = 204;
constexpr double kLabelHeight = 13;
constexpr std::size_t kVisibleDots = 40;     // above, dots would hide the curve and show only under the pointer
constexpr std::size_t kThinnedPoints = 400;  // about one for each pixel

// Beyond 1e100 a monitor has diverged, and differences of its values may overflow.
bool can_be_drawn(const std::pair<double, double>& point) {
  return std::abs(point.first) < 1e100 && std::abs(point.second) < 1e100;
}

// At most about kThinnedPoints points: the lowest and the highest of each run of neighbours, and the last.
Points thinned(const Points& points) {
  if (points.size() <= kThinnedPoints) return points;
  const std::size_t length = 2 * ((points.size() + kThinnedPoints - 1) / kThinnedPoints);
  Points few;
  for (std::size_t begin = 0; begin < points.size(); begin += length) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = points.begin() + static_cast<std::ptrdiff_t>(std::min(begin + length, points.size()));
    const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
    auto [low, high] = std::minmax_element(first, last, by_value);
    if (high < low) std::swap(low, high);
    few.push_back(*low);
    if (high != low) few.push_back(*high);
  }
  if (few.back() != points.back()) few.push_back(points.back());
  return few;
}

Points drawn_points(const Series& series) {
  Points points;
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(points), can_be_drawn);
  return thinned(points);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = 1e-300;  // below, the steps between ticks would lose their digits

// One direction of the chart: values [low, high] onto pixels [from, to].
struct Axis {
  double low = 0.0, high = 1.0;
  double from = 0.0, to = 1.0;

  double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

// The axis of some values, with a margin (a fraction of their range) but within limits. Equal values are put in the
// middle.
Axis axis_for(const std::vector<double>& values, double margin, double from, double to,
              std::pair<double, double> limits = {-kInfinity, kInfinity}) {
  if (values.empty()) return {0.0, 1.0, from, to};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double size = std::max(std::abs(*low), std::abs(*high));
  const bool is_flat = *high - *low <= std::max(1e-9 * size, kSmallest);
  const double flat_room = size > kSmallest ? 0.5 * size : 1.0;
  const double room = is_flat ? flat_room : margin * (*high - *low);
  return {std::max(*low - room, limits.first), std::min(*high + room, limits.second), from, to};
}

// A tick's number with the digits that tell it from its neighbours.
std::string tick_text(double value, double step, double size) {
  const double digits = std::floor(std::log10(step) + 1e-9);
  if (size < 1e6 && step >= 1e-5) return fmt::format("{:.{}f}", value, static_cast<int>(std::max(0.0, -digits)));
  const double significant = std::floor(std::log10(size)) - digits + 1.0;
  return fmt::format("{:.{}g}", value, static_cast<int>(std::clamp(significant, 1.0, 15.0)));
}

std::string line(double x1, double y1, double x2, double y2, const char* css_class) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css_class, x1,
                     y1, x2, y2);
}

std::string text(double x, double y, const std::string& css_class, const std::string& content) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", css_class, x, y, escape_html(content));
}

std::string frame(const Chart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  for (const auto& [value, label] : labelled_ticks(y.low, y.high, 5)) {
    const double at = y.at(value);
    svg += line(kLeft, at, kRight, at, "grid") + text(kLeft - 7, at + 4, "tick end", label);
  }
  for (const auto& [value, label] : labelled_ticks(x.low, x.high, 6)) {
    const double at = x.at(value);
    svg += line(at, kTop, at, kBottom, "grid") + text(at, kBottom + 16, "tick middle", label);
  }
  svg += line(kLeft, kBottom, kRight, kBottom, "axis") + line(kLeft, kTop, kLeft, kBottom, "axis");
  if (!chart.y_title.empty()) {
    svg += fmt::format("<text class=\"tick middle\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n",
                       8.0, (kTop + kBottom) / 2, escape_html(chart.y_title));
  }
  return svg + text((kLeft + kRight) / 2, kBottom + 32, "tick middle", chart.x_title);
}

std::string curve(const Chart& chart, std::size_t which, const Points& points, const Axis& x, const Axis& y) {
  std::string places, dots;
  for (const auto& [epoch, value] : points) {
    places += fmt::format("{}{:.1f},{:.1f}", places.empty() ? "" : " ", x.at(epoch), y.at(value));
    const std::string hint =
        fmt::format("{}, {} {}: {}", chart.series[which].name, chart.x_title, short_number(epoch), short_number(value));
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>\n", x.at(epoch),
                        y.at(value), escape_html(hint));
  }
  return fmt::format("<g class=\"curve c{} d{}{}\">\n<polyline points=\"{}\"/>\n{}</g>\n", colour_index(which),
                     dash_index(which), points.size() > kVisibleDots ? " many" : "", places, dots);
}

// A drawing within the drawing, which shows nothing outside of it: the frame, and room for a dot on its border.
const std::string kCut =
    fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n", kLeft - 4,
                kTop - 4, kRight - kLeft + 8, kBottom - kTop + 8);

struct EndLabel {
  double y;
  std::string content;
  std::size_t colour;
};

// The last values beside the ends of their curves, moved apart where they would overlap.
std::string end_labels(std::vector<EndLabel> labels) {
  std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  for (std::size_t i = 1; i < labels.size(); ++i) labels[i].y = std::max(labels[i].y, labels[i - 1].y + kLabelHeight);
  double lowest = kBottom;
  for (std::size_t i = labels.size(); i-- > 0; lowest = labels[i].y - kLabelHeight) {
    labels[i].y = std::min(labels[i].y, lowest);
  }
  std::string svg;
  for (const EndLabel& label : labels) {
    svg += text(kRight + 7, label.y + 4, fmt::format("last c{}", label.colour), label.content);
  }
  return svg;
}

}  // namespace

std::string svg_content(const Chart& chart) {
  std::vector<Points> points;
  std::vector<double> epochs, values;
  for (const Series& series : chart.series) {
    points.push_back(drawn_points(series));
    for (const auto& [epoch, value] : points.back()) {
      epochs.push_back(epoch);
      values.push_back(value);
    }
  }
  const Axis x = axis_for(epochs, 0.0, kLeft, kRight);
  if (chart.shown && !values.empty()) values = {chart.shown->first, chart.shown->second};
  const Axis y = axis_for(values, 0.06, kBottom, kTop, chart.limits.value_or(std::pair(-kInfinity, kInfinity)));
  std::string svg = frame(chart, x, y);
  if (values.empty()) return svg + text((kLeft + kRight) / 2, (kTop + kBottom) / 2, "tick middle", "no finite values");
  std::vector<EndLabel> labels;
  if (chart.shown) svg += kCut;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].empty()) continue;
    svg += curve(chart, i, points[i], x, y);
    labels.push_back({y.at(points[i].back().second), short_number(points[i].back().second), colour_index(i)});
  }
  if (chart.shown) svg += "</svg>\n";
  return svg + end_labels(std::move(labels));
}

std::vector<double> nice_ticks(double low, double high, std::size_t count) {
  const double rough = (high - low) / static_cast<double>(count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double ratio = rough / power;  // in [1, 10)
  const double step = power * (ratio < 1.5 ? 1.0 : ratio < 3.0 ? 2.0 : ratio < 7.0 ? 5.0 : 10.0);
  const double tolerance = 1e-9 * (high - low);  // so that a limit on a multiple gets its mark
  std::vector<double> ticks;
  for (double k = std::ceil((low - tolerance) / step); ticks.size() <= 2 * count; k += 1.0) {
    if (k * step > high + tolerance) break;
    ticks.push_back(k * step + 0.0);  // + 0 turns a negative zero positive
  }
  return ticks;
}

std::vector<std::pair<double, std::string>> labelled_ticks(double low, double high, std::size_t count) {
  const std::vector<double> ticks = nice_ticks(low, high, count);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : high - low;
  std::vector<std::pair<double, std::string>> labelled;
  for (const double tick : ticks) {
    labelled.emplace_back(tick, tick_text(tick, step, std::max(std::abs(low), std::abs(high))));
  }
  return labelled;
}

std::vector<Chart> charts_from(std::span<const Record> records) {
  std::vector<Chart> charts;
  for (const Record& record : records) {
    for (const auto& [name, value] : record.values) {
      const auto has_name = [&title = name](const Chart& chart) { return chart.title == title; };
      auto chart = std::find_if(charts.begin(), charts.end(), has_name);
      if (chart == charts.end()) chart = charts.insert(chart, Chart{name, "", {Series{name, {}}}});
      const std::pair point(record.epoch, value);
      if (std::isfinite(point.first) && std::isfinite(point.second)) chart->series[0].points.push_back(point);
    }
  }
  return charts;
}

std::string svg_chart(const Chart& chart) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", kChartWidth,
                     kChartHeight, escape_html(chart.title), svg_content(chart));
}

}  // namespace ergodic
