#include "ergodic/model/neural.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "data/error_message.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/threads.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/differences.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

static_assert(SmoothModel<Neural> && TrainableModel<Neural>);

using test::random_matrix;

/// A machine away from all symmetry: the last weights are random too.
Neural random_neural(std::size_t units, std::vector<std::size_t> hidden, std::uint64_t seed) {
  Bowl bowl;
  for (std::size_t i = 0; i < units; ++i) {
    bowl.mean.push_back(0.5f * static_cast<float>(i) - 0.25f);
    bowl.deviation.push_back(1.0f + 0.25f * static_cast<float>(i));
  }
  Neural model(bowl, std::move(hidden));
  const Matrix<float> values = random_matrix(1, model.parameters().values().size(), seed, 0.4f);
  model.update(
      [&](Parameters& parameters) {
        std::copy(values.elements().begin(), values.elements().end(), parameters.values().begin());
      },
      {});
  return model;
}

/// Shapes with unit counts below, at and above the width of a tile.
template <class F>
void for_each_machine(const F& f) {
  for (const std::size_t units : {1u, 2u, 5u}) {
    for (const std::vector<std::size_t>& hidden :
         {std::vector<std::size_t>{1}, {8}, {13}, {9, 5}, {16, 8, 3}, {3, 17}}) {
      SCOPED_TRACE(std::to_string(units) + " units, " + std::to_string(hidden.size()) + " layers, the first of " +
                   std::to_string(hidden[0]));
      f(random_neural(units, hidden, 7 * units + hidden[0]));
    }
  }
}

TEST(Neural, ItsParametersAreNamedByLayer) {
  const Neural model({{0.0f, 0.0f}, {1.0f, 1.0f}}, {5, 3});
  std::vector<std::string> names;
  for (const Slot& slot : model.parameters().slots()) names.push_back(slot.name);
  EXPECT_EQ(names, (std::vector<std::string>{"weights_0", "bias_0", "weights_1", "bias_1", "weights_2"}));
  EXPECT_EQ(model.parameters().slot("weights_1").shape, (std::vector<std::size_t>{5, 3}));
  EXPECT_EQ(model.parameters().values().size(), 2u * 5 + 5 + 5 * 3 + 3 + 3);
}

TEST(Neural, WithoutWeightsItIsTheBowl) {
  const Neural model({{1.0f, -2.0f}, {2.0f, 0.5f}}, {4});
  Matrix<float> x(1, 2);
  x(0, 0) = 5.0f;   // two deviations away
  x(0, 1) = -1.5f;  // one
  EXPECT_DOUBLE_EQ(model.energy(State(x), {})[0], 0.5 * (4.0 + 1.0));
  const Matrix<double> forces = model.forces(State(x), {});
  EXPECT_DOUBLE_EQ(forces(0, 0), -1.0);
  EXPECT_DOUBLE_EQ(forces(0, 1), -2.0);
}

/// g by its definition, one row and one unit after the other.
double plain_energy(const Neural& model, std::span<const float> x) {
  std::vector<double> values;
  double energy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    values.push_back((double{x[i]} - model.bowl().mean[i]) / model.bowl().deviation[i]);
    energy += 0.5 * values[i] * values[i];
  }
  for (std::size_t k = 0; k <= model.hidden().size(); ++k) {
    const bool last = k == model.hidden().size();
    const std::size_t width = last ? 1 : model.hidden()[k];
    const std::span<const float> weights = model.parameters()[Perceptron::weights_slot(k)];
    std::vector<double> next(width);
    for (std::size_t j = 0; j < width; ++j) {
      double field = last ? 0.0 : model.parameters()[Perceptron::bias_slot(k)][j];
      for (std::size_t i = 0; i < values.size(); ++i) field += values[i] * weights[i * width + j];
      next[j] = last ? field : field * sigmoid(field);
    }
    values = next;
  }
  return energy + values[0];
}

TEST(Neural, TheEnergyIsItsDefinition) {
  for_each_machine([](const Neural& model) {
    const Matrix<float> x = random_matrix(35, units_of(model.units()), 3, 2.0f);  // a block, and an odd rest
    const std::vector<double> energies = model.energy(State(x), {});
    for (std::size_t r = 0; r < x.rows(); ++r) EXPECT_NEAR(energies[r], plain_energy(model, x.row(r)), 1e-12);
  });
}

// A difference with the step h = 2^-10 of x or theta leaves h^2 E'''/6, about 1e-6 for these weights; rounding of the
// double energies is below 1e-11.
constexpr double kDifferenceError = 1e-5;

TEST(Neural, ForcesAreTheSlopeOfTheEnergy) {
  for_each_machine([](const Neural& model) {
    const State x(random_matrix(35, units_of(model.units()), 4, 1.5f));
    const Matrix<double> exact = model.forces(x, {}), differences = Differenced<Neural>(model).forces(x, {});
    for (std::size_t k = 0; k < exact.elements().size(); ++k) {
      EXPECT_NEAR(exact.elements()[k], differences.elements()[k], kDifferenceError);
    }
  });
}

TEST(Neural, StatisticsAreTheSlopeByTheParameters) {
  for_each_machine([](const Neural& model) {
    const State x(random_matrix(35, units_of(model.units()), 5, 1.5f));
    std::vector<double> weights;
    for (std::size_t r = 0; r < 35; ++r) weights.push_back(0.01 * static_cast<double>(r + 1));
    const std::size_t count = model.parameters().values().size();
    Statistics exact(count, 0.5), differences(count, 0.5);  // what is there stays
    model.add_statistics(x, weights, exact, {});
    Differenced<Neural>(model).add_statistics(x, weights, differences, {});
    for (std::size_t k = 0; k < count; ++k) EXPECT_NEAR(exact[k], differences[k], 6.3 * kDifferenceError);
  });
}

TEST(Neural, OneRowWeightStandsForAll) {
  const Neural model = random_neural(2, {9, 5}, 1);
  const State x(random_matrix(40, 2, 6));
  Statistics one(model.parameters().values().size()), all = one;
  model.add_statistics(x, std::vector<double>{0.25}, one, {});
  model.add_statistics(x, std::vector<double>(40, 0.25), all, {});
  EXPECT_EQ(one, all);
}

TEST(Neural, AnyNumberOfThreadsGivesTheSameBytes) {
  const Neural model = random_neural(2, {33, 20}, 2);
  const State x(random_matrix(333, 2, 8));
  const auto all = [&](const Context& context) {
    Statistics statistics(model.parameters().values().size());
    model.add_statistics(x, std::vector<double>{1.0 / 333.0}, statistics, context);
    return std::tuple(model.energy(x, context), model.forces(x, context), statistics);
  };
  const auto alone = all({});
  for (const std::size_t count : {2u, 3u, 8u}) {
    Threads threads(count);
    EXPECT_EQ(all({&threads}), alone) << count << " threads";
  }
}

TEST(Neural, ItStartsAsTheBowlWithFeaturesOfTheKey) {
  Neural model(bowl_of(random_matrix(100, 2, 9)), {16, 16}), same = model, other = model;
  initialise(model, Key{1}, {});
  initialise(same, Key{1}, {});
  initialise(other, Key{2}, {});
  const State x(random_matrix(10, 2, 10));
  EXPECT_EQ(model.energy(x, {}), model.bowl_energy(x, {}));
  const auto values = [](const Neural& m) {
    return std::vector<float>(m.parameters().values().begin(), m.parameters().values().end());
  };
  EXPECT_EQ(values(model), values(same));
  EXPECT_NE(values(model), values(other));
}

TEST(Neural, WhatIsNotANumberIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Matrix<float> rows(3, 2);
  rows(1, 1) = nan;
  expect_parts(message_of<DataError>([&] { bowl_of(rows); }), {"unit 2", "3 rows"});
  expect_parts(message_of<UsageError>([&] { Neural({{nan}, {1.0f}}, {4}); }), {"finite means", "unit 1"});
  expect_parts(message_of<UsageError>([&] { Neural({{0.0f}, {0.0f}}, {4}); }), {"positive deviations"});
  expect_parts(message_of<UsageError>([&] { Neural({{0.0f}, {}}, {4}); }), {"each of the 1 means", "found 0"});
  expect_parts(message_of<UsageError>([&] { Neural({{0.0f}, {1.0f}}, {}); }), {"hidden layers", "0 hidden layers"});
  expect_parts(message_of<UsageError>([&] { Neural({{0.0f}, {1.0f}}, {4, 0}); }), {"one of them empty"});
  // A state that is not a number has an energy that is none, which samplers refuse.
  const Neural model = random_neural(2, {9}, 1);
  EXPECT_TRUE(std::isnan(model.energy(State(rows), {})[1]));
  EXPECT_FALSE(std::isnan(model.energy(State(rows), {})[0]));
}

TEST(Bowl, MeansAndDeviationsWithWeights) {
  Matrix<float> rows(3, 2);
  rows(0, 0) = 1.0f;
  rows(1, 0) = 3.0f;
  rows(2, 0) = 100.0f;
  const Bowl bowl = bowl_of(rows, std::vector<double>{1.0, 1.0, 0.0});
  EXPECT_FLOAT_EQ(bowl.mean[0], 2.0f);
  EXPECT_FLOAT_EQ(bowl.deviation[0], 1.0f);
  EXPECT_FLOAT_EQ(bowl.deviation[1], 1.0f);  // never varies
}

}  // namespace
}  // namespace ergodic
