#include "ergodic/trainer/averaging.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "ergodic/core/threads.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {
namespace {

/// Parameters that wander.
std::vector<float> parameters_at(std::uint64_t update) {
  const Draw draw = Key{1}.at(Purpose::kTest, update);
  std::vector<float> out(40000);
  for (std::uint32_t k = 0; k < out.size(); k += 997) out[k] = static_cast<float>(draw.normal(0, k));
  return out;
}

TEST(RunningMean, IsTheMeanOfTheLastOfEachBlock) {
  constexpr std::uint64_t kBlock = RunningMean::kBlock;
  for (const std::uint64_t averaged : {std::uint64_t{1}, kBlock, kBlock + 1, 5 * kBlock}) {
    constexpr std::uint64_t kUpdates = 9 * kBlock + 5;
    RunningMean mean(averaged, kUpdates, 40000);
    std::vector<double> sums(40000);
    std::uint64_t count = 0;
    for (std::uint64_t u = 1; u <= kUpdates; ++u) {
      const std::vector<float> now = parameters_at(u);
      mean.add(u, now, {});
      const bool last_of_block = (kUpdates - u) % kBlock == 0;
      if (u + averaged > kUpdates && last_of_block) {
        ++count;
        for (std::size_t k = 0; k < now.size(); ++k) sums[k] += now[k];
      }
      ASSERT_EQ(mean.taken(u), count);
    }
    ASSERT_GE(count, 1u);
    // Each of at most 6 terms rounds by 6e-8 of numbers below 5.
    for (std::size_t k = 0; k < sums.size(); k += 997) {
      ASSERT_NEAR(mean.values[k], sums[k] / static_cast<double>(count), 2e-6);
    }
  }
}

TEST(RunningMean, HoldsNothingWithoutUpdates) {
  RunningMean mean(0, 100, 40000);
  for (std::uint64_t u = 1; u <= 100; ++u) mean.add(u, parameters_at(u), {});
  EXPECT_EQ(mean.taken(100), 0u);
  EXPECT_TRUE(mean.values.empty());
}

TEST(AverageChoice, TakesALikelihoodFirstAndLossesAsTheyAre) {
  EXPECT_TRUE(choice_between({{"pseudo_log_likelihood", -3.0}}, {{"pseudo_log_likelihood", -2.0}}).kept);
  EXPECT_FALSE(choice_between({{"pseudo_log_likelihood", -3.0}}, {{"pseudo_log_likelihood", -3.0}}).kept);
  EXPECT_FALSE(
      choice_between({{"log_likelihood", -1.0}, {"log_loss", 2.0}}, {{"log_likelihood", -2.0}, {"log_loss", 1.0}})
          .kept);
  EXPECT_TRUE(choice_between({{"held_out_log_loss", 2.0}}, {{"held_out_log_loss", 1.0}}).kept);
  EXPECT_FALSE(choice_between({{"pseudo_log_likelihood", -3.0}}, {{"pseudo_log_likelihood", std::nan("")}}).kept);
  const AverageChoice unjudged = choice_between({{"weight_norm", 1.0}}, {{"weight_norm", 1.0}});
  EXPECT_TRUE(unjudged.kept);
  EXPECT_EQ(unjudged.monitor, "");
}

TrainOptions averaged_options(std::uint64_t updates) {
  TrainOptions out;
  out.batch = 6;
  out.chains = 10;
  out.updates = updates;
  out.learning_rate = 0.2;
  out.schedule = Schedule::kConstant;
  out.average = 0.5;
  out.rescue = true;
  return out;
}

struct Trained {
  std::vector<float> parameters;
  std::vector<double> mean;  // of the blocks but the last, whose end leaves what was chosen
  double blocks = 0.0;
  std::optional<AverageChoice> choice;
};

/// A run, stopped and restored in a new trainer after so many updates.
Trained train(const TrainOptions& options, std::uint64_t stop, const Context& context) {
  const Dataset data = bars_and_stripes(3);
  Rbm rbm(Bernoulli{9}, Bernoulli{6});
  initialise(rbm, data, 0.3, Key{1}, context);
  Trained out;
  out.mean.resize(rbm.parameters().values().size());
  const std::uint64_t all = *options.updates;
  std::uint64_t update = 0;
  const auto watch = [&] {
    if (++update <= all / 2 || (all - update) % RunningMean::kBlock != 0 || update == all) return;
    out.blocks += 1.0;
    for (std::size_t k = 0; k < out.mean.size(); ++k) {
      out.mean[k] += (rbm.parameters().values()[k] - out.mean[k]) / out.blocks;
    }
  };
  std::optional<Trainer> trainer(trainer_of(rbm, data, {}, options, Key{2}, context));
  EXPECT_FALSE(trainer->run(watch, context, stop));
  const TrainingState state = trainer->state();
  trainer.emplace(trainer_of(rbm, data, {}, options, Key{2}, context));
  trainer->restore(state);
  EXPECT_TRUE(trainer->run(watch, context));
  const auto values = std::as_const(rbm).parameters().values();
  out.parameters.assign(values.begin(), values.end());
  out.choice = trainer->average();
  return out;
}

/// Steps of a constant length end somewhere around the place that the mean is near to.
TEST(Averaging, KeepsTheMeanIfRowsAreLikelierForIt) {
  const Trained found = train(averaged_options(6400), 100, {});
  ASSERT_TRUE(found.choice);
  EXPECT_EQ(found.choice->monitor, "log_likelihood");
  EXPECT_GT(found.choice->average, found.choice->last);
  ASSERT_TRUE(found.choice->kept);
  // The last of 100 blocks has the same weight as the others: it moves the mean by a hundredth of its distance, which
  // is below 5 for parameters of a few units.
  EXPECT_EQ(found.blocks, 99.0);
  for (std::size_t k = 0; k < found.mean.size(); ++k) EXPECT_NEAR(found.parameters[k], found.mean[k], 0.05) << k;
}

/// While a machine still learns, its mean lags behind; what is then kept is as if nothing had been averaged.
TEST(Averaging, KeepsTheLastParametersIfRowsAreLikelierForThose) {
  TrainOptions options = averaged_options(400);
  const Trained found = train(options, 100, {});
  ASSERT_TRUE(found.choice);
  EXPECT_LT(found.choice->average, found.choice->last);
  EXPECT_FALSE(found.choice->kept);
  options.average = 0.0;
  const Trained without = train(options, 100, {});
  EXPECT_FALSE(without.choice);
  EXPECT_EQ(found.parameters, without.parameters);
}

TEST(Averaging, IsTheSameForAnyThreadsAndThroughAnyInterruption) {
  for (const std::uint64_t updates : {400u, 6400u}) {
    const TrainOptions options = averaged_options(updates);
    const Trained once = train(options, 100, {});
    for (const std::uint64_t stop : {1u, 199u, 217u, 399u}) {
      Threads threads(1 + stop % 3);
      const Trained again = train(options, stop, Context{&threads});
      EXPECT_EQ(again.parameters, once.parameters) << stop;
      EXPECT_EQ(again.choice->average, once.choice->average);
    }
  }
}

}  // namespace
}  // namespace ergodic
