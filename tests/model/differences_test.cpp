#include "ergodic/model/differences.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

static_assert(TrainableModel<Differenced<Boltzmann>> && SmoothModel<Differenced<Boltzmann>>);

TEST(CentralPair, LieAStepToEitherSideOfAnySize) {
  for (const float value : {0.0f, 1.0f, -0.3f, 1e-6f, 1000.0f, -3e7f}) {
    const CentralPair near(value);
    EXPECT_LT(near.below, value);
    EXPECT_GT(near.above, value);
    EXPECT_LE(near.gap(), 2.0 * 0x1p-9 * std::max(1.0, std::abs(double{value})));
  }
}

TEST(Differenced, OfABoltzmannMachineTheyAreTheExactStatistics) {
  for (const auto type : test::kUnitTypes) {
    const Boltzmann machine = test::random_boltzmann(make_layer(type, 9), dense_graph(9), 0.5, 3);
    const State x = test::random_state(20, 9, levels_of(machine.units()), 0.5, 4);
    std::vector<double> weights(20);
    for (std::size_t r = 0; r < 20; ++r) weights[r] = 0.1 * static_cast<double>(r);
    Statistics exact(machine.parameters().values().size()), differences = exact;
    machine.add_statistics(x, weights, exact, {});
    Differenced(machine).add_statistics(x, weights, differences, {});
    // The energy is linear in its parameters: what is left is the rounding of energies, 1e-15 over a step of 2^-10.
    for (std::size_t k = 0; k < exact.size(); ++k) EXPECT_NEAR(differences[k], exact[k], 1e-9);
  }
}

TEST(Differenced, ChangesOnlyItsOwnCopy) {
  const Boltzmann machine = test::random_boltzmann(Spin{5}, dense_graph(5), 0.5, 3);
  const Differenced differenced(machine);
  Statistics out(machine.parameters().values().size());
  differenced.add_statistics(test::random_state(4, 5, Spin::kLevels, 0.5, 4), std::vector<double>{1.0}, out, {});
  EXPECT_TRUE(std::ranges::equal(differenced.parameters().values(), machine.parameters().values()));
}

TEST(Differenced, RefusesManyParametersAndForcesOnBits) {
  expect_parts(message_of<UsageError>([] { Differenced{Boltzmann(Spin{46}, dense_graph(46))}; }),
               {"at most 1000", "found 1081", "add_statistics"});
  const Differenced small(Boltzmann(Spin{3}, dense_graph(3)));
  expect_parts(message_of<UsageError>([&] { small.forces(make_state(Spin{3}, 2), {}); }), {"real units", "spin"});
}

}  // namespace
}  // namespace ergodic
