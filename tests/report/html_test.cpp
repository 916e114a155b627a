#include "ergodic/report/html.hpp"

#include <gtest/gtest.h>

#include "ergodic/report/text.hpp"
#include "report/markup_check.hpp"

namespace ergodic {
namespace {

const std::string kHostile = "<script>alert('x')</script>\"&";

ReportContent content_of(const std::string& text) {
  ReportContent content;
  content.title = text;
  content.summary = {{text, text}};
  content.charts = {{text, text, {{text, {{0, 1}, {1, 2}}}, {text, {{0, 2}, {1, 1}}}}}};
  content.pictures = {{text, Image{2, 1, 1, {0, 255}}}};
  content.warnings = {text};
  content.tables = {{text, {text, text}, {{text, text}}}};
  return content;
}

TEST(Html, HasEveryPartOfTheContent) {
  ReportContent content = content_of("x");
  content.title = "the title";
  content.summary = {{"seed", "7"}, {"time", "0:42"}};
  content.warnings = {"first", "second"};
  content.tables = {{"how", {"what", "much"}, {{"a", "1"}, {"b", "2"}}}};
  const std::string page = html_report(content);
  EXPECT_EQ(tag_fault(page), "");
  EXPECT_EQ(count_of(page, "the title"), 2u) << "in the window's title and above the page";
  EXPECT_EQ(count_of(page, "<tr><th scope=\"row\">seed</th><td>7</td></tr>"), 1u);
  EXPECT_EQ(count_of(page, "<tr>"), 5u);
  EXPECT_EQ(count_of(page, "<h2>how</h2>"), 1u);
  EXPECT_EQ(count_of(page, "<tr><th scope=\"col\">what</th><th scope=\"col\">much</th></tr>"), 1u);
  EXPECT_EQ(count_of(page, "<tr><th scope=\"row\">b</th><td>2</td></tr>"), 1u);
  EXPECT_EQ(count_of(page, "<li>first</li>\n<li>second</li>"), 1u);
  EXPECT_EQ(count_of(page, "<svg "), 1u);
  EXPECT_EQ(count_of(page, "<span class=\"c0\">x</span>\n<span class=\"c1\">x</span>"), 1u);
}

TEST(Html, PicturesAreInside) {
  const ReportContent content = content_of("caption");
  const std::string png = base64(encode_png(content.pictures[0].image));
  EXPECT_EQ(png.substr(0, 11), "iVBORw0KGgo") << "the signature of PNG";
  const std::string expected =
      "<img alt=\"caption\" width=\"2\" height=\"1\" src=\"data:image/png;base64," + png + "\">";
  EXPECT_EQ(count_of(html_report(content), expected), 1u);
}

TEST(Html, EveryTextIsEscaped) {
  const std::string page = html_report(content_of(kHostile));
  EXPECT_EQ(tag_fault(page), "");
  EXPECT_EQ(count_of(page, "<script"), 0u);
  EXPECT_EQ(count_of(page, "alert('"), 0u);
  // As often as a harmless text of the same content occurs.
  EXPECT_EQ(count_of(page, escape_html(kHostile)), count_of(html_report(content_of("qqq")), "qqq"));
}

TEST(Html, NeedsNoNetworkAndNoScript) {
  const std::string page = html_report(content_of("x"));
  EXPECT_EQ(count_of(page, "http:"), 0u);
  EXPECT_EQ(count_of(page, "https:"), 0u);
  EXPECT_EQ(count_of(page, "url("), 0u);
  EXPECT_EQ(count_of(page, "<link"), 0u);
  EXPECT_EQ(count_of(page, "<script"), 0u);
  EXPECT_EQ(count_of(page, "prefers-color-scheme: dark"), 1u);
}

TEST(Html, ASingleCurveHasNoLegend) {
  ReportContent content;
  content.charts = {{"error", "", {{"error", {{1, 1}}}}}};
  EXPECT_EQ(count_of(html_report(content), "<p class=\"legend\">"), 0u);
}

TEST(Html, AnEmptyReportSaysSo) {
  const std::string page = html_report({});
  EXPECT_EQ(tag_fault(page), "");
  EXPECT_EQ(count_of(page, "The run has recorded nothing yet."), 1u);
  EXPECT_EQ(count_of(page, "<table>"), 0u);
  EXPECT_EQ(count_of(page, "<ul"), 0u);
  EXPECT_EQ(count_of(page, "<h2>"), 1u);
}

}  // namespace
}  // namespace ergodic
