#include "ergodic/trainer/wake_sleep.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deep_networks.hpp"

namespace ergodic {
namespace {

constexpr float kStep = 1.0f / 64.0f;

State random_state(std::size_t rows, std::size_t units, std::uint64_t seed) {
  State out = make_state(Bernoulli{units}, rows);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t i = 0; i < units; ++i) out.bits().set(r, i, draw.uniform(r, i) < 0.4);
  }
  return out;
}

double mean_log_conditional(const Rbm& machine, std::size_t block, const std::vector<State>& layers) {
  double sum = 0.0;
  for (const double log : log_conditional(machine, block, layers[block], layers[1 - block], {})) sum += log;
  return sum / static_cast<double>(layers[0].chains());
}

double difference(const Rbm& machine, std::size_t block, const std::vector<State>& layers, const char* slot,
                  std::size_t place) {
  const auto moved = [&](float by) {
    Rbm other = machine;
    other.update([&](Parameters& p) { p[slot][place] += by; }, {});
    return mean_log_conditional(other, block, layers);
  };
  return (moved(kStep) - moved(-kStep)) / (2.0 * kStep);
}

TEST(WakeSleep, ItsGradientsAreThoseOfTheConditionals) {
  // The third derivative of a log sigmoid is below 0.1, so differences err by less than h^2 / 6 * 0.1 = 4e-6; adding h
  // to a float and the sums in float by less than 1e-5.
  const Rbm machine = test::random_machine(Bernoulli{7}, Bernoulli{5}, 0.7, 6);
  const std::vector<State> layers{random_state(23, 7, 1), random_state(23, 5, 2)};
  for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
    const ConditionalGradient found = conditional_gradient(machine, block, layers, {});
    for (std::size_t k = 0; k < 35; ++k) {
      EXPECT_NEAR(found.weights.elements()[k], difference(machine, block, layers, "weights", k), 2e-5) << k;
    }
    const char* bias = block == Rbm::kVisible ? "visible_bias" : "hidden_bias";
    for (std::size_t i = 0; i < found.bias.size(); ++i) {
      EXPECT_NEAR(found.bias[i], difference(machine, block, layers, bias, i), 2e-5) << i;
    }
  }
}

TEST(WakeSleep, AStepMovesEachDirectedLayerAlongItsOwnGradient) {
  Dbn model = test::random_dbn({7, {5, 4, 3}, 0, true}, 0.7, 8);
  const Dbn before = model;
  const std::vector<State> awake{random_state(9, 7, 1), random_state(9, 5, 2), random_state(9, 4, 3)},
      asleep{random_state(6, 7, 4), random_state(6, 5, 5), random_state(6, 4, 6)};
  wake_sleep_step(model, awake, asleep, {0.5, 0.0}, {});
  for (std::size_t k = 0; k < 2; ++k) {
    const auto wake = conditional_gradient(before.stage(k), Rbm::kVisible, std::span(awake).subspan(k, 2), {}),
               sleep = conditional_gradient(before.recognition(k), Rbm::kHidden, std::span(asleep).subspan(k, 2), {});
    for (std::size_t w = 0; w < wake.weights.elements().size(); ++w) {
      EXPECT_EQ(model.stage(k).weights().elements()[w],
                before.stage(k).weights().elements()[w] + 0.5f * wake.weights.elements()[w]);
      EXPECT_EQ(model.recognition(k).weights().elements()[w],
                before.recognition(k).weights().elements()[w] + 0.5f * sleep.weights.elements()[w]);
    }
    EXPECT_EQ(model.stage(k).visible_bias()[1], before.stage(k).visible_bias()[1] + 0.5f * wake.bias[1]);
    EXPECT_EQ(model.recognition(k).hidden_bias()[1], before.recognition(k).hidden_bias()[1] + 0.5f * sleep.bias[1]);
  }
  EXPECT_TRUE(std::ranges::equal(model.top().parameters().values(), before.top().parameters().values()));
}

}  // namespace
}  // namespace ergodic
