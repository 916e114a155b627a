#include "ergodic/report/charts_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/markup_check.hpp"

namespace ergodic {
namespace {

std::vector<Chart> charts_of(std::size_t curves) {
  std::vector<Chart> out(2, Chart{"t", "", {}, {}, "updates"});
  for (Chart& chart : out) {
    for (std::size_t k = 0; k < curves; ++k) {
      chart.series.push_back({fmt::format("<run> {}", k), {{0.0, 1.0 * static_cast<double>(k)}, {1.0, 2.0}}});
    }
  }
  return out;
}

TEST(ChartsPage, HasALegendOnceAndEachCurveInEachChart) {
  const std::string svg = svg_page("a & b", charts_of(3));
  EXPECT_EQ(tag_fault(svg), "");
  EXPECT_EQ(count_of(svg, "xmlns=\"http://www.w3.org/2000/svg\""), 1u);
  EXPECT_EQ(count_of(svg, ">&lt;run&gt; 1</text>"), 1u);
  EXPECT_EQ(count_of(svg, "<polyline"), 3u * 3u);
  EXPECT_EQ(count_of(svg, ">a &amp; b</text>"), 1u);
  EXPECT_EQ(count_of(svg, ">updates</text>"), 2u);
  EXPECT_EQ(count_of(svg, "var("), 0u) << "viewers that are no browsers do not know variables";
}

TEST(ChartsPage, MoreThanSixCurvesAreToldApartByDashes) {
  const std::string svg = svg_page("t", charts_of(14));
  EXPECT_EQ(tag_fault(svg), "");
  EXPECT_EQ(count_of(svg, "class=\"curve c1 d0"), 3u);
  EXPECT_EQ(count_of(svg, "class=\"curve c1 d1"), 3u);
  EXPECT_EQ(count_of(svg, "class=\"curve c1 d2"), 3u);
}

TEST(ChartsPage, NothingGivesASoundPageToo) {
  EXPECT_EQ(tag_fault(svg_page("", {})), "");
  EXPECT_EQ(tag_fault(svg_page("t", charts_of(0))), "");
}

}  // namespace
}  // namespace ergodic
