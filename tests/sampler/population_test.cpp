#include "ergodic/sampler/population.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// Chains that say by their bits which row they were, in two layers.
Chains numbered(std::size_t count) {
  Chains out;
  for (int layer = 0; layer < 2; ++layer) {
    State state(count, 8, Bernoulli::kLevels);
    for (std::size_t r = 0; r < count; ++r) state.bits().row(r)[0] = r;
    out.layers.push_back(std::move(state));
  }
  return out;
}

TEST(Population, EachChainIsDrawnByItsShareOfTheWeights) {
  const std::vector<double> weights = {1.0, 0.0, 2.5, 0.5, 0.25, 1.75, 1.0, 1.0};  // they add up to 8
  std::vector<double> log_weights;
  for (const double w : weights) log_weights.push_back(w > 0.0 ? std::log(w) + 5.0 : -1e6);
  constexpr int kPoints = 1000;
  std::vector<double> mean(weights.size());
  for (int k = 0; k < kPoints; ++k) {
    Chains chains = numbered(weights.size());
    draw_by_weight(log_weights, (k + 0.5) / kPoints, chains);
    EXPECT_EQ(chains.layers[0], chains.layers[1]) << "a chain is all its layers";
    std::vector<double> times(weights.size());
    for (std::size_t r = 0; r < weights.size(); ++r) ++times[chains.layers[0].bits().row(r)[0]];
    for (std::size_t r = 0; r < weights.size(); ++r) {
      EXPECT_LT(std::abs(times[r] - weights[r]), 1.0);
      EXPECT_TRUE(times[r] == 0.0 || chains.layers[0].bits().row(r)[0] == r) << "who stays keeps the row";
      mean[r] += times[r] / kPoints;
    }
  }
  // The points lie evenly, so that a mean is off by no more than one of them.
  for (std::size_t r = 0; r < weights.size(); ++r) EXPECT_NEAR(mean[r], weights[r], 1.5 / kPoints);
}

TEST(Population, EqualWeightsChangeNothing) {
  for (const double uniform : {0.0, 0.3, 0.999999}) {
    Chains chains = numbered(100);
    EXPECT_NEAR(draw_by_weight(std::vector<double>(100, -3.0), uniform, chains), 1.0, 1e-12);
    EXPECT_EQ(chains.layers, numbered(100).layers);
  }
}

TEST(Population, OneChainCanTakeAllPlaces) {
  std::vector<double> log_weights(10, -1e9);
  log_weights[7] = 0.0;
  Chains chains = numbered(10);
  EXPECT_NEAR(draw_by_weight(log_weights, 0.5, chains), 0.1, 1e-12);
  for (std::size_t r = 0; r < 10; ++r) EXPECT_EQ(chains.layers[0].bits().row(r)[0], 7u);
}

TEST(Population, WeightsThatAreNoNumbersAreRefused) {
  Chains chains = numbered(2);
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(draw_by_weight(std::vector<double>{0.0, nan}, 0.5, chains), NumericError);
  EXPECT_THROW(draw_by_weight(std::vector<double>{nan, 0.0}, 0.5, chains), NumericError);
  EXPECT_THROW(draw_by_weight(std::vector<double>{0.0, infinity}, 0.5, chains), NumericError);
}

}  // namespace
}  // namespace ergodic
