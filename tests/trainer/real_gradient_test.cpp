#include "ergodic/trainer/real_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/core/threads.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_bits, test::random_matrix;

constexpr std::size_t kRows = 37, kMoreRows = 500, kChains = 50;

/// Rows that suit a layer.
State random_rows(const Layer& layer, std::size_t rows, std::uint64_t seed) {
  const std::size_t units = units_of(layer);
  if (real_valued(layer)) {
    Matrix<float> out = random_matrix(rows, units, seed);
    for (float& value : out.elements()) value = std::abs(value);
    return State(std::move(out));
  }
  return State(random_bits(rows, units, 0.4, seed), levels_of(layer));
}

/// A machine with random parameters, rows and chains.
struct Case {
  Case(const Layer& visible, const Layer& hidden, std::size_t row_count = kRows)
      : model(visible, hidden),
        rows(random_rows(visible, row_count, 1)),
        hidden(random_rows(hidden, row_count, 5)),
        chains{{random_rows(visible, kChains, 2), random_rows(hidden, kChains, 3)}} {
    const Matrix<float> values = random_matrix(1, model.parameters().values().size(), 4, 0.3f);
    model.update([&](Parameters& p) { std::ranges::copy(values.elements(), p.values().begin()); }, {});
    data.name = "rows";
    if (real_valued(visible)) {
      data.values = rows.reals();
    } else {
      data.values = rows.bits();
    }
    gaps = gaps_of(model, data);
    for (std::size_t i = 0; i < units_of(visible); ++i) mu.push_back(0.1 * static_cast<double>(i % 7));
    for (std::size_t j = 0; j < units_of(hidden); ++j) lambda.push_back(0.2 + 0.1 * static_cast<double>(j % 3));
    for (std::size_t j = 0; j < units_of(hidden); ++j) hidden_l1.push_back(0.01 * static_cast<double>(j % 5));
    for (std::size_t j = 0; j < units_of(hidden); ++j) hidden_bias.push_back(0.02 * static_cast<double>(j % 4));
  }

  Rbm model;
  RealTerms terms() const {
    Decay all = decay;
    all.hidden = {hidden_l1, hidden_bias};
    return {{rows, hidden}, {chains.layers[Rbm::kVisible], chains.layers[Rbm::kHidden]}, gaps, mu, lambda, all};
  }

  State rows, hidden;
  Chains chains;
  Dataset data;
  Gaps gaps;
  std::vector<double> mu, lambda, hidden_l1, hidden_bias;
  Decay decay{0.01, 0.02};
};

std::vector<float> found_gradient(const Case& c, const Context& context) {
  RealGradient gradient;
  const std::span<const float> found = gradient.find(c.model, c.terms(), context);
  return {found.begin(), found.end()};
}

/// The same from statistics in double.
Statistics defined_gradient(const Case& c) {
  const auto statistics = [&](const State& visible, const Moments& hidden) {
    constexpr double kOne = 1.0;
    Statistics out(c.model.parameters().values().size());
    c.model.add_statistics(Rbm::kVisible, visible, hidden, {&kOne, 1}, out, {});
    for (double& sum : out) sum /= static_cast<double>(visible.chains());
    return out;
  };
  Statistics out = statistics(c.rows, moments_of(c.hidden));
  const Statistics less = statistics(c.chains.layers[Rbm::kVisible], moments_of(c.chains.layers[Rbm::kHidden]));
  for (std::size_t k = 0; k < out.size(); ++k) out[k] -= less[k];
  condition(c.model, c.gaps, c.mu, c.lambda, c.terms().decay, out, {});
  return out;
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  out.emplace_back(Gaussian{40}, Bernoulli{23});
  out.emplace_back(Gaussian{5}, Spin{70});
  out.emplace_back(Gaussian{33}, Potts::make(24, 4));
  out.emplace_back(Relu{17}, Bernoulli{9});
  out.emplace_back(Gaussian{75}, Bernoulli{66});  // more than a strip
  out.emplace_back(Bernoulli{141}, Relu{65});
  out.emplace_back(Bernoulli{45}, Relu{34});
  out.emplace_back(Spin{12}, Gaussian{20});
  out.emplace_back(Gaussian{20}, Bernoulli{12}, kMoreRows);  // more than are rounded
  out.emplace_back(Spin{12}, Gaussian{20}, kMoreRows);
  return out;
}

TEST(RealGradient, IsTheConditionedGradientOfStatisticsInDouble) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(name_of(c.model.visible()) + " " + name_of(c.model.hidden()));
    const std::vector<float> found = found_gradient(c, {});
    const Statistics defined = defined_gradient(c);
    double largest = 0.0;
    for (const double value : defined) largest = std::max(largest, std::abs(value));
    // Some hundred roundoffs of 6e-8. Where states are rounded, each of 87 rows is off by up to half a unit, of which
    // 32000 make the mean distance from the offset, some 1.6 for both sides: 2e-3 if all err the same way, and the
    // largest entry is not below 1.
    const double near = c.rows.chains() == kMoreRows ? 3e-5 : 2e-3;
    for (std::size_t k = 0; k < found.size(); ++k) ASSERT_NEAR(found[k], defined[k], near * largest) << k;
  }
}

TEST(RealGradient, IsTheSameForAnyNumberOfThreadsAndOnEveryTarget) {
  for (const Case& c : all_cases()) {
    const std::vector<float> alone = found_gradient(c, {});
    for (const std::size_t count : {2u, 3u}) {
      Threads threads(count);
      EXPECT_EQ(found_gradient(c, Context{&threads}), alone);
    }
    test::for_each_target([&] { ASSERT_EQ(found_gradient(c, {}), alone); });
  }
}

/// Strip by strip in the cache, and as a whole.
TEST(RealGradient, AStepIsThatAlongTheWholeGradient) {
  for (const Case& c : all_cases()) {
    const StepSize size{3, 0.01};
    const Sgd sgd{0.5};
    Rbm fused = c.model, whole = c.model;
    std::vector<float> velocity(c.model.parameters().values().size(), 0.125f), defined_velocity = velocity;
    RealGradient gradient;
    bool bound = false;
    gradient.ascend(fused, c.terms(), sgd, size, velocity, [&](Parameters&) { bound = true; }, {});
    EXPECT_TRUE(bound);
    const std::vector<float> found = found_gradient(c, {});
    whole.update([&](Parameters& p) { step(sgd, size, std::span<const float>(found), defined_velocity, p, {}); }, {});
    EXPECT_EQ(velocity, defined_velocity);
    EXPECT_TRUE(std::ranges::equal(fused.parameters().values(), whole.parameters().values()));
    for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
      EXPECT_TRUE(std::ranges::equal(fused.map_to(block).weights.elements(), whole.map_to(block).weights.elements()));
    }
  }
}

/// Whole updates, the draws of chains included.
TEST(RealGradient, TrainsToTheSameBitsForAnyNumberOfThreadsAndOnEveryTarget) {
  for (const Case& c : all_cases()) {
    const auto trained = [&](const Context& context) {
      Rbm model(c.model.visible(), c.model.hidden());
      TrainOptions options;
      options.batch = 10;
      options.chains = 20;
      options.epochs = 2;
      options.learning_rate = 0.002;
      options.sgd.momentum = 0.5;
      initialise(model, c.data, 0.01, Key{5}, context);
      Trainer trainer = trainer_of(model, c.data, {}, options, Key{5}, context);
      EXPECT_TRUE(trainer.run([] {}, context));
      const auto values = std::as_const(model).parameters().values();
      return std::vector<float>(values.begin(), values.end());
    };
    const std::vector<float> alone = trained({});
    for (const std::size_t count : {2u, 3u}) {
      Threads threads(count);
      EXPECT_EQ(trained(Context{&threads}), alone);
    }
    test::for_each_target([&] { ASSERT_EQ(trained({}), alone); });
  }
}

}  // namespace
}  // namespace ergodic
