#include "ergodic/run/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/machine/boltzmann.hpp"
#include "ergodic/machine/rbm.hpp"
#include "exact_rows.hpp"
#include "run/listener.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{4};

struct Setting {
  Rbm rbm = test::random_machine(Bernoulli{6}, Bernoulli{4}, 1.0, 2);
  RbmMachine machine{rbm};
  Dataset data{"own", test::exact_rows(rbm, 20000, Key{9}).bits()};
};

TEST(Compare, AMachineAgreesWithItsOwnDraws) {
  const Setting setting;
  const ComparisonWithData found = compare_with_data(setting.machine, {}, setting.data, {2000, 1000, 5}, kKey, {});
  EXPECT_FALSE(found.stopped);
  EXPECT_EQ(found.rows, 20000u);
  EXPECT_EQ(found.effective_rows, 20000.0);
  EXPECT_EQ(found.samples, 10000u);
  ASSERT_EQ(found.data_means.size(), 6u);
  ASSERT_EQ(found.sample_means.size(), 6u);
  ASSERT_EQ(found.sample_correlations.size(), 15u);
  const test::BruteForce truth(setting.rbm);
  for (std::size_t i = 0; i < 6; ++i) {
    double mean = 0.0;
    for (std::size_t x = 0; x < truth.states_x(); ++x) mean += truth.probability(x) * truth.xs().value(x, i);
    EXPECT_NEAR(found.data_means[i], mean, 4.0 * 0.5 / std::sqrt(20000.0));
    EXPECT_NEAR(found.sample_means[i], mean, 4.0 * 0.5 / std::sqrt(2000.0));  // draws of a chain know each other
  }
  EXPECT_GT(found.comparison.means.correlation, 0.99);
  EXPECT_NEAR(found.comparison.means.slope, 1.0, 0.1);
  EXPECT_EQ(found.comparison.means.count, 6u);
  EXPECT_EQ(found.comparison.correlations.count, 15u);
  EXPECT_EQ(found.mixing.verdict.mixing, Mixing::kYes);
}

TEST(Compare, AnotherMachineDoesNotAgree) {
  const Setting setting;
  const RbmMachine other(test::random_machine(Bernoulli{6}, Bernoulli{4}, 1.0, 77));
  const ComparisonWithData found = compare_with_data(other, {}, setting.data, {500, 50, 2}, kKey, {});
  EXPECT_LT(found.comparison.means.correlation, 0.9);
}

TEST(Compare, RowsCountByTheirWeights) {
  Setting setting;
  setting.data = {"two", test::states_of({0, 63}, 6, Bernoulli::kLevels).bits()};
  setting.data.weights = {3.0, 1.0};
  const ComparisonWithData found = compare_with_data(setting.machine, {}, setting.data, {20, 20, 1}, kKey, {});
  EXPECT_EQ(found.effective_rows, 4.0);
  for (const double mean : found.data_means) EXPECT_DOUBLE_EQ(mean, 0.25);
}

TEST(Compare, AStopLeavesNothingToSee) {
  const Setting setting;
  test::Listener listener;
  listener.stop_after = 7;
  const ComparisonWithData found =
      compare_with_data(setting.machine, {}, setting.data, {100, 50, 5}, kKey, Context{nullptr, &listener});
  EXPECT_TRUE(found.stopped);
  EXPECT_EQ(found.rows, 20000u);
  EXPECT_EQ(found.samples, 0u);
  EXPECT_TRUE(found.sample_means.empty());
  EXPECT_EQ(listener.stage_names(), (std::vector<std::string>{"sampling"}));
  EXPECT_EQ(listener.progresses, 7u);
}

TEST(Compare, StationsOfTrainingAreLevelsOfTempering) {
  const Setting setting;
  std::vector<Parameters> stations;
  for (const double scale : {0.1, 0.5}) {
    stations.push_back(test::random_machine(Bernoulli{6}, Bernoulli{4}, scale, 2).parameters());
  }
  const ComparisonWithData found = compare_with_data(setting.machine, stations, setting.data, {100, 40, 2}, kKey, {});
  EXPECT_FALSE(found.swapped.empty());
}

TEST(Compare, DataThatDoesNotFitIsRefused) {
  const Setting setting;
  EXPECT_THROW(compare_with_data(setting.machine, {}, {"five", Bits(3, 5)}, {20, 20, 1}, kKey, {}), DataError);
}

}  // namespace
}  // namespace ergodic
