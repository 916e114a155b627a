#include "ergodic/trainer/boltzmann_learner.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/model/elimination.hpp"

namespace ergodic {
namespace {

double likelihood(const Boltzmann& machine, const Dataset& data) {
  double sum = 0.0;
  for (const double energy : machine.energy(State(data.bits(), levels_of(machine.units())), {})) sum -= energy;
  return sum / static_cast<double>(data.rows()) - *exact_log_z(machine, {});
}

TrainOptions exactly(std::uint64_t epochs) {
  TrainOptions options;
  options.method = "exact";
  options.batch = 16;
  options.epochs = options.record_every = epochs;
  options.learning_rate = 0.1;
  return options;
}

double trained(Boltzmann& machine, const Dataset& data, const TrainOptions& options) {
  trainer_of(machine, data, {}, options, Key{3}, {}).run([] {}, {});
  return likelihood(machine, data);
}

TEST(BoltzmannLearner, TheSameRateMeansTheSameLearningInWhateverUnits) {
  const Dataset data = bars_and_stripes(3);
  for (const bool centred : {true, false}) {
    TrainOptions options = exactly(200);
    options.uncentred = !centred;
    options.sgd = {0.5};
    options.decay = {0.001, 0.001};
    Boltzmann bits(Bernoulli{9}, dense_graph(9)), spins(Spin{9}, dense_graph(9));
    initialise(bits, data, 0.01, Key{1}, {});
    initialise(spins, data, 0.01, Key{1}, {});
    const double before = likelihood(bits, data);
    EXPECT_NEAR(likelihood(spins, data), before, 1e-6);
    const double after = trained(bits, data, options);
    EXPECT_GT(after, before + 1.0);
    // Floats round differently: 45 parameters by about 1e-7, for 200 steps.
    EXPECT_NEAR(trained(spins, data, options), after, 1e-4) << centred;
  }
}

TEST(BoltzmannLearner, TheCentredGradientDoesNotSeeWhetherBitsAreFlipped) {
  Dataset data = shifting_bars(9);
  Dataset inverted = data;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t i = 0; i < data.units(); ++i) inverted.bits().set(r, i, !data.bits().get(r, i));
  }
  TrainOptions options = exactly(100);
  options.batch = data.rows();
  options.learning_rate = 2.0;  // two units are on together in one of 81 draws of the first machine
  Boltzmann plain(Bernoulli{9}, dense_graph(9)), flipped(Bernoulli{9}, dense_graph(9));
  initialise(plain, data, 0.01, Key{1}, {});
  initialise(flipped, inverted, 0.01, Key{1}, {});
  const double before = likelihood(plain, data), after = trained(plain, data, options);
  EXPECT_GT(after, before + 0.05);
  EXPECT_NEAR(trained(flipped, inverted, options), after, 1e-4);
}

TEST(BoltzmannLearner, ARateOf100DivergesUnlessTheExactGradientBearsIt) {
  TrainOptions options = exactly(300);
  options.record_every = 3;
  options.learning_rate = 100.0;
  const Dataset bars = bars_and_stripes(3), shifting = shifting_bars(9);
  for (const std::string method : {"exact", "pcd", "cd", "pseudo"}) {
    options.method = method;
    Boltzmann machine(Bernoulli{9}, dense_graph(9));
    initialise(machine, bars, 0.01, Key{1}, {});
    EXPECT_THROW(trained(machine, bars, options), NumericError) << method;
  }
  options.method = "exact";
  options.batch = shifting.rows();
  Boltzmann machine(Bernoulli{9}, dense_graph(9));
  initialise(machine, shifting, 0.01, Key{1}, {});
  EXPECT_GT(trained(machine, shifting, options), -std::log(9.0) - 0.05);  // minus the entropy of nine rows is the best
}

TEST(BoltzmannLearner, ImpossibleRequestsAreRefused) {
  const Dataset data = bars_and_stripes(3);
  TrainOptions options = exactly(1);
  Boltzmann large(Bernoulli{25}, dense_graph(25), 9), hidden(Bernoulli{11}, dense_graph(11), 9);
  EXPECT_THROW(learner_of(large, data, {}, options, Key{}, {}), UsageError);
  options.method = "pseudo";
  EXPECT_THROW(learner_of(hidden, data, {}, options, Key{}, {}), UsageError);
}

}  // namespace
}  // namespace ergodic
