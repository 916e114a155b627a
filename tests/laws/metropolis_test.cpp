// Laws of Metropolis sampling: its acceptance where that is known, and the distribution it must leave where it is.
#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/sampler/metropolis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// One unit with energy 0 if it is off and `cost` if it is on.
struct TwoStates {
  double cost;
  Layer units() const { return Bernoulli{1}; }
  std::vector<double> energy(const State& x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = x.bits().get(r, 0) ? cost : 0.0;
    return out;
  }
};

/// Independent standard normal units.
struct Normal {
  std::size_t count;
  Layer units() const { return Gaussian{count}; }
  std::vector<double> energy(const State& x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) {
      for (const float value : x.reals().row(r)) out[r] += 0.5 * double{value} * value;
    }
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
    const Normal model{1};
    Chains chains = at_zero(model.units(), kChains);
    const Draw draw = Key{3}.at(Purpose::kTest);
    for (std::uint32_t r = 0; r < kChains; ++r) chains.layers[0].reals()(r, 0) = static_cast<float>(draw.normal(r, 0));
    Metropolis kernel;
    kernel.noise = noise;
    const double p = 2.0 / M_PI * std::atan(2.0 / noise);
    EXPECT_NEAR(step(kernel, model, chains, Key{4}, {}).accepted, p, 4.0 * std::sqrt(p * (1.0 - p) / kChains));
  }
}

TEST(Metropolis, NormalUnitsAreReachedFromAFarStart) {
  const Normal model{3};
  Chains chains = at_zero(model.units(), 10000);
  for (float& value : chains.layers[0].reals().elements()) value = 3.0f;
  Metropolis kernel;
  kernel.noise = 1.2;
  kernel.proposals = 200;
  step(kernel, model, chains, Key{5}, {});
  double sum = 0.0, squares = 0.0, fourth = 0.0;
  const auto values = chains.layers[0].reals().elements();
  for (const float v : values) {
    sum += v;
    squares += double{v} * v;
    fourth += std::pow(double{v}, 4);
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0.0, 4.0 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1.0, 4.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth / n, 3.0, 4.0 * std::sqrt(96.0 / n));
}

/// The exact distribution of the visible layer of an RBM, and chains that are drawn from it.
struct Exact {
  explicit Exact(const Rbm& rbm) : letters(letters_of(rbm.visible())) {
    const std::size_t values = std::max<std::size_t>(letters, 2), sites = sites_of(rbm.visible());
    std::size_t count = 1;
    for (std::size_t s = 0; s < sites; ++s) count *= values;
    states = State(count, units_of(rbm.visible()), levels_of(rbm.visible()));
    for (std::size_t s = 0; s < count; ++s) {
      std::size_t rest = s;
      for (std::size_t site = 0; site < sites; ++site, rest /= values) {
        const std::size_t value = rest % values;
        letters > 0 ? states.bits().set(s, site * letters + value, true) : states.bits().set(s, site, value == 1);
      }
    }
    double total = 0.0;
    for (const double f : rbm.free_energy(states, {})) total += p.emplace_back(std::exp(-f));
    for (double& probability : p) probability /= total;
  }

  Chains draws() const {
    Chains out;
    out.layers.push_back(State(kChains, states.units(), states.levels()));
    const Draw draw = Key{6}.at(Purpose::kTest, 2);
    for (std::uint32_t c = 0; c < kChains; ++c) {
      double u = draw.uniform(c, 0);
      std::size_t s = 0;
      while (s + 1 < p.size() && u >= p[s]) u -= p[s++];
      std::ranges::copy(states.bits().row(s), out.layers[0].bits().row(c).begin());
    }
    return out;
  }

  test::ChiSquare distance(const Chains& chains) const {
    std::vector<std::size_t> counts(p.size());
    for (std::size_t c = 0; c < kChains; ++c) ++counts[test::index_of(chains.layers[0], c, letters)];
    return test::chi_square(counts, p);
  }

  std::size_t letters;
  State states;
  std::vector<double> p;
};

TEST(Metropolis, LeavesTheDistributionOfDiscreteUnitsWhereItIsAndReachesIt) {
  for (const Layer& visible : {Layer(Bernoulli{3}), Layer(Spin{3}), Layer(Potts{9, 3})}) {
    for (const std::size_t flips : {1u, 2u}) {
      SCOPED_TRACE(std::string(name_of(visible)) + ", flips " + std::to_string(flips));
      const Rbm rbm = test::random_machine(visible, Bernoulli{2}, 0.7, 5);
      const Exact truth(rbm);
      Metropolis kernel;
      kernel.flips = flips;
      Chains chains = truth.draws();
      for (int s = 0; s < 5; ++s) step(kernel, VisibleMarginal{rbm}, chains, Key{7}, {});
      EXPECT_LT(truth.distance(chains).value, truth.distance(chains).critical()) << "from exact draws";
      Chains far = at_zero(visible, kChains);
      EXPECT_GT(truth.distance(far).value, 10.0 * truth.distance(far).critical()) << "the start is not far";
      for (int s = 0; s < 40; ++s) step(kernel, VisibleMarginal{rbm}, far, Key{8}, {});
      EXPECT_LT(truth.distance(far).value, truth.distance(far).critical()) << "from a far start";
    }
  }
}

TEST(Metropolis, FixedUnitsStayAndTheOthersFollowThem) {
  const Rbm rbm = test::random_machine(Bernoulli{3}, Bernoulli{2}, 0.7, 5);
  const Exact truth(rbm);
  Metropolis kernel;
  kernel.fixed = Bits(1, 3);
  kernel.fixed.set(0, 1, true);
  Chains chains = at_zero(Bernoulli{3}, kChains);
  for (std::size_t r = 0; r < kChains; ++r) chains.layers[0].bits().set(r, 1, true);
  for (int s = 0; s < 40; ++s) step(kernel, VisibleMarginal{rbm}, chains, Key{9}, {});
  std::vector<double> given(truth.p.size());
  double total = 0.0;
  for (std::size_t s = 0; s < given.size(); ++s) total += given[s] = (s >> 1) & 1u ? truth.p[s] : 0.0;
  for (double& p : given) p /= total;
  std::vector<std::size_t> counts(given.size());
  for (std::size_t c = 0; c < kChains; ++c) ++counts[test::index_of(chains.layers[0], c)];
  for (std::size_t s = 0; s < given.size(); ++s) {
    EXPECT_TRUE(given[s] > 0.0 || counts[s] == 0u) << s;
  }
  const test::ChiSquare found = test::chi_square(counts, given);
  EXPECT_LT(found.value, found.critical());
}

TEST(Metropolis, WarmUpFindsNoiseThatIsAcceptedAsOftenAsItShould) {
  const Normal model{20};
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

TEST(Metropolis, TheSameStatesForAnyNumberOfThreads) {
  const Rbm rbm = test::random_machine(Potts{60, 3}, Bernoulli{9}, 0.5, 5);
  std::vector<State> found;
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    Chains chains = at_zero(rbm.visible(), 100);
    for (int s = 0; s < 3; ++s) step(Metropolis{}, VisibleMarginal{rbm}, chains, Key{12}, Context{&threads});
    found.push_back(chains.layers[0]);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
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
}

}  // namespace
}  // namespace ergodic
