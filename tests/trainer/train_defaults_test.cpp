#include "ergodic/trainer/train_defaults.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/data/moments.hpp"
#include "ergodic/data/synthetic.hpp"

namespace ergodic {
namespace {

TrainDefaults of(const Dataset& data, std::size_t hidden, std::string_view method = "pcd") {
  const std::size_t n = data.units();
  return rbm_defaults({method, data, {Bernoulli{n}, Bernoulli{hidden}}, n * hidden + n + hidden});
}

TEST(SharedCovariance, IsThatOfTheDefinition) {
  // Of nine units of which one is on: all covariances are -1/81, eight for each unit.
  EXPECT_NEAR(shared_covariance(shifting_bars(9)), std::sqrt(8.0) / 81, 1e-6);
  // Of pixels in a row or column of bars and stripes: 1/8, with six others.
  EXPECT_NEAR(shared_covariance(bars_and_stripes(4)), std::sqrt(6.0) / 8, 1e-6);
}

TEST(TrainDefaults, TheRateFallsWithCovarianceAndWithHiddenUnits) {
  EXPECT_LT(of(bars_and_stripes(4), 16).learning_rate, of(shifting_bars(9), 16).learning_rate);
  EXPECT_LT(of(bars_and_stripes(4), 500).learning_rate, of(bars_and_stripes(4), 16).learning_rate);
  EXPECT_DOUBLE_EQ(of(bars_and_stripes(4), 16).learning_rate, 0.041);
}

TEST(TrainDefaults, LargeMachinesTakeFewerUpdatesAndSweeps) {
  const Dataset data = bars_and_stripes(8);
  EXPECT_EQ(of(data, 16).updates, 30000u);
  EXPECT_EQ(of(data, 16).steps, 10u);
  EXPECT_EQ(of(data, 16, "cd").steps, 1u);
  EXPECT_EQ(of(data, 1000000).updates, 12000u);
  EXPECT_EQ(of(data, 1000000).steps, 1u);
}

TEST(TrainDefaults, OptimisersHaveRatesOfTheirOwn) {
  const Dataset data = bars_and_stripes(8);
  TrainingCase now{"pcd", data, {Bernoulli{64}, Bernoulli{16}}, 64 * 17 + 16};
  const TrainDefaults sgd = rbm_defaults(now);
  now.optimiser = OptimiserKind::kAdam;
  EXPECT_EQ(rbm_defaults(now).learning_rate, 0.002);
  EXPECT_EQ(rbm_defaults(now).updates, sgd.updates);
  now.optimiser = OptimiserKind::kSpectral;
  EXPECT_EQ(rbm_defaults(now).learning_rate, 0.01);
  EXPECT_EQ(rbm_defaults(now).updates, sgd.updates / 10);
}

TEST(TrainDefaults, ExactGradientsTakeLongerSteps) {
  EXPECT_GT(of(bars_and_stripes(3), 16, "exact").learning_rate, 1.0);
  EXPECT_LE(of(shifting_bars(9), 16, "exact").learning_rate, 2.0);
}

TEST(TrainDefaults, ClassesAreLearnedByPassesThroughTheData) {
  const Dataset data = bars_and_stripes(8);  // 510 rows: six batches
  const auto of_classes = [&](Objective objective) {
    return class_rbm_defaults({"pcd", data, {Bernoulli{64}, Bernoulli{16}}, 64 * 17 + 16, objective});
  };
  EXPECT_EQ(of_classes(Objective::kGenerative).updates, of(data, 16).updates);
  EXPECT_EQ(of_classes(Objective::kGenerative).learning_rate, of(data, 16).learning_rate);
  EXPECT_EQ(of_classes(Objective::kHybrid).updates, 3000u);
  EXPECT_GT(of_classes(Objective::kDiscriminative).learning_rate, 1.0);
}

/// 1600 units that are on in one of two rows have variances of a quarter: twice as much in all as leaves the rate as it
/// is.
TEST(TrainDefaults, ClassesAreLearnedMoreSlowlyFromManyInputsThatVary) {
  constexpr std::size_t kUnits = 1600;
  Bits rows(2, kUnits);
  for (std::size_t i = 0; i < kUnits; ++i) rows.set(1, i, true);
  Dataset data;
  data.values = rows;
  const auto rate_for = [](const Dataset& set) {
    return class_rbm_defaults(
               {"pcd", set, {Bernoulli{set.units()}, Bernoulli{16}}, 17 * set.units() + 16, Objective::kDiscriminative})
        .learning_rate;
  };
  EXPECT_EQ(rate_for(bars_and_stripes(8)), 8.0);
  EXPECT_EQ(rate_for(data), 4.0);
}

TEST(Settled, EpochsAndUpdatesSayTheSameOrAreRefused) {
  TrainOptions options;
  options.epochs = 3;
  EXPECT_EQ(settled(options, {}, 250).updates, 9u);  // batches of 100, 100 and 50
  EXPECT_NO_THROW(settled(settled(options, {}, 250), {}, 250));
  options.updates = 10;
  EXPECT_THROW(settled(options, {}, 250), UsageError);
}

TEST(Settled, FewRowsStillHaveManyChains) {
  EXPECT_EQ(settled({}, {}, 9).batch, 9u);
  EXPECT_EQ(settled({}, {}, 9).chains, 100u);
  TrainOptions options;
  options.batch = 150;
  EXPECT_EQ(settled(options, {}, 200).chains, 150u);
}

TEST(Settled, RecordsComeEachEpochButNeitherTooOftenNorTooSeldom) {
  TrainOptions options;
  options.updates = 500;
  EXPECT_EQ(settled(options, {}, 2000).record_every, 20u);
  options.updates = 100000;
  EXPECT_EQ(settled(options, {}, 2000).record_every, 1000u);
  options.updates = 5000;
  EXPECT_EQ(settled(options, {}, 1000000).record_every, 1000u);
}

}  // namespace
}  // namespace ergodic
