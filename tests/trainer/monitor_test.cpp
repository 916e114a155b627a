#include "ergodic/trainer/monitor.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"

namespace ergodic {
namespace {

double named(const Measures& measures, const std::string& name) {
  for (const auto& [key, value] : measures) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no measure named " << name;
  return 0.0;
}

TEST(Monitor, CountsDeadAndSaturatedHiddenUnits) {
  for (const auto type : test::kUnitTypes) {
    Rbm rbm(make_layer(type, 4), make_layer(type, 4));
    rbm.update(
        [](Parameters& p) {
          p["hidden_bias"][0] = -20.0f;
          p["hidden_bias"][1] = 20.0f;
          p["hidden_bias"][2] = 20.0f;
        },
        {});
    const Measures found = measure(rbm, rbm.make_state(Rbm::kVisible, 5), {}, Key{1}, 0, {});
    EXPECT_DOUBLE_EQ(named(found, "dead"), 0.25);
    EXPECT_DOUBLE_EQ(named(found, "saturated"), 0.5);
  }
}

TEST(Monitor, TheGapIsTheDifferenceOfMeanFreeEnergies) {
  const Rbm rbm = test::random_machine(Bernoulli{5}, Bernoulli{3}, 1.0, 2);
  const State train = test::states_of({1, 2, 3}, 5, Bernoulli::kLevels);
  const State held_out = test::states_of({30, 17}, 5, Bernoulli::kLevels);
  const auto mean = [&](const State& rows) {
    double sum = 0.0;
    for (const double f : rbm.free_energy(rows, {})) sum += f;
    return sum / static_cast<double>(rows.chains());
  };
  const Measures found = measure(rbm, train, held_out, Key{1}, 0, {});
  EXPECT_NEAR(named(found, "free_energy_gap"), mean(held_out) - mean(train), 1e-12);
  EXPECT_NEAR(named(found, "log_likelihood"), -mean(held_out) - test::BruteForce(rbm).log_z(), 1e-9);
  for (const auto& [name, value] : measure(rbm, train, {}, Key{1}, 0, {})) EXPECT_NE(name, "free_energy_gap");
}

TEST(Monitor, TheWeightNormIsTheRootMeanSquare) {
  Rbm rbm(Bernoulli{2}, Bernoulli{2});
  rbm.update([](Parameters& p) { p["weights"][0] = 3.0f, p["weights"][3] = 4.0f; }, {});
  EXPECT_DOUBLE_EQ(named(measure(rbm, rbm.make_state(Rbm::kVisible, 1), {}, Key{1}, 0, {}), "weight_norm"), 2.5);
}

}  // namespace
}  // namespace ergodic
