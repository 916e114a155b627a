#include "ergodic/model/class_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/threads.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kValues = 5, kClasses = 3, kHidden = 4;

Rbm class_machine(std::size_t values = kValues, std::size_t classes = kClasses, std::size_t hidden = kHidden) {
  return test::random_machine(joined({Bernoulli{values}, Potts{classes, classes}}), Bernoulli{hidden}, 1.0, 3);
}

/// Numbers in [0, 1], every third row of bits.
Matrix<float> inputs_of(std::size_t rows, std::size_t values) {
  Matrix<float> out = test::random_matrix(rows, values, 5);
  for (std::size_t r = 0; r < rows; ++r) {
    for (float& x : out.row(r)) {
      x = std::abs(x) - std::floor(std::abs(x));
      if (r % 3 == 0) x = x < 0.5f ? 0.0f : 1.0f;
    }
  }
  return out;
}

/// p(y | x) by the sum of exp(-E(x, y, v)) over all hidden states v, in double.
std::vector<double> enumerated(const Rbm& rbm, std::span<const float> x) {
  const std::size_t values = x.size(), classes = units_of(rbm.visible()) - values, hidden = units_of(rbm.hidden());
  std::vector<double> out(classes);
  double total = 0.0;
  for (std::size_t y = 0; y < classes; ++y) {
    for (std::size_t v = 0; v < (std::size_t{1} << hidden); ++v) {
      double minus_energy = rbm.visible_bias()[values + y];
      for (std::size_t i = 0; i < values; ++i) minus_energy += double{x[i]} * rbm.visible_bias()[i];
      for (std::size_t j = 0; j < hidden; ++j) {
        if (!((v >> j) & 1u)) continue;
        minus_energy += double{rbm.hidden_bias()[j]} + double{rbm.weights()(values + y, j)};
        for (std::size_t i = 0; i < values; ++i) minus_energy += double{x[i]} * double{rbm.weights()(i, j)};
      }
      out[y] += std::exp(minus_energy);
    }
    total += out[y];
  }
  for (double& p : out) p /= total;
  return out;
}

TEST(ClassPosterior, IsTheSumOverAllHiddenStates) {
  const Rbm rbm = class_machine();
  const Matrix<float> x = inputs_of(30, kValues);
  const Matrix<float> found = class_probabilities(rbm, x, {});
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const std::vector<double> exact = enumerated(rbm, x.row(r));
    // Fields are sums of a few floats of size 1: off by some 1e-7, and so are their softplus and the logarithm of p.
    for (std::size_t y = 0; y < kClasses; ++y) EXPECT_NEAR(found(r, y), exact[y], 2e-6) << r << " " << y;
  }
}

TEST(ClassPosterior, DoesNotOverflow) {
  Rbm rbm = class_machine();
  rbm.update(
      [](Parameters& p) {
        for (float& w : p["weights"]) w *= 500.0f;
      },
      {});
  const Matrix<float> found = class_probabilities(rbm, inputs_of(10, kValues), {});
  for (std::size_t r = 0; r < found.rows(); ++r) {
    float sum = 0.0f;
    for (const float p : found.row(r)) sum += p;
    EXPECT_NEAR(sum, 1.0f, 1e-6f);
  }
}

double mean_log_probability(const Rbm& rbm, const Matrix<float>& x, std::span<const int> labels) {
  double sum = 0.0;
  for (std::size_t r = 0; r < x.rows(); ++r)
    sum += std::log(enumerated(rbm, x.row(r))[static_cast<std::size_t>(labels[r])]);
  return sum / static_cast<double>(x.rows());
}

TEST(ClassPosterior, GradientsAreThoseOfDifferences) {
  Rbm rbm = class_machine();
  const Matrix<float> x = inputs_of(7, kValues);
  const std::vector<int> labels{0, 1, 2, 2, 1, 0, 2};
  ClassPosterior posterior(rbm);
  posterior.probabilities(x, {});
  std::vector<float> gradient(rbm.parameters().values().size());
  posterior.gradient(x, labels, gradient, {});
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    const float before = rbm.parameters().values()[k], step = 1e-3f;
    const auto at = [&](float value) {
      rbm.update([&](Parameters& p) { p.values()[k] = value; }, {});
      return mean_log_probability(rbm, x, labels);
    };
    const float high = before + step, low = before - step;
    // The difference is off by h^2 f''' / 6, some 1e-7, the gradient by the roundoff of seven floats.
    EXPECT_NEAR(gradient[k], (at(high) - at(low)) / (double{high} - double{low}), 3e-6) << k;
    at(before);
  }
}

TEST(ClassPosterior, GradientsByInputsAreThoseOfDifferences) {
  const Rbm rbm = class_machine();
  Matrix<float> x = inputs_of(7, kValues);
  const std::vector<int> labels{0, 1, 2, 2, 1, 0, 2};
  ClassPosterior posterior(rbm);
  posterior.probabilities(x, {});
  Matrix<float> gradient(x.rows(), x.cols());
  posterior.input_gradient(labels, gradient, {});
  for (std::size_t k = 0; k < gradient.elements().size(); ++k) {
    const float before = x.data()[k], high = before + 1e-3f, low = before - 1e-3f;
    const auto at = [&](float value) {
      x.data()[k] = value;
      return mean_log_probability(rbm, x, labels);
    };
    EXPECT_NEAR(gradient.data()[k], (at(high) - at(low)) / (double{high} - double{low}), 3e-6) << k;  // as above
    at(before);
  }
}

TEST(ClassPosterior, HasTheSameBitsOnAnyNumberOfThreadsAndEveryInstructionSet) {
  const Rbm rbm = class_machine(130, 7, 203);
  const Matrix<float> x = inputs_of(59, 130);
  std::vector<int> labels(59);
  for (std::size_t r = 0; r < labels.size(); ++r) labels[r] = static_cast<int>(r % 7);
  const auto found = [&](const Context& context) {
    ClassPosterior posterior(rbm);
    const Matrix<float> p = posterior.probabilities(x, context);
    std::vector<float> out(rbm.parameters().values().size());
    posterior.gradient(x, labels, out, context);
    out.insert(out.end(), p.elements().begin(), p.elements().end());
    Matrix<float> slopes(x.rows(), x.cols());
    posterior.input_gradient(labels, slopes, context);
    out.insert(out.end(), slopes.elements().begin(), slopes.elements().end());
    return out;
  };
  const std::vector<float> alone = found({});
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    EXPECT_EQ(found({&threads}), alone) << count;
  }
  test::for_each_target([&] { EXPECT_EQ(found({}), alone); });
}

TEST(ClassPosterior, KnowsWhichLayersEndWithALabel) {
  EXPECT_EQ(classes_of(joined({Bernoulli{4}, Potts{3, 3}})), 3u);
  EXPECT_EQ(classes_of(joined({Bernoulli{4}, Potts{6, 3}})), 0u);  // two sites
  EXPECT_EQ(classes_of(joined({Potts{3, 3}, Bernoulli{4}})), 0u);
  EXPECT_EQ(classes_of(Bernoulli{4}), 0u);
  EXPECT_EQ(classes_of(Potts{3, 3}), 0u);
  EXPECT_THROW(ClassPosterior(Rbm(Bernoulli{4}, Bernoulli{2})), UsageError);
  EXPECT_THROW(ClassPosterior(Rbm(joined({Bernoulli{4}, Potts{3, 3}}), Gaussian{2})), UsageError);
}

}  // namespace
}  // namespace ergodic
