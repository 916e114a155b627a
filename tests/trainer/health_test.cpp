#include "ergodic/trainer/health.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

Record record(std::uint64_t update, double weights, double likelihood) {
  return {update, 0.0, {{"weight_norm", weights}, {"pseudo_log_likelihood", likelihood}}};
}

TEST(Health, WeightsThatNoDataCouldAskForAreDivergence) {
  const Record first = record(0, 0.01, -10.0);
  EXPECT_NO_THROW(require_sound(record(5, 19.0, -2.0), first, 0.1));
  EXPECT_THROW(require_sound(record(5, 21.0, -2.0), first, 0.1), NumericError);
  // A machine may begin with large weights.
  EXPECT_NO_THROW(require_sound(record(5, 60.0, -2.0), record(0, 50.0, -10.0), 0.1));
}

TEST(Health, LargeWeightsAreDivergenceOnlyIfTheDataBecomesFarLessLikely) {
  const Record first = record(0, 0.01, -10.0);
  EXPECT_NO_THROW(require_sound(record(5, 12.0, -39.0), first, 0.1));
  EXPECT_THROW(require_sound(record(5, 12.0, -41.0), first, 0.1), NumericError);
  EXPECT_NO_THROW(require_sound(record(5, 2.0, -400.0), first, 0.1));  // over-fitted, perhaps
}

TEST(Health, AMonitorThatIsNoNumberIsDivergence) {
  const Record first = record(0, 0.01, -10.0);
  EXPECT_THROW(require_sound(record(5, 0.1, std::numeric_limits<double>::quiet_NaN()), first, 0.1), NumericError);
}

TEST(Health, ARunThatGainsLateIsStillImproving) {
  const auto run = [](double begin, double third, double end) {
    const std::vector<Record> records{record(0, 0, begin), record(30, 0, begin), record(40, 0, third),
                                      record(100, 0, end)};
    return *improvement_in(records);
  };
  EXPECT_TRUE(run(-10, -8, -6).still_improving());
  EXPECT_FALSE(run(-10, -6.1, -6).still_improving());
  EXPECT_FALSE(run(-10, -9.99, -9.98).still_improving());
  EXPECT_FALSE(run(-10, -6, -6.5).still_improving());
  EXPECT_DOUBLE_EQ(run(-10, -8, -6).all, 4.0);
  EXPECT_DOUBLE_EQ(run(-10, -8, -6).late, 2.0);
  EXPECT_TRUE(run(-10, -10, -9.95).none());
  EXPECT_FALSE(run(-10, -8, -6).none());
}

TEST(Health, WithoutALikelihoodNothingIsSaidOfImprovement) {
  const std::vector<Record> records(5, Record{0, 0.0, {{"weight_norm", 1.0}}});
  EXPECT_FALSE(improvement_in(records));
}

}  // namespace
}  // namespace ergodic
