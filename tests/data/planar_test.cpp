#include "ergodic/data/planar.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ergodic {
namespace {

constexpr std::size_t kPoints = 20000;

double radius(const Dataset& data, std::size_t row) { return std::hypot(data.reals()(row, 0), data.reals()(row, 1)); }

TEST(Planar, EightGaussiansLieOnTheirCircle) {
  const Dataset data = eight_gaussians(kPoints, 0);
  std::vector<double> counts(8), x(8), y(8);
  for (std::size_t r = 0; r < kPoints; ++r) {
    const auto label = static_cast<std::size_t>(data.labels[r]);
    counts[label] += 1.0;
    x[label] += data.reals()(r, 0);
    y[label] += data.reals()(r, 1);
  }
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_NEAR(counts[k], kPoints / 8.0, 4.0 * std::sqrt(kPoints * 7.0 / 64.0));
    const double error = 4.0 * 0.2 / std::sqrt(counts[k]), angle = M_PI / 4.0 * static_cast<double>(k);
    EXPECT_NEAR(x[k] / counts[k], 2.0 * std::cos(angle), error);
    EXPECT_NEAR(y[k] / counts[k], 2.0 * std::sin(angle), error);
  }
}

TEST(Planar, RingsHaveTheirRadii) {
  const Dataset data = rings(kPoints, 0);
  double sum[2] = {}, count[2] = {};
  for (std::size_t r = 0; r < kPoints; ++r) {
    sum[data.labels[r]] += radius(data, r);
    count[data.labels[r]] += 1.0;
  }
  // Noise across the ring adds half of its variance over the radius: 0.005 and 0.0025.
  EXPECT_NEAR(sum[0] / count[0], 1.005, 4.0 * 0.1 / std::sqrt(count[0]) + 1e-4);
  EXPECT_NEAR(sum[1] / count[1], 2.0025, 4.0 * 0.1 / std::sqrt(count[1]) + 1e-4);
}

TEST(Planar, MoonsReachIntoEachOther) {
  const Dataset data = two_moons(kPoints, 0);
  for (std::size_t r = 0; r < kPoints; ++r) {
    const double x = data.reals()(r, 0), y = data.reals()(r, 1);
    const bool first = data.labels[r] == 0;
    // Six deviations: of 20,000 points none is expected beyond.
    EXPECT_NEAR(first ? std::hypot(x, y) : std::hypot(x - 1.0, y - 0.5), 1.0, 0.6);
    EXPECT_TRUE(first ? y > -0.6 : y < 1.1);
  }
}

TEST(Planar, PartsAreDifferentAndAlwaysTheSame) {
  for (const auto make : {eight_gaussians, two_moons, rings}) {
    const Dataset data = make(50, 0);
    EXPECT_EQ(data.reals(), make(50, 0).reals()) << data.name;
    EXPECT_NE(data.reals(), make(50, 1).reals()) << data.name;
    EXPECT_EQ(data.units(), 2u);
  }
}

}  // namespace
}  // namespace ergodic
