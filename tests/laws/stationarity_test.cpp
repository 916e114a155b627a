// Laws of samplers: started from exact draws a sampler leaves the distribution where it is; from a far start it gets
// there. Chains are independent, so counts of their joint states follow the multinomial and chi-square applies.
#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

using test::BruteForce;

constexpr std::size_t kUnits = 3;  // on each side if they are two-valued: 64 joint states
constexpr std::size_t kChains = 40000;

Rbm machine(const Layer& visible, const Layer& hidden) {
  // Spins feel twice the gap of {0,1} units: half the couplings give a machine that mixes as well.
  const double scale = levels_of(visible).gap() > 1.0f || levels_of(hidden).gap() > 1.0f ? 0.5 : 1.0;
  return test::random_machine(visible, hidden, scale, 5);
}

/// Calls f(machine) for all pairings of two-valued units, and for layers of letters and of several parts.
template <class F>
void for_each_machine(const F& f) {
  const auto check = [&](const Layer& visible, const Layer& hidden) {
    SCOPED_TRACE(name_of(visible) + " - " + name_of(hidden));
    f(machine(visible, hidden));
  };
  test::for_each_pairing([&](std::string_view visible, std::string_view hidden) {
    check(make_layer(visible, kUnits), make_layer(hidden, kUnits));
  });
  for (const Layer& visible : test::discrete_layers(kUnits)) {
    if (!two_valued(visible)) check(visible, Bernoulli{2});
  }
  for (const Layer& hidden : test::joined_layers(2)) check(Bernoulli{kUnits}, hidden);
}

Chains exact_draws(const BruteForce& truth, std::uint64_t seed) {
  const Draw draw = Key{seed}.at(Purpose::kTest, 7);
  std::vector<std::size_t> xs, vs;
  for (std::uint32_t c = 0; c < kChains; ++c) {
    double u = draw.uniform(c, 0);
    std::size_t s = 0;
    while (s + 1 < truth.joint().size() && u >= truth.joint()[s]) u -= truth.joint()[s++];
    xs.push_back(s / truth.states_v());
    vs.push_back(s % truth.states_v());
  }
  Chains chains;
  chains.layers.push_back(test::rows_of(truth.xs(), xs));
  chains.layers.push_back(test::rows_of(truth.vs(), vs));
  return chains;
}

test::ChiSquare distance(const Chains& chains, const Rbm& rbm, const BruteForce& truth) {
  std::vector<std::size_t> counts(truth.joint().size());
  for (std::size_t c = 0; c < chains.count(); ++c) {
    ++counts[test::index_of(chains.layers[0], c, rbm.visible()) * truth.states_v() +
             test::index_of(chains.layers[1], c, rbm.hidden())];
  }
  return test::chi_square(counts, truth.joint());
}

TEST(Stationarity, GibbsLeavesTheExactDistributionWhereItIs) {
  for_each_machine([](const Rbm& rbm) {
    const BruteForce truth(rbm);
    Chains chains = exact_draws(truth, 21);
    EXPECT_LT(distance(chains, rbm, truth).value, distance(chains, rbm, truth).critical())
        << "the exact draws themselves";
    for (int s = 0; s < 5; ++s) step(Gibbs{}, rbm, chains, Key{22}, {});
    const auto found = distance(chains, rbm, truth);
    EXPECT_LT(found.value, found.critical());
  });
}

TEST(Stationarity, GibbsReachesTheDistributionFromAFarStart) {
  for_each_machine([](const Rbm& rbm) {
    const BruteForce truth(rbm);
    Chains chains = start_at(rbm, rbm.make_state(Rbm::kVisible, kChains), 0, Key{23}, {});
    EXPECT_GT(distance(chains, rbm, truth).value, 10 * distance(chains, rbm, truth).critical())
        << "the start is not far";
    for (int s = 0; s < 100; ++s) step(Gibbs{}, rbm, chains, Key{24}, {});
    const auto found = distance(chains, rbm, truth);
    EXPECT_LT(found.value, found.critical());
  });
}

TEST(Stationarity, ASlightlyWrongSamplerWouldBeFound) {
  // The same test on a machine whose one weight differs by 0.1: the power that the tests above have.
  const Rbm rbm = machine(Bernoulli{kUnits}, Bernoulli{kUnits});
  Rbm wrong = rbm;
  wrong.update([](Parameters& p) { p.values()[0] += 0.1f; }, {});
  const BruteForce truth(rbm);
  Chains chains = exact_draws(truth, 21);
  for (int s = 0; s < 5; ++s) step(Gibbs{}, wrong, chains, Key{22}, {});
  const auto found = distance(chains, rbm, truth);
  EXPECT_GT(found.value, found.critical());
}

}  // namespace
}  // namespace ergodic
