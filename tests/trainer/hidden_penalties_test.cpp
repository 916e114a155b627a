#include "ergodic/trainer/hidden_penalties.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/trainer/sampled_ascent.hpp"

namespace ergodic {
namespace {

constexpr double kStep = 1e-3;

/// X/2N times the sum over hidden units of (sum of |w|)^2, w as between {0,1} units.
double l1_squared(const Rbm& model, double strength, std::size_t row, std::size_t column, double shift) {
  const double gaps = gap_of(model.visible()) * gap_of(model.hidden());
  const MatrixView<const float> weights = model.weights();
  double out = 0.0;
  for (std::size_t j = 0; j < weights.cols(); ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      sum += std::abs(gaps * weights(i, j) + (i == row && j == column ? shift : 0.0));
    }
    out += sum * sum;
  }
  return strength / (2.0 * static_cast<double>(weights.rows())) * out;
}

double l1_squared_slope(const Rbm& model, double strength, std::size_t row, std::size_t column) {
  return (l1_squared(model, strength, row, column, kStep) - l1_squared(model, strength, row, column, -kStep)) /
         (2.0 * kStep);
}

/// Where the model's samples are the data, penalties are the whole gradient.
TEST(HiddenPenalties, L1SquaredIsTheSlopeOfItsPenalty) {
  const Dataset data = bars_and_stripes(3);
  test::for_each_pairing([&](std::string_view visible, std::string_view hidden) {
    Rbm model = test::random_machine(make_layer(visible, 9), make_layer(hidden, 5), 1.0, 2);
    const Gaps gaps = gaps_of(model, data);
    HiddenPenalties penalties({.l1_squared = 0.7}, model);
    Decay decay{.hidden = penalties.find(model, gaps, {}, {})};
    const std::vector<double> before(9, levels_of(model.visible()).low), low(5, levels_of(model.hidden()).low);
    std::vector<double> mu = before, lambda = low;

    Statistics in_double(model.parameters().values().size());
    condition(model, gaps, mu, lambda, decay, in_double, {});
    const Chains rows = independent_start(model, 8, Key{3}, {});
    std::vector<float> in_counts(in_double.size());
    model.update(
        [&](Parameters& p) {
          SampledAscent().find(model, p, {rows, rows, {mu, lambda, 0.0}, decay}, in_counts, {});
        },
        {});
    const double per_gaps = 1.0 / (gap_of(model.visible()) * gap_of(model.hidden()));
    for (std::size_t i = 0; i < 9; ++i) {
      for (std::size_t j = 0; j < 5; ++j) {
        // The penalty is a parabola on both sides of zero, from which weights are farther than the step; floats round.
        if (std::abs(model.weights()(i, j)) < 2.0 * kStep) continue;
        const double expected = -per_gaps * l1_squared_slope(model, 0.7, i, j);
        EXPECT_NEAR(in_double[i * 5 + j], expected, 1e-6) << visible << " - " << hidden;
        EXPECT_NEAR(in_counts[i * 5 + j], expected, 1e-6) << visible << " - " << hidden;
      }
    }
    // Biases follow the weights, in both.
    for (std::size_t k = 45; k < in_double.size(); ++k) EXPECT_NEAR(in_counts[k], in_double[k], 1e-6);
  });
}

/// The slope of -X KL(p, q) by the bias, if all rows have the same field: q is then one sigmoid.
TEST(HiddenPenalties, SparsityIsTheSlopeOfADivergence) {
  constexpr double kTarget = 0.2, kStrength = 0.6;
  for (const Layer& hidden : {Layer{Bernoulli{3}}, Layer{Spin{3}}}) {
    Rbm model(Bernoulli{4}, hidden);
    const double gap = gap_of(hidden), low = levels_of(hidden).low;
    HiddenPenalties penalties({.sparsity = kStrength, .target = kTarget}, model);
    std::vector<double> means;
    const double fields[] = {-2.0, 0.0, 1.5};  // of {0,1} units
    const auto share = [](double field) { return 1.0 / (1.0 + std::exp(-field)); };
    for (const double field : fields) means.push_back(low + gap * share(field));
    const HiddenPull pull = penalties.find(model, gaps_of(model, {}), means, {});
    const auto divergence = [&](double field) {
      const double q = share(field);
      return kTarget * std::log(kTarget / q) + (1.0 - kTarget) * std::log((1.0 - kTarget) / (1.0 - q));
    };
    for (std::size_t j = 0; j < 3; ++j) {
      const double slope = (divergence(fields[j] + kStep) - divergence(fields[j] - kStep)) / (2.0 * kStep);
      EXPECT_NEAR(gap * pull.bias[j], -kStrength * slope, 1e-6);  // a central difference errs by step^2
    }
  }
}

TEST(HiddenPenalties, RefusesASparsityThatMeansNothing) {
  EXPECT_THROW(HiddenPenalties({.sparsity = 1.0}, Rbm(Bernoulli{4}, Relu{3})), UsageError);
  EXPECT_THROW(HiddenPenalties({.target = 0.1}, Rbm(Bernoulli{4}, Bernoulli{3})), UsageError);
  EXPECT_NO_THROW(HiddenPenalties({.l1_squared = 1.0}, Rbm(Bernoulli{4}, Relu{3})));
}

}  // namespace
}  // namespace ergodic
