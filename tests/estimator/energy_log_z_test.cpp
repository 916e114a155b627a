#include "ergodic/estimator/energy_log_z.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/neural.hpp"
#include "ergodic/model/visible_marginal.hpp"

namespace ergodic {
namespace {

/// An energy by a function of a row of values.
template <class F>
struct Energy {
  Layer layer;
  F f;
  std::span<const Layer> layers() const { return {&layer, 1}; }
  std::vector<double> energy(LayerStates states, const Context&) const {
    const State& x = states[0];
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) {
      std::vector<double> row(x.units());
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = x.value(r, i);
      out[r] = f(row);
    }
    return out;
  }
};
template <class F>
Energy(Layer, F) -> Energy<F>;

TEST(EnergyLogZ, OfABoltzmannMachineIsItsOwn) {
  for (const auto type : test::kUnitTypes) {
    const Boltzmann machine = test::random_boltzmann(make_layer(type, 13), dense_graph(13), 0.5, 3);
    // Through the energy alone, as if nothing else were known of the machine.
    const Energy energy{machine.units(), [&](const std::vector<double>& row) {
                          State x = machine.make_state(1);
                          for (std::size_t i = 0; i < row.size(); ++i) x.bits().set(0, i, row[i] == x.levels().high);
                          return machine.energy(x, {})[0];
                        }};
    const Estimate found = *exact_log_z(energy, {});
    EXPECT_NEAR(found.value, *exact_log_z(machine, {}), 1e-9);
    EXPECT_EQ(found.method, "exact");
  }
}

TEST(EnergyLogZ, SumsOverLetters) {
  // Independent sites: a site's weights are e^0, e^1, e^2, and there are 3^7 states.
  const Energy energy{Potts{21, 3}, [](const std::vector<double>& row) {
                        double sum = 0.0;
                        for (std::size_t k = 0; k < row.size(); ++k) sum -= row[k] * static_cast<double>(k % 3);
                        return sum;
                      }};
  EXPECT_NEAR(exact_log_z(energy, {})->value, 7.0 * std::log(1.0 + std::exp(1.0) + std::exp(2.0)), 1e-10);
}

TEST(EnergyLogZ, IntegratesNormalDensitiesOfAnyPlaceAndWidth) {
  for (const double mean : {0.0, 3.7, -2500.0}) {
    for (const double deviation : {0.01, 1.0, 300.0}) {
      const Energy one{Gaussian{1},
                       [=](const std::vector<double>& x) { return 0.5 * std::pow((x[0] - mean) / deviation, 2); }};
      const double exact = 0.5 * std::log(2.0 * std::numbers::pi) + std::log(deviation);
      const Estimate found = *exact_log_z(one, {});
      // 1e-6: far from zero a float knows a place to 1e-4 of the smallest deviation here, and its square counts.
      EXPECT_NEAR(found.value, exact, 1e-6) << mean << " " << deviation;
      EXPECT_LE(found.upper - found.lower, 1e-5);
      EXPECT_EQ(found.method, "quadrature");
    }
  }
}

TEST(EnergyLogZ, IntegratesACorrelatedNormalOfTwoUnits) {
  const double a = 2.0, b = 0.7, c = 0.5;  // precision matrix [[a, b], [b, c]] about (1, -40)
  const Energy energy{Gaussian{2}, [=](const std::vector<double>& x) {
                        const double u = x[0] - 1.0, v = x[1] + 40.0;
                        return 0.5 * (a * u * u + 2.0 * b * u * v + c * v * v);
                      }};
  EXPECT_NEAR(exact_log_z(energy, {})->value, std::log(2.0 * std::numbers::pi) - 0.5 * std::log(a * c - b * b), 1e-9);
}

TEST(EnergyLogZ, IntegratesMixtures) {
  // Eight normal distributions of deviation 0.2 on a circle, weighted by 1: Z = 8.
  const Energy energy{Gaussian{2}, [](const std::vector<double>& x) {
                        double sum = 0.0;
                        for (int k = 0; k < 8; ++k) {
                          const double angle = 0.25 * k * std::numbers::pi;
                          const double u = x[0] - 2.0 * std::cos(angle), v = x[1] - 2.0 * std::sin(angle);
                          sum += std::exp(-0.5 * (u * u + v * v) / 0.04) / (2.0 * std::numbers::pi * 0.04);
                        }
                        return -std::log(sum);
                      }};
  EXPECT_NEAR(exact_log_z(energy, {})->value, std::log(8.0), 1e-9);
}

TEST(EnergyLogZ, OfTheVisibleUnitsOfAnRbmIsTheRbms) {
  for (const std::size_t units : {1u, 2u}) {
    const Rbm rbm = test::random_machine(Gaussian{units}, Bernoulli{5}, 0.8, 1);
    const Estimate found = *exact_log_z(VisibleMarginal{rbm}, {});
    // Free energies take fields from weights in float.
    EXPECT_NEAR(found.value, *exact_log_z(rbm, {}), 1e-5);
  }
}

TEST(EnergyLogZ, WithoutWeightsANeuralEnergyIsANormalDensity) {
  const Neural model({{0.5f, 0.25f}, {0.875f, 0.5f}}, {8});
  const double exact = std::log(2.0 * std::numbers::pi * 0.875 * 0.5);
  EXPECT_NEAR(exact_log_z(model, {})->value, exact, 1e-9);
}

TEST(EnergyLogZ, HasNothingForWhatItCannotSum) {
  const auto zero = [](const std::vector<double>&) { return 0.0; };
  for (const Layer& units : {Layer{Bernoulli{21}}, Layer{Potts{39, 3}}, Layer{Gaussian{3}}, Layer{Relu{1}}}) {
    EXPECT_FALSE(exactly_summable(units));
    EXPECT_FALSE(exact_log_z(Energy{units, zero}, {}).has_value());
  }
}

TEST(EnergyLogZ, RefusesEnergiesThatHaveNoSum) {
  const auto zero = [](const std::vector<double>&) { return 0.0; };
  expect_parts(message_of<NumericError>([&] {
                 exact_log_z(Energy{Gaussian{1}, zero}, {});
               }),
               {"does not confine unit 0", "square"});
  const auto nan = [](const std::vector<double>&) { return std::numeric_limits<double>::quiet_NaN(); };
  expect_parts(message_of<NumericError>([&] { exact_log_z(Energy{Spin{3}, nan}, {}); }), {"found nan"});
  expect_parts(message_of<NumericError>([&] { exact_log_z(Energy{Gaussian{1}, nan}, {}); }), {"found nan"});
}

TEST(EnergyLogZ, InfiniteEnergiesHaveNoWeight) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Energy even{Bernoulli{10}, [=](const std::vector<double>& x) {
                      double on = 0.0;
                      for (const double v : x) on += v;
                      return std::fmod(on, 2.0) == 0.0 ? 0.0 : infinity;
                    }};
  EXPECT_NEAR(exact_log_z(even, {})->value, 9.0 * std::log(2.0), 1e-12);
}

TEST(EnergyLogZ, TheLikelihoodTakesItsErrorFromLogZ) {
  const Estimate found = mean_log_likelihood({1.0, 3.0}, {0.5, 0.4, 0.7, 0.0, "quadrature"});
  EXPECT_DOUBLE_EQ(found.value, -2.5);
  EXPECT_DOUBLE_EQ(found.lower, -2.7);
  EXPECT_DOUBLE_EQ(found.upper, -2.4);
  EXPECT_EQ(found.method, "quadrature");
}

}  // namespace
}  // namespace ergodic
