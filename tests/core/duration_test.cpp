#include "ergodic/core/duration.hpp"

#include <gtest/gtest.h>

namespace ergodic {
namespace {

TEST(Duration, NumbersWithTheirLettersAddUp) {
  EXPECT_EQ(seconds_in("60s"), 60.0);
  EXPECT_EQ(seconds_in("5m"), 300.0);
  EXPECT_EQ(seconds_in("1h30m"), 5400.0);
  EXPECT_EQ(seconds_in("1h0m2.5s"), 3602.5);
  EXPECT_EQ(seconds_in("0.5h"), 1800.0);
  EXPECT_EQ(seconds_in("90"), 90.0);
  EXPECT_EQ(seconds_in("1e3"), 1000.0);
}

TEST(Duration, WhatIsNoneIsRefused) {
  for (const char* text : {"", "s", "60 s", "5x", "5m1h", "5m5m", "30m10", "-5s", "1h-30m", "0", "0s", "nan", "inf",
                           "infs", "1d", "s5", "5mm"}) {
    EXPECT_FALSE(seconds_in(text)) << text;
  }
}

}  // namespace
}  // namespace ergodic
