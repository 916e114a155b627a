// Laws of samplers: started from exact draws a sampler leaves the distribution where it is; from a far start it gets
// there. Chains are independent, so counts of their joint states follow the multinomial and chi-square applies.
#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

using test::BruteForce;

constexpr std::size_t kUnits = 3;  // on each side: 64 joint states
constexpr std::size_t kChains = 40000;

Rbm machine(std::string_view visible, std::string_view hidden) {
  // Spins feel twice the gap of {0,1} units: half the couplings give a machine that mixes as well.
  const double scale = visible == Spin::kName || hidden == Spin::kName ? 0.5 : 1.0;
  return test::random_machine(make_layer(visible, kUnits), make_layer(hidden, kUnits), scale, 5);
}

Chains exact_draws(const Rbm& rbm, const BruteForce& truth, std::uint64_t seed) {
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
  chains.layers.push_back(test::states_of(xs, kUnits, levels_of(rbm.visible())));
  chains.layers.push_back(test::states_of(vs, kUnits, levels_of(rbm.hidden())));
  return chains;
}

test::ChiSquare distance(const Chains& chains, const BruteForce& truth) {
  std::vector<std::size_t> counts(truth.joint().size());
  for (std::size_t c = 0; c < chains.count(); ++c) {
    ++counts[test::index_of(chains.layers[0], c) * truth.states_v() + test::index_of(chains.layers[1], c)];
  }
  return test::chi_square(counts, truth.joint());
}

TEST(Stationarity, GibbsLeavesTheExactDistributionWhereItIs) {
  test::for_each_pairing([](std::string_view visible, std::string_view hidden) {
    const Rbm rbm = machine(visible, hidden);
    const BruteForce truth(rbm);
    Chains chains = exact_draws(rbm, truth, 21);
    EXPECT_LT(distance(chains, truth).value, distance(chains, truth).critical()) << "the exact draws themselves";
    for (int s = 0; s < 5; ++s) step(Gibbs{}, rbm, chains, Key{22}, {});
    const auto found = distance(chains, truth);
    EXPECT_LT(found.value, found.critical()) << visible << " - " << hidden;
  });
}

TEST(Stationarity, GibbsReachesTheDistributionFromAFarStart) {
  test::for_each_pairing([](std::string_view visible, std::string_view hidden) {
    const Rbm rbm = machine(visible, hidden);
    const BruteForce truth(rbm);
    Chains chains = start_at(rbm, rbm.make_state(Rbm::kVisible, kChains), 0, Key{23}, {});
    EXPECT_GT(distance(chains, truth).value, 10 * distance(chains, truth).critical()) << "the start is not far";
    for (int s = 0; s < 100; ++s) step(Gibbs{}, rbm, chains, Key{24}, {});
    const auto found = distance(chains, truth);
    EXPECT_LT(found.value, found.critical()) << visible << " - " << hidden;
  });
}

TEST(Stationarity, ASlightlyWrongSamplerWouldBeFound) {
  // The same test on a machine whose one weight differs by 0.1: the power that the tests above have.
  const Rbm rbm = machine(Bernoulli::kName, Bernoulli::kName);
  Rbm wrong = rbm;
  wrong.update([](Parameters& p) { p.values()[0] += 0.1f; }, {});
  const BruteForce truth(rbm);
  Chains chains = exact_draws(rbm, truth, 21);
  for (int s = 0; s < 5; ++s) step(Gibbs{}, wrong, chains, Key{22}, {});
  const auto found = distance(chains, truth);
  EXPECT_GT(found.value, found.critical());
}

}  // namespace
}  // namespace ergodic
