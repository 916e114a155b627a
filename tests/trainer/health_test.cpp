#include "ergodic/trainer/health.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
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

struct Listener : Observer {
  void warn(const std::string& text) override { warnings.push_back(text); }
  std::vector<std::string> warnings;
};

std::vector<std::string> warnings_after(std::vector<double> likelihoods, bool held_out) {
  std::vector<Record> records;
  for (std::size_t k = 0; k < likelihoods.size(); ++k) {
    records.push_back({10 * k, 0.0, {{"pseudo_log_likelihood", likelihoods[k]}}});
    if (held_out) records.back().values.emplace_back("energy_gap", 30.0);
  }
  Listener listener;
  warn_if_overfitted(records, Context{nullptr, &listener});
  return listener.warnings;
}

TEST(Health, HeldOutRowsThatWereLikelierBeforeAreOverFitting) {
  const std::vector<std::string> found = warnings_after({-80, -50, -40, -45, -55}, true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("-40 after 20 updates, and is -55 now"), std::string::npos);
  EXPECT_NE(found[0].find("--l2"), std::string::npos);
  EXPECT_TRUE(warnings_after({-80, -50, -40, -45, -55}, false).empty());  // these rows were learned from
  EXPECT_TRUE(warnings_after({-80, -50, -45, -42, -40}, true).empty());   // a large gap alone is none
  EXPECT_TRUE(warnings_after({-80, -50, -40, -41, -43}, true).empty());   // less than a tenth of the gain
  EXPECT_TRUE(warnings_after({-4.0, -3.6, -3.5, -3.8}, true).empty());    // less than half a nat
  EXPECT_TRUE(warnings_after({}, true).empty());
}

}  // namespace
}  // namespace ergodic
