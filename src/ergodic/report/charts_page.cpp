#include "ergodic/report/charts_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

// In SVG units, which are pixels at full size.
constexpr double kMargin = 20, kTitleBase = 34, kLegendTop = 58, kLegendLine = 20, kGap = 16, kChartTitle = 24;
constexpr double kSample = 26, kLetter = 7, kBetween = 22;  // of the legend: a piece of line, a letter, room after it

constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr const char* kDashes[] = {"none", "7 4", "2 3"};

// Viewers that are no browsers know neither variables nor much else, so each class has its colour in full.
std::string style() {
  std::string out =
      "text { font: 12px \"DejaVu Sans\", system-ui, sans-serif; fill: #1d2430; }\n"
      ".title { font-size: 17px; font-weight: 600; }\n.heading { font-size: 13px; font-weight: 600; }\n"
      ".tick { font-size: 11px; fill: #4f5866; }\n.last { font-size: 11px; font-weight: 600; }\n"
      ".grid { stroke: #e3e7ec; }\n.axis { stroke: #4f5866; }\n.end { text-anchor: end; }\n"
      ".middle { text-anchor: middle; }\n"
      ".curve polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }\n"
      ".curve circle { stroke: #ffffff; stroke-width: 0.8; }\n.curve.many circle { opacity: 0; }\n";
  for (std::size_t c = 0; c < std::size(kColours); ++c) {
    out += fmt::format(
        ".curve.c{0} polyline {{ stroke: {1}; }} .curve.c{0} circle {{ fill: {1}; }} .last.c{0} {{ fill: {1}; }}\n", c,
        kColours[c]);
  }
  for (std::size_t d = 0; d < std::size(kDashes); ++d) {
    out += fmt::format(".curve.d{} polyline {{ stroke-dasharray: {}; }}\n", d, kDashes[d]);
  }
  return out;
}

struct Legend {
  std::string svg;
  double bottom = 0.0;
};

/// As many entries on a line as there is room for.
Legend legend_of(const Chart& chart, double width) {
  Legend out;
  double x = kMargin, y = kLegendTop;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::string& name = chart.series[i].name;
    const double needed = kSample + 8 + kLetter * static_cast<double>(columns_of(name));
    if (x > kMargin && x + needed > width - kMargin) {
      x = kMargin;
      y += kLegendLine;
    }
    out.svg += fmt::format(
        "<g class=\"curve c{} d{}\"><polyline points=\"{:.1f},{:.1f} {:.1f},{:.1f}\"/></g>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        colour_index(i), dash_index(i), x, y - 4, x + kSample, y - 4, x + kSample + 8, y, escape_html(one_line(name)));
    x += needed + kBetween;
  }
  out.bottom = y;
  return out;
}

}  // namespace

std::string svg_page(const std::string& title, std::span<const Chart> charts) {
  const double width = 2 * kMargin + static_cast<double>(charts.size()) * (kChartWidth + kGap) - kGap;
  const Legend legend = charts.empty() ? Legend{} : legend_of(charts[0], width);
  const double top = legend.bottom + kGap + kChartTitle, height = top + kChartHeight + kMargin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"{2}\">\n<style>\n{3}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text class=\"title\" x=\"{4}\" y=\"{5}\">{2}</text>\n",
      width, height, escape_html(title), style(), kMargin, kTitleBase);
  out += legend.svg;
  for (std::size_t k = 0; k < charts.size(); ++k) {
    const double left = kMargin + static_cast<double>(k) * (kChartWidth + kGap);
    out += fmt::format(
        "<g transform=\"translate({:.1f} {:.1f})\">\n<text class=\"heading\" x=\"58\" y=\"-6\">{}</text>\n{}</g>\n",
        left, top, escape_html(charts[k].title), svg_content(charts[k]));
  }
  return out + "</svg>\n";
}

}  // namespace ergodic
