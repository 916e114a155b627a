#include "ergodic/report/curves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/markup_check.hpp"

namespace ergodic {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Chart chart_of(std::vector<std::pair<double, double>> points) { return {"t", "", {{"s", std::move(points)}}}; }

// What holds for every chart, whatever its numbers.
void expect_sound(const std::string& svg) {
  EXPECT_EQ(tag_fault(svg), "");
  EXPECT_EQ(count_of(svg, "nan"), 0u) << svg;
  EXPECT_EQ(count_of(svg, "inf\""), 0u) << svg;
  EXPECT_LT(count_of(svg, "class=\"grid\""), 30u);
}

TEST(Curves, OneChartForEachNameInOrderOfAppearance) {
  const std::vector<Record> records = {
      {1, 0.5, {{"b", 1.0}}}, {2, 1.0, {{"a", 5.0}, {"b", 2.0}}}, {3, 1.5, {{"b", kNan}, {"a", kInfinity}}}};
  const std::vector<Chart> charts = charts_from(records);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].title, "b");
  EXPECT_EQ(charts[0].series.at(0).name, "b");
  EXPECT_EQ(charts[0].series.at(0).points, (std::vector<std::pair<double, double>>{{0.5, 1.0}, {1.0, 2.0}}));
  EXPECT_EQ(charts[1].title, "a");
  EXPECT_EQ(charts[1].series.at(0).points, (std::vector<std::pair<double, double>>{{1.0, 5.0}}));
}

TEST(Curves, NoRecordsNoCharts) {
  EXPECT_TRUE(charts_from({}).empty());
  const std::vector<Record> bare = {{1, 1.0, {}}};
  EXPECT_TRUE(charts_from(bare).empty());
}

TEST(Curves, TicksAreRoundNumbersInsideTheRange) {
  EXPECT_EQ(nice_ticks(0.0, 10.0, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(nice_ticks(-7.0, 31.0, 4), (std::vector<double>{0, 10, 20, 30}));
  for (const auto& [low, high] : {std::pair(0.0, 1e-7), {-85.3, -82.1}, {1e6, 1e6 + 3}, {-1e100, 1e100}, {3.0, 4e9}}) {
    const std::vector<double> ticks = nice_ticks(low, high, 5);
    EXPECT_GE(ticks.size(), 3u);
    EXPECT_LE(ticks.size(), 9u);
    EXPECT_GE(ticks.front(), low - 1e-9 * (high - low));
    EXPECT_LE(ticks.back(), high + 1e-9 * (high - low));
    EXPECT_FALSE(std::signbit(ticks.front()) && ticks.front() == 0.0);
  }
}

TEST(Curves, AChartHasItsCurveHintsAndLastValue) {
  const std::string svg = svg_chart(chart_of({{0, 10}, {5, 30}, {10, 20.5}}));
  expect_sound(svg);
  // x: 0 and 10 at the frame's sides 58 and 392. y: the range 10..30 and 6 % of margin in 204..12.
  EXPECT_EQ(count_of(svg, "<polyline points=\"58.0,193.7 225.0,22.3 392.0,103.7\"/>"), 1u) << svg;
  EXPECT_EQ(count_of(svg, "<title>s, epoch 5: 30</title>"), 1u);
  EXPECT_EQ(count_of(svg, "<circle"), 3u);
  EXPECT_EQ(count_of(svg, ">20.5</text>"), 1u);
  EXPECT_EQ(count_of(svg, ">25</text>"), 1u) << "a tick of the values";
  EXPECT_EQ(count_of(svg, ">epoch</text>"), 1u);
}

TEST(Curves, AnyNumbersGiveASoundChart) {
  expect_sound(svg_chart({}));
  expect_sound(svg_chart(chart_of({})));
  expect_sound(svg_chart(chart_of({{1, 0.25}})));
  expect_sound(svg_chart(chart_of({{0, 0}})));
  expect_sound(svg_chart(chart_of({{1, 3}, {2, 3}})));
  expect_sound(svg_chart(chart_of({{1, 1e16}, {2, 1e16 + 2}})));
  expect_sound(svg_chart(chart_of({{1, 1e99}, {2, -1e99}})));
  expect_sound(svg_chart(chart_of({{1, 5e-324}, {2, 1e-320}})));
  expect_sound(svg_chart(chart_of({{1, kNan}, {kNan, 1}, {3, kInfinity}, {4, 1e308}, {5, -1e308}})));
}

TEST(Curves, PointsThatAreNotFiniteAreLeftOut) {
  const std::string svg = svg_chart(chart_of({{1, 1}, {2, kNan}, {3, 2}, {4, -kInfinity}}));
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<circle"), 2u);
  EXPECT_EQ(count_of(svg_chart(chart_of({{1, kNan}})), "no finite values"), 1u);
}

TEST(Curves, LongCurvesAreThinnedButKeepTheirPeaksAndTheirEnd) {
  Chart chart = chart_of({});
  for (int i = 0; i < 100'001; ++i) chart.series[0].points.emplace_back(i, std::sin(0.01 * i));
  chart.series[0].points[77'777].second = 9.0;
  chart.series[0].points[33'333].second = -9.0;
  const std::string svg = svg_chart(chart);
  expect_sound(svg);
  EXPECT_LE(count_of(svg, "<circle"), 401u);
  EXPECT_EQ(count_of(svg, "epoch 77777: 9<"), 1u);
  EXPECT_EQ(count_of(svg, "epoch 33333: -9<"), 1u);
  EXPECT_EQ(count_of(svg, "epoch 100000: "), 1u);
}

TEST(Curves, LastValuesDoNotOverlap) {
  Chart chart;
  for (int i = 0; i < 8; ++i) chart.series.push_back({"s", {{0, 0.0}, {1, 1.0 + 1e-4 * i}}});
  const std::string svg = svg_chart(chart);
  expect_sound(svg);
  std::vector<double> places;
  for (std::size_t at = 0; (at = svg.find("class=\"last", at)) != std::string::npos; ++at) {
    places.push_back(std::stod(svg.substr(svg.find("y=\"", at) + 3)));
  }
  ASSERT_EQ(places.size(), 8u);
  for (std::size_t i = 1; i < places.size(); ++i) EXPECT_GE(places[i] - places[i - 1], 12.9);
}

TEST(Curves, NamesAreEscaped) {
  const std::string svg = svg_chart({"<t>\"", "", {{"<script>&", {{1, 2}}}}});
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<script"), 0u);
  EXPECT_EQ(count_of(svg, "aria-label=\"&lt;t&gt;&quot;\""), 1u);
  EXPECT_EQ(count_of(svg, "&lt;script&gt;&amp;, epoch 1: 2"), 1u);
}

TEST(Curves, WhatIsNotShownIsCut) {
  Chart chart = chart_of({{0, -1000}, {5, 10}, {10, 20}});
  chart.shown = {10.0, 20.0};
  chart.x_title = "updates";
  chart.y_title = "y";
  const std::string svg = svg_chart(chart);
  expect_sound(svg);
  // 10 and 20 with 6 % of margin, of 1.12 times the range, in 204..12; -1000 is far below.
  EXPECT_EQ(count_of(svg, "225.0,193.7 392.0,22.3\"/>"), 1u) << svg;
  EXPECT_EQ(count_of(svg, "viewBox=\"54 8 342 200\""), 1u);
  EXPECT_EQ(count_of(svg, "<title>s, updates 5: 10</title>"), 1u);
  EXPECT_EQ(count_of(svg, ">updates</text>") + count_of(svg, ">y</text>"), 2u);
  expect_sound(svg_chart({"t", "", {}, {}, "x", "y", std::pair(1.0, 1.0)}));
}

}  // namespace
}  // namespace ergodic
