#include "ergodic/format/utf8.hpp"

#include <gtest/gtest.h>

namespace ergodic {
namespace {

TEST(Utf8, CharactersHaveOneToFourBytes) {
  EXPECT_EQ(utf8_length("ab"), 1u);
  EXPECT_EQ(utf8_length("\xc3\xa9t"), 2u);
  EXPECT_EQ(utf8_length("\xe2\x82\xac"), 3u);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4u);
}

TEST(Utf8, WhatIsNoCharacterIsKnown) {
  // A lone continuation, a cut character, a surrogate, two that are longer than needed, and one beyond the last.
  for (const auto* bad :
       {"\x80", "\xe2\x82", "\xed\xa0\x80", "\xe0\x80\x80", "\xc0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_EQ(utf8_length(bad), 0u);
  }
}

TEST(Utf8, OtherTextIsTakenForThatOfWindows) {
  EXPECT_EQ(utf8_from("\xe9t\xe9"), "\xc3\xa9t\xc3\xa9");
  EXPECT_EQ(utf8_from("\xc3\xa9t\xc3\xa9"), "\xc3\xa9t\xc3\xa9");
  EXPECT_EQ(utf8_from(""), "");
  EXPECT_EQ(utf8_from("\x80 \x92 \x81"), "\xe2\x82\xac \xe2\x80\x99 \xef\xbf\xbd");  // euro, apostrophe, none
}

}  // namespace
}  // namespace ergodic
