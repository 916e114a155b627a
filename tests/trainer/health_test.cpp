#include "ergodic/trainer/health.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace ergodic {
namespace {

Record record(std::uint64_t update, double weights, double likelihood) {
  return {update, 0.0, {{"weight_norm", weights}, {"pseudo_log_likelihood", likelihood}}};
}

bool sound(const Record& now, const Record& first) { return why_unsound(now, first).empty(); }

TEST(Health, WeightsThatNoDataCouldAskForAreDivergence) {
  const Record first = record(0, 0.01, -10.0);
  EXPECT_TRUE(sound(record(5, 19.0, -2.0), first));
  EXPECT_FALSE(sound(record(5, 21.0, -2.0), first));
  // A machine may begin with large weights.
  EXPECT_TRUE(sound(record(5, 60.0, -2.0), record(0, 50.0, -10.0)));
}

TEST(Health, LargeWeightsAreDivergenceOnlyIfTheDataBecomesFarLessLikely) {
  const Record first = record(0, 0.01, -10.0);
  EXPECT_TRUE(sound(record(5, 12.0, -39.0), first));
  EXPECT_FALSE(sound(record(5, 12.0, -41.0), first));
  EXPECT_TRUE(sound(record(5, 2.0, -400.0), first));                // over-fitted, perhaps
  EXPECT_TRUE(sound(record(5, 12.0, 5.0), record(0, 0.01, 20.0)));  // densities may be above one
}

TEST(Health, LabelsThatBecomeFarLessLikelyAreDivergence) {
  const Record first{0, 0.0, {{"log_loss", 2.3}, {"held_out_log_loss", 2.3}}};
  EXPECT_TRUE(sound({5, 0.0, {{"log_loss", 0.1}, {"held_out_log_loss", 16.0}}}, first));
  EXPECT_FALSE(sound({5, 0.0, {{"log_loss", 17.0}, {"held_out_log_loss", 2.0}}}, first));
  EXPECT_FALSE(sound({5, 0.0, {{"log_loss", 0.1}, {"held_out_log_loss", 17.0}}}, first));
}

TEST(Health, WhatIsNoNumberIsDivergence) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(sound(record(5, 0.1, kNan), record(0, 0.01, -10.0)));
  EXPECT_TRUE(why_unsound(std::vector<float>{0.0f, -1e15f, 1e15f}).empty());
  for (const float bad : {kNan, kInfinity, -kInfinity, 2e15f}) {
    EXPECT_FALSE(why_unsound(std::vector<float>{1.0f, bad, 1.0f}).empty()) << bad;
  }
}

TEST(Health, AStateToGoBackToHasNotBegunToDiverge) {
  const Record first = record(0, 0.01, -10.0);
  EXPECT_TRUE(healthy(first, first));
  EXPECT_TRUE(healthy(record(5, 9.0, -39.0), first));
  EXPECT_FALSE(healthy(record(5, 11.0, -2.0), first));
  EXPECT_FALSE(healthy(record(5, 0.1, -41.0), first));
  EXPECT_TRUE(healthy(record(0, 50.0, -10.0), record(0, 50.0, -10.0)));  // the first record is one
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
  EXPECT_FALSE(run(-10, -33, -9.5).still_improving());  // it went down first: recovering
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

TEST(Health, EachWarningIsGivenOnceInARun) {
  Listener listener;
  std::vector<Record> records;
  for (const double dead : {0.1, 0.6, 0.4, 0.7}) {
    const Record now{records.size(), 0.0, {{"dead", dead}, {"saturated", 0.0}}};
    warn_if_unhealthy(now, records, Context{nullptr, &listener});
    records.push_back(now);
  }
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_NE(listener.warnings[0].find("never on"), std::string::npos);
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
