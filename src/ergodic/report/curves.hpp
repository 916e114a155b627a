// Learning curves: charts of monitors over epochs, drawn as SVG that stands in a page without scripts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"

namespace ergodic {

/// A named curve: points (epoch, value) in the order of the run; or those of another number than the epoch.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// The curves that share a pair of axes. Up to six are told apart by colour, three times as many by dashes.
struct Chart {
  std::string title;
  std::string caption;
  std::vector<Series> series;
  std::optional<std::pair<double, double>> limits = {};  ///< that no value passes, such as 0 and 1 for a share
  std::string x_title = "epoch", y_title = {};           ///< of the axes
  std::optional<std::pair<double, double>> shown = {};   ///< the values that matter; curves are cut beyond them
};

/// The colour class c0 to c5 of the i-th series.
constexpr std::size_t colour_index(std::size_t series) { return series % 6; }
/// The class d0 (solid), d1 or d2 of its line.
constexpr std::size_t dash_index(std::size_t series) { return series / 6 % 3; }

/// The size of a chart in SVG units, which are pixels at full size.
inline constexpr double kChartWidth = 460, kChartHeight = 240;

/// One chart for each name among the records, in the order of first appearance, without the points that are not finite.
std::vector<Chart> charts_from(std::span<const Record> records);

/// The <svg> element of a chart: axes with round numbers, grid, curves, the last values in writing, and a <title> on
/// each point to hover over. Points that are not finite are left out; a curve of very many points is thinned so that
/// its peaks stay. The colours are the classes c0 to c5, axis and grid, which the page gives.
std::string svg_chart(const Chart& chart);
/// What stands in that element, to be put into another drawing.
std::string svg_content(const Chart& chart);

/// Where a range [low, high] gets its tick marks: about `count` multiples of 1, 2 or 5 times a power of ten.
std::vector<double> nice_ticks(double low, double high, std::size_t count);

/// The same with what is written there: the digits that tell a tick from its neighbours.
std::vector<std::pair<double, std::string>> labelled_ticks(double low, double high, std::size_t count);

}  // namespace ergodic
