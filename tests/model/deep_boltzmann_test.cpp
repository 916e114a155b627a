#include "ergodic/model/deep_boltzmann.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "deep_machines.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

const std::vector<std::vector<std::size_t>> kShapes{{3, 2, 2}, {2, 3, 2, 2}, {2, 1, 2, 1, 2}};

TEST(DeepBoltzmann, HasTheEnergyOfItsLayers) {
  for (const auto& sizes : kShapes) {
    const DeepBoltzmann machine = test::some_deep(sizes, 0.8, 3);
    const std::size_t states = std::size_t{1} << test::units_of_all(machine);
    std::vector<State> layers{machine.make_state(0, states), machine.make_state(1, states)};
    for (std::size_t s = 0; s < states; ++s) {
      const auto values = test::layers_of(machine, s);
      for (std::size_t k = 0; k < values.size(); ++k) {
        for (std::size_t i = 0; i < values[k].size(); ++i) {
          layers[DeepBoltzmann::block_of(k)].bits().set(s, machine.first_unit(k) + i, values[k][i] == 1.0);
        }
      }
    }
    const std::vector<double> found = machine.energy(layers, {});
    for (std::size_t s = 0; s < states; ++s) {
      // Weights are floats and sums doubles: only the order of summing differs.
      EXPECT_NEAR(found[s], test::energy_of(machine, test::layers_of(machine, s)), 1e-12);
    }
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const State part = machine.layer_part(layers, k);
      ASSERT_EQ(part.units(), sizes[k]);
      for (std::size_t i = 0; i < sizes[k]; ++i) {
        EXPECT_EQ(part.value(states / 2 + 1, i), test::layers_of(machine, states / 2 + 1)[k][i]);
      }
    }
  }
}

TEST(DeepBoltzmann, PartsThatCrossWordsAreWhole) {
  const DeepBoltzmann machine({70, 5, 100});
  std::vector<State> layers{machine.make_state(0, 2), machine.make_state(1, 2)};
  for (const std::size_t unit : {0u, 69u, 70u, 71u, 127u, 128u, 169u}) layers[0].bits().set(1, unit, true);
  const State top = machine.layer_part(layers, 2), bottom = machine.layer_part(layers, 0);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(top.bits().get(1, i), i == 0 || i == 1 || i == 57 || i == 58 || i == 99) << i;
  }
  for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ(bottom.bits().get(1, i), i == 0 || i == 69) << i;
}

TEST(DeepBoltzmann, NeedsTwoHiddenLayers) {
  EXPECT_THROW(DeepBoltzmann({4, 3}), UsageError);
  EXPECT_THROW(DeepBoltzmann({4, 3, 0}), UsageError);
}

/// Mean field is a bound on the sum over hidden units, tight without couplings between them, and stationary.
TEST(DeepBoltzmann, MeanFieldIsAStationaryBound) {
  for (const auto& sizes : kShapes) {
    const DeepBoltzmann machine = test::some_deep(sizes, 0.8, 5);
    const std::size_t n = sizes[0], rows = std::size_t{1} << n;
    Matrix<float> x(rows, n);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < n; ++i) x(r, i) = static_cast<float>((r >> i) & 1);
    }
    std::vector<Matrix<float>> q = mean_field(machine, x, 200, {});
    const std::vector<double> bounds = mean_field_bounds(machine, x, q, {});
    for (std::size_t r = 0; r < rows; ++r) {
      const double exact = test::log_sum_at(machine, r);
      EXPECT_LE(bounds[r], exact + 1e-5);
      EXPECT_GT(bounds[r], exact - 0.5);  // couplings of 0.8 between few units: the bound is not empty
    }
    // The derivative by any q is zero: a change by d moves the bound by less than d^2 / (q (1 - q)) and rounding.
    constexpr float kStep = 0.01f;
    for (Matrix<float>& layer : q) {
      for (std::size_t i = 0; i < layer.cols(); ++i) {
        for (std::size_t r = 0; r < rows; ++r) layer(r, i) += kStep;
        const std::vector<double> above = mean_field_bounds(machine, x, q, {});
        for (std::size_t r = 0; r < rows; ++r) layer(r, i) -= 2.0f * kStep;
        const std::vector<double> below = mean_field_bounds(machine, x, q, {});
        for (std::size_t r = 0; r < rows; ++r) {
          layer(r, i) += kStep;
          const double middle = layer(r, i), curvature = 1.0 / (middle * (1.0 - middle));
          EXPECT_NEAR(above[r], below[r], 1e-5 + std::pow(kStep, 3) * curvature * curvature);
          EXPECT_LT(above[r], bounds[r] + 1e-5);
        }
      }
    }
  }
}

TEST(DeepBoltzmann, MeanFieldIsExactWithoutCouplingsAbove) {
  DeepBoltzmann machine = test::some_deep({3, 2, 2}, 0.8, 5);
  machine.update([&](Parameters& p) { machine.put_weights_above(1, Matrix<float>(2, 2), p); }, {});
  Matrix<float> x(1, 3);
  x(0, 1) = 1.0f;
  const auto q = mean_field(machine, x, 1, {});
  EXPECT_NEAR(mean_field_bounds(machine, x, q, {})[0], test::log_sum_at(machine, 2), 1e-5);
}

}  // namespace
}  // namespace ergodic
