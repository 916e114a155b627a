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

}  // namespace
}  // namespace ergodic
