#include "ergodic/estimator/importance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deep_networks.hpp"
#include "ergodic/model/exact_rbm.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{3};

/// The mean over independent bounds, which are those of rows that are all the same.
Mean mean_bound(const Dbn& model, const State& row, std::size_t draws, std::size_t copies) {
  State rows = make_state(model.visible_layer(), copies);
  for (std::size_t r = 0; r < copies; ++r) rows.set_row(r, row, 0);
  std::vector<double> values;
  const std::vector<Estimate> bounds = *importance_bounds(model, rows, draws, 0, kKey, {});
  for (const Estimate& bound : bounds) values.push_back(bound.value);
  return mean_with_error(values);
}

/// Sums over all states of h_1, ..., h_{L-1}: of q log w, and of q w, where w = p(x, h) Z / q(h | x).
struct Exact {
  double variational = 0.0, mean_weight = 0.0;
};
Exact exact_sums(const Dbn& model, const State& row) {
  std::vector<State> layers;
  for (std::size_t k = 0; k + 1 < model.depth(); ++k) layers.push_back(test::all_states(model.stage(k).hidden()));
  Exact out;
  test::for_all_rows(layers, [&](const std::vector<std::size_t>& rows) {
    State below = model.values_of(row);
    double upward = 0.0, downward = 0.0;
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const State above = test::rows_of(layers[k], {rows[k]});
      upward += log_conditional(model.recognition(k), Rbm::kHidden, above, below, {})[0];
      downward += log_conditional(model.stage(k), Rbm::kVisible, below, above, {})[0];
      below = above;
    }
    const double log_weight = downward - model.top().free_energy(model.joined_top(below, row), {})[0] - upward;
    out.variational += std::exp(upward) * log_weight;
    out.mean_weight += std::exp(upward + log_weight);
  });
  return out;
}

TEST(Importance, TheMeanWeightIsTheSumOverHiddenStates) {
  for (const Dbn& model : test::random_dbns()) {
    const State row = test::rows_of(test::all_states(model.visible_layer()), {5});
    EXPECT_NEAR(std::log(exact_sums(model, row).mean_weight), (*model.log_sums(row, {}))[0], 1e-9);
  }
}

TEST(Importance, OneDrawIsTheVariationalBoundAndMoreComeCloserToTheTruth) {
  constexpr std::size_t kCopies = 1000;
  for (const Dbn& model : test::random_dbns()) {
    const State row = test::rows_of(test::all_states(model.visible_layer()), {5});
    const double exact = (*model.log_sums(row, {}))[0], variational = exact_sums(model, row).variational;
    const Mean one = mean_bound(model, row, 1, kCopies);
    EXPECT_NEAR(one.value, variational, 4.0 * one.standard_error);
    EXPECT_LT(variational, exact);
    double before = variational;
    for (const std::size_t draws : {4, 32, 256}) {
      const Mean found = mean_bound(model, row, draws, kCopies);
      EXPECT_GT(found.value, before - 4.0 * found.standard_error) << draws;
      EXPECT_LT(found.value, exact + 4.0 * found.standard_error) << draws;
      before = found.value;
    }
    // With 256 draws the bound is below by about half of the variance of their mean, a share of the gap of one draw.
    EXPECT_LT(exact - before, 0.1 * (exact - variational));
  }
}

TEST(Importance, ABoundSaysHowMuchItsDrawsScatter) {
  // Equal weights: no error. Weights 1 and 3: mean 2, deviation of the mean sqrt(2) / sqrt(2), a half of it.
  const std::vector<double> equal{2.0, 2.0}, apart{0.0, std::log(3.0)};
  EXPECT_EQ(importance_bound(equal).standard_error, 0.0);
  EXPECT_NEAR(importance_bound(apart).value, std::log(2.0), 1e-12);
  EXPECT_NEAR(importance_bound(apart).standard_error, 0.5, 1e-12);
}

TEST(Importance, ARowHasItsOwnRandomNumbers) {
  const Dbn model = test::random_dbns()[2];
  const State rows = test::all_states(model.visible_layer());
  const auto all = *importance_bounds(model, rows, 3, 0, kKey, {}),
             some = *importance_bounds(model, rows.rows(2, 3), 3, 2, kKey, {});
  for (std::size_t r = 0; r < some.size(); ++r) EXPECT_EQ(some[r].value, all[2 + r].value);
}

}  // namespace
}  // namespace ergodic
