#include "ergodic/model/temperature.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "ergodic/model/visible_marginal.hpp"

namespace ergodic {
namespace {

/// Parameters are rounded to floats once more: by some 1e-7 of each term of the energy.
void expect_multiplied(const std::vector<double>& found, const std::vector<double>& energies, double beta) {
  for (std::size_t r = 0; r < found.size(); ++r) EXPECT_NEAR(found[r], beta * energies[r], 1e-5);
}

TEST(AtTemperature, MachinesHaveTheEnergyMultiplied) {
  for (const Layer& visible :
       {Layer(Bernoulli{4}), Layer(Spin{4}), Layer(Potts{6, 3}), Layer(Gaussian{4}), Layer(Relu{4})}) {
    const Rbm rbm = test::random_machine(visible, Bernoulli{3}, 0.6, 3);
    std::vector<State> layers{make_state(visible, 9), make_state(rbm.hidden(), 9)};
    for (const std::size_t block : {Rbm::kHidden, Rbm::kVisible, Rbm::kHidden}) {
      rbm.resample(block, layers, Key{1}.at(Purpose::kTest), 0, {});
    }
    const std::vector<double> energies = rbm.energy(layers, {});
    for (const double beta : {0.1, 0.5, 1.0, 3.0}) {
      expect_multiplied(at_temperature(rbm, beta, {}).energy(layers, {}), energies, beta);
    }
  }
}

TEST(AtTemperature, GraphsHaveTheEnergyMultiplied) {
  const Boltzmann machine = test::random_boltzmann(Spin{6}, dense_graph(6), 0.5, 4);
  const State x = test::all_states(Spin{6});
  expect_multiplied(at_temperature(machine, 0.3, {}).energy(x, {}), machine.energy(x, {}), 0.3);
}

TEST(AtTemperature, EnergiesAndForcesAreMultiplied) {
  const Rbm rbm = test::random_machine(Gaussian{3}, Bernoulli{3}, 0.6, 3);
  const VisibleMarginal marginal{rbm};
  State x(Matrix<float>(2, 3));
  x.reals()(1, 2) = 1.5f;
  const auto hot = at_temperature(marginal, 0.25, {});
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(hot.energy(x, {})[r], 0.25 * marginal.energy(x, {})[r]);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(hot.forces(x, {})(r, i), 0.25 * marginal.forces(x, {})(r, i));
  }
}

}  // namespace
}  // namespace ergodic
