// Metropolis sampling where its acceptance is known. sampler_test.cpp has the laws of all samplers.
#include "ergodic/sampler/metropolis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ergodic/core/error.hpp"
#include "laws/targets.hpp"

namespace ergodic {
namespace {

/// One unit with energy 0 if it is off and `cost` if it is on.
struct TwoStates {
  double cost;
  Layer units() const { return Bernoulli{1}; }
  std::vector<Layer> layers() const { return {units()}; }
  std::vector<double> energy(LayerStates x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = x[0].bits().get(r, 0) ? cost : 0.0;
    return out;
  }
};

constexpr std::size_t kChains = 10000;

Chains at_zero(const Layer& layer, std::size_t chains) {
  Chains out;
  out.layers.push_back(make_state(layer, chains));
  return out;
}

TEST(Metropolis, TwoStatesAcceptAndSettleAsTheyMust) {
  for (const double cost : {0.0, 0.7, 2.0}) {
    const TwoStates model{cost};
    Chains chains = at_zero(model.units(), kChains);
    // From below every chain proposes to go up, and does with probability e^-cost.
    const double up = std::exp(-cost);
    const double first = step(Metropolis{}, model, chains, Key{1}, {}).accepted;
    EXPECT_NEAR(first, up, 4.0 * std::sqrt(up * (1.0 - up) / kChains) + 1e-12);
    // With one unit a flip that is always taken never settles: let cost be paid often enough, and compare.
    if (cost == 0.0) continue;
    for (int s = 0; s < 60; ++s) step(Metropolis{}, model, chains, Key{2}, {});
    double on = 0.0;
    for (std::size_t r = 0; r < kChains; ++r) on += chains.layers[0].bits().get(r, 0) ? 1.0 : 0.0;
    const double p = up / (1.0 + up);
    // The chain forgets by a factor of -e^-cost a step: after 60 steps less than 1e-18 is left.
    EXPECT_NEAR(on / kChains, p, 4.0 * std::sqrt(p * (1.0 - p) / kChains));
  }
}

TEST(Metropolis, ANormalUnitAcceptsByTheArcTangent) {
  // x ~ N(0, 1), x' = x + N(0, s^2): accepted with probability (2 / pi) atan(2 / s).
  for (const double noise : {0.5, 1.0, 2.4, 5.0}) {
    const test::StandardNormal model{1};
    Chains chains = at_zero(model.units(), kChains);
    const Draw draw = Key{3}.at(Purpose::kTest);
    for (std::uint32_t r = 0; r < kChains; ++r) chains.layers[0].reals()(r, 0) = static_cast<float>(draw.normal(r, 0));
    Metropolis kernel;
    kernel.noise = noise;
    const double p = 2.0 / M_PI * std::atan(2.0 / noise);
    EXPECT_NEAR(step(kernel, model, chains, Key{4}, {}).accepted, p, 4.0 * std::sqrt(p * (1.0 - p) / kChains));
  }
}

TEST(Metropolis, WarmUpFindsNoiseThatIsAcceptedAsOftenAsItShould) {
  const test::StandardNormal model{20};
  for (const double start : {0.001, 50.0}) {
    Chains chains = at_zero(model.units(), 500);
    Metropolis kernel;
    kernel.noise = start;
    for (std::uint64_t k = 0; k < 500; ++k) kernel = adapted(kernel, step(kernel, model, chains, Key{10}, {}), k);
    double accepted = 0.0;
    for (int s = 0; s < 100; ++s) accepted += step(kernel, model, chains, Key{11}, {}).accepted / 100;
    EXPECT_NEAR(accepted, 0.3, 0.03) << start;  // the steps of adaptation are still 4 % at the end
  }
}

TEST(Metropolis, WhatCannotMoveIsRefused) {
  Metropolis all_fixed;
  all_fixed.fixed = Bits(1, 1);
  all_fixed.fixed.set(0, 0, true);
  Chains chains = at_zero(Bernoulli{1}, 1);
  EXPECT_THROW(step(all_fixed, TwoStates{1.0}, chains, Key{1}, {}), UsageError);
  Metropolis wrong_mask;
  wrong_mask.fixed = Bits(1, 2);
  EXPECT_THROW(step(wrong_mask, TwoStates{1.0}, chains, Key{1}, {}), UsageError);
  Metropolis too_many;
  too_many.flips = 2;
  EXPECT_THROW(step(too_many, TwoStates{1.0}, chains, Key{1}, {}), UsageError);
  EXPECT_THROW(step(Metropolis{}, TwoStates{std::nan("")}, chains, Key{1}, {}), NumericError);
  // An infinite energy is not taken, and no error.
  const double accepted =
      step(Metropolis{}, TwoStates{std::numeric_limits<double>::infinity()}, chains, Key{1}, {}).accepted;
  EXPECT_EQ(accepted, 0.0);
}

}  // namespace
}  // namespace ergodic
