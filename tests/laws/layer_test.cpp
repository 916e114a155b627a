// Laws of layers: each verb against the sum over a unit's values.
#include "ergodic/model/layer.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

TEST(LayerLaws, LogSumIsTheLogOfTheSumOverValues) {
  for (const auto type : test::kUnitTypes) {
    const Layer layer = make_layer(type, 1);
    const Levels levels = levels_of(layer);
    for (double field = -30.0; field <= 30.0; field += 0.37) {
      const double truth = std::log(std::exp(levels.low * field) + std::exp(levels.high * field));
      EXPECT_NEAR(log_sum(layer, std::vector<double>{field}), truth, 1e-12 * (1 + std::abs(field))) << type << field;
    }
    EXPECT_TRUE(std::isfinite(log_sum(layer, std::vector<double>{1e5})));
    EXPECT_TRUE(std::isfinite(log_sum(layer, std::vector<double>{-1e5})));
  }
}

TEST(LayerLaws, TheFieldForAMeanGivesThatMean) {
  for (const auto type : test::kUnitTypes) {
    const Layer layer = make_layer(type, 1);
    const Levels levels = levels_of(layer);
    for (double share = 0.05; share < 1.0; share += 0.05) {
      const double mean = levels.low + levels.gap() * share;
      const double field = field_for_mean(layer, mean, 1e-3);
      // The mean is the derivative of log_sum: central differences with h = 1e-4 err by about 1e-9.
      const double slope =
          (log_sum(layer, std::vector<double>{field + 1e-4}) - log_sum(layer, std::vector<double>{field - 1e-4})) /
          2e-4;
      EXPECT_NEAR(slope, mean, 1e-7);
    }
    EXPECT_TRUE(std::isfinite(field_for_mean(layer, levels.low, 1e-3)));
    EXPECT_TRUE(std::isfinite(field_for_mean(layer, levels.high, 1e-3)));
  }
}

TEST(LayerLaws, UnknownTypesAndEmptyLayersAreRefused) {
  EXPECT_THROW(make_layer("quantum", 3), UsageError);
  EXPECT_THROW(make_layer("bernoulli", 0), UsageError);
  for (const auto type : test::kUnitTypes) EXPECT_EQ(name_of(make_layer(type, 3)), type);
}

}  // namespace
}  // namespace ergodic
