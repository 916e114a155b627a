#include "ergodic/trainer/energy_learner.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/model/differences.hpp"
#include "ergodic/trainer/boltzmann_learner.hpp"

namespace ergodic {
namespace {

/// An energy of one's own, without derivatives: -J times how many neighbours of a row of units are both on, and -b
/// times how many are on.
struct Row {
  std::vector<Layer> units{Bernoulli{9}};
  Parameters theta;

  Row() {
    theta.add("J", {1});
    theta.add("b", {1});
  }
  const std::vector<Layer>& layers() const { return units; }
  const Parameters& parameters() const { return theta; }
  void update(const auto& edit, const Context&) { edit(theta); }
  std::vector<double> energy(LayerStates layers, const Context&) const {
    const State& x = layers[0];
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) {
      for (std::size_t i = 0; i < 9; ++i) {
        out[r] -= x.value(r, i) * (theta["b"][0] + (i < 8 ? theta["J"][0] * x.value(r, i + 1) : 0.0f));
      }
    }
    return out;
  }
};

TrainOptions few_updates() {
  TrainOptions options;
  options.updates = 50;
  options.learning_rate = 0.05;
  return options;
}

TEST(EnergyLearner, TheTrainerOfAnEnergyTakesAdamAndMetropolis) {
  const Dataset data = bars_and_stripes(3);
  const TrainOptions options = few_updates();
  Differenced first{Row{}}, second{Row{}};
  trainer_of(first, data, {}, options, Key{1}, {}).run([] {}, {});
  Trainer(energy_learner(second, Metropolis{}, data, {}, options, {Adam{}}, Key{1}, {}), data, options, Key{1})
      .run([] {}, {});
  EXPECT_NE(first.parameters()["J"][0], 0.0f);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(first.parameters().values()[k], second.parameters().values()[k]);
}

TEST(EnergyLearner, TheTrainerOfAGraphIsThatOfItsLearner) {
  const Dataset data = bars_and_stripes(3);
  const TrainOptions options = few_updates();
  Boltzmann first(Spin{9}, dense_graph(9)), second = first;
  trainer_of(first, data, {}, options, Key{1}, {}).run([] {}, {});
  Trainer(learner_of(second, data, {}, options, Key{1}, {}), data, options, Key{1}).run([] {}, {});
  EXPECT_NE(first.couplings()[0], 0.0f);
  EXPECT_TRUE(std::ranges::equal(first.parameters().values(), second.parameters().values()));
}

}  // namespace
}  // namespace ergodic
