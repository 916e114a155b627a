#include "ergodic/report/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ergodic {
namespace {

TEST(Text, NumbersHaveFourDigitsAndStayReadable) {
  EXPECT_EQ(short_number(0.0), "0");
  EXPECT_EQ(short_number(0.123456), "0.1235");
  EXPECT_EQ(short_number(-85.3149), "-85.31");
  EXPECT_EQ(short_number(3.0), "3");
  EXPECT_EQ(short_number(999.96), "1000");
  EXPECT_EQ(short_number(28777.4), "28777");
  EXPECT_EQ(short_number(1.5e9), "1.5e+09");
  EXPECT_EQ(short_number(-1.23456e-5), "-1.235e-05");
  EXPECT_EQ(short_number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(short_number(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(Text, DurationsAreClockTimes) {
  EXPECT_EQ(duration_text(0.2), "0:00");
  EXPECT_EQ(duration_text(65.0), "1:05");
  EXPECT_EQ(duration_text(3599.4), "59:59");
  EXPECT_EQ(duration_text(3600.0), "1:00:00");
  EXPECT_EQ(duration_text(36754.0), "10:12:34");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "over 1000 h");
}

TEST(Text, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(one_line("a\nb\x1b[2Jc\x7f"), "a b [2Jc ");
  EXPECT_EQ(one_line("h\xC3\xB6he"), "h\xC3\xB6he");
  EXPECT_EQ(one_line("a\xC2\x9B\x31m\xC2\xA0"), "a  1m\xC2\xA0");  // the one-character form of ESC [ is an escape too
}

TEST(Text, ColumnsCountCodePoints) {
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("h\xC3\xB6he"), 4u);
}

TEST(Text, HtmlIsEscaped) { EXPECT_EQ(escape_html("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"); }

// The vectors of RFC 4648, section 10.
TEST(Text, Base64MatchesTheStandard) {
  const auto encoded = [](std::string_view text) { return base64(std::as_bytes(std::span(text))); };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xFF\xFE\xFD"), "//79");
}

}  // namespace
}  // namespace ergodic
