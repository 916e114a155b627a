#include "ergodic/kernels/coin.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ergodic {
namespace {

TEST(Coin, HasItsProbability) {
  const Draw draw = Key{12}.at(Purpose::kTest);
  constexpr std::uint32_t kCoins = 100000;
  for (const double p : {0.0, 1e-4, 0.1, 0.5, 0.7310585786300049, 0.999, 1.0}) {
    std::uint32_t on = 0;
    for (std::uint32_t k = 0; k < kCoins; ++k) on += coin(draw, k / 1000, k % 1000, p);
    // 4 standard errors of a binomial share; exact at 0 and 1.
    EXPECT_NEAR(on / double{kCoins}, p, 4 * std::sqrt(p * (1 - p) / kCoins)) << p;
  }
}

TEST(Coin, UsesAll48Bits) {
  // Where the upper 16 bits tie with p, the lower 32 decide: a coin with p = (c + f)/2^16 is on for a share f of ties.
  const Draw draw = Key{13}.at(Purpose::kTest);
  std::uint32_t ties = 0, on = 0;
  for (std::uint32_t k = 0; k < 4000000 && ties < 400; ++k) {
    const bool below_low = coin(draw, k >> 10, k & 1023, 100.0 * 0x1p-16);
    const bool below_high = coin(draw, k >> 10, k & 1023, 101.0 * 0x1p-16);
    if (below_low || !below_high) continue;
    ++ties;
    on += coin(draw, k >> 10, k & 1023, 100.25 * 0x1p-16);
  }
  ASSERT_GE(ties, 30u);
  EXPECT_NEAR(on / static_cast<double>(ties), 0.25, 4 * std::sqrt(0.25 * 0.75 / ties));
}

}  // namespace
}  // namespace ergodic
