#include "ergodic/core/number_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ergodic {
namespace {

TEST(NumberText, IsTheWholeTextOrNothing) {
  EXPECT_EQ(number_in<std::size_t>("42"), 42u);
  EXPECT_EQ(number_in<int>("-7"), -7);
  EXPECT_EQ(number_in<double>("2.5e-1"), 0.25);
  for (const char* text : {"", " 42", "42 ", "42x", "x", "+1", "-1", "0x10"}) {
    EXPECT_FALSE(number_in<std::size_t>(text)) << text;
  }
}

TEST(NumberText, OutOfRangeIsNothing) {
  EXPECT_EQ(number_in<std::uint8_t>("255"), 255);
  EXPECT_FALSE(number_in<std::uint8_t>("256"));
  EXPECT_FALSE(number_in<double>("1e999"));
}

TEST(NumberText, WholeNumbersMayHaveAnExponent) {
  EXPECT_EQ(whole_number_in("1e3"), 1000u);
  EXPECT_EQ(whole_number_in("2.5e1"), 25u);
  EXPECT_EQ(whole_number_in("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", "-1", "1.5", "1e-1", "1e99", "nan", "inf", "1e3x"}) EXPECT_FALSE(whole_number_in(text));
}

}  // namespace
}  // namespace ergodic
