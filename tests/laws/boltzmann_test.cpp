// Laws of Boltzmann machines on graphs, for both unit types, against sums over all states: energies, exact sums and
// their derivatives; and that Gibbs sampling leaves the distribution where it is, and from a far start gets there.
#include "ergodic/model/boltzmann.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

using test::BoltzmannTruth, test::random_boltzmann;

static_assert(GibbsModel<Boltzmann> && GibbsModel<Clamped<Boltzmann>>);

/// Equal to 1e-10 of their size, or of 1 if they are smaller: sums of at most 2^8 states and 36 terms in double, whose
/// rounding is of the order of 1e-14.
#define EXPECT_CLOSE(a, b) EXPECT_NEAR(a, b, 1e-10 * std::max(1.0, std::abs(b)))

/// 200 machines of each unit type, of up to 8 units, without edges to complete, of weak to strong couplings.
template <class F>
void for_each_machine(const F& f) {
  for (const auto type : test::kUnitTypes) {
    for (std::uint64_t k = 0; k < 200; ++k) {
      const Draw draw = Key{k}.at(Purpose::kTest, 1);
      const std::size_t n = 1 + draw.below(8, 0, 0);
      const double degree = static_cast<double>((n - 1) * (k % 5)) / 4.0;
      f(random_boltzmann(make_layer(type, n), random_graph(n, degree, Key{k}), 0.1 + 0.01 * static_cast<double>(k), k));
    }
  }
}

TEST(BoltzmannLaws, EnergyAndFields) {
  for_each_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const Levels levels = levels_of(machine.units());
    const State all = test::all_states(truth.units(), levels);
    const std::vector<double> energies = machine.energy(all, {});
    for (std::size_t s = 0; s < all.chains(); ++s) {
      EXPECT_CLOSE(energies[s], truth.energy(s));
      for (std::size_t i = 0; i < truth.units(); ++i) {
        const std::size_t bit = std::size_t{1} << i;
        EXPECT_CLOSE(levels.gap() * machine.field(all, s, i), truth.energy(s & ~bit) - truth.energy(s | bit));
      }
    }
  });
}

TEST(BoltzmannLaws, ProbabilitiesAndPseudoLikelihood) {
  for_each_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const double log_z = *exact_log_z(machine, {});
    EXPECT_CLOSE(log_z, truth.log_z());
    const State all = test::all_states(truth.units(), levels_of(machine.units()));
    const std::vector<double> energies = machine.energy(all, {}), pseudo = machine.pseudo_log_likelihood(all, {});
    for (std::size_t s = 0; s < all.chains(); ++s) {
      EXPECT_CLOSE(-energies[s] - log_z, std::log(truth.p()[s]));
      double sum = 0.0;
      for (std::size_t i = 0; i < truth.units(); ++i) {
        sum -= std::log1p(std::exp(truth.energy(s) - truth.energy(s ^ (std::size_t{1} << i))));
      }
      EXPECT_CLOSE(pseudo[s], sum);
    }
  });
}

TEST(BoltzmannLaws, ExactStatistics) {
  for_each_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const Statistics found = exact_statistics(machine, {});
    const std::vector<double> expected = truth.statistics([&](std::size_t s) { return truth.p()[s]; });
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) EXPECT_CLOSE(found[k], expected[k]);
    // The same from all states as rows, each with its probability.
    Statistics weighted(found.size());
    machine.add_statistics(test::all_states(truth.units(), levels_of(machine.units())), truth.p(), weighted, {});
    for (std::size_t k = 0; k < found.size(); ++k) EXPECT_CLOSE(weighted[k], expected[k]);
  });
}

TEST(BoltzmannLaws, ExactSumsOverManyBlocksOfStates) {
  // With 15 units there are eight blocks, and edges within and between the two kinds of units.
  for (const auto type : test::kUnitTypes) {
    for (const Graph& graph : {dense_graph(15), grid_graph(3, 5, Border::kPeriodic), random_graph(15, 3.0, Key{1})}) {
      const Boltzmann machine = random_boltzmann(make_layer(type, 15), graph, 0.5, 7);
      const BoltzmannTruth truth(machine);
      EXPECT_CLOSE(*exact_log_z(machine, {}), truth.log_z());
      const Statistics found = exact_statistics(machine, {});
      const std::vector<double> expected = truth.statistics([&](std::size_t s) { return truth.p()[s]; });
      for (std::size_t k = 0; k < found.size(); ++k) EXPECT_CLOSE(found[k], expected[k]);
    }
  }
}

TEST(BoltzmannLaws, TheGradientOfTheLikelihoodIsItsDerivative) {
  for (const auto type : test::kUnitTypes) {
    for (const Graph& graph : {dense_graph(5), graph_from_edges(5, std::vector<std::pair<std::size_t, std::size_t>>{
                                                                       {0, 3}, {1, 3}, {1, 4}, {2, 3}})}) {
      Boltzmann machine = random_boltzmann(make_layer(type, 5), graph, 0.5, 11);
      const State rows = test::states_of({1, 6, 6, 29}, 5, levels_of(machine.units()));
      const double weight = 0.25;
      Statistics gradient(machine.parameters().values().size());
      machine.add_statistics(rows, {&weight, 1}, gradient, {});
      const Statistics model = exact_statistics(machine, {});
      const auto likelihood_at = [&](std::size_t k, float value) {
        machine.update([&](Parameters& p) { p.values()[k] = value; }, {});
        double sum = 0.0;
        for (const double energy : machine.energy(rows, {})) sum -= weight * energy;
        return sum - *exact_log_z(machine, {});
      };
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        const float here = machine.parameters().values()[k];
        const float up = here + 1e-3f, down = here - 1e-3f;
        const double slope = (likelihood_at(k, up) - likelihood_at(k, down)) / (double{up} - down);
        likelihood_at(k, here);
        // Central differences err by h^2/6 times a third cumulant, which is 2 at most for values in [-1, 1].
        EXPECT_NEAR(gradient[k] - model[k], slope, 1e-6) << type << " " << k;
      }
    }
  }
}

constexpr std::size_t kUnits = 6;  // 64 states
constexpr std::size_t kChains = 40000;
/// Which units stay in the tests in which some do, and as what: one choice for the even chains, one for the odd ones.
constexpr std::size_t kFixed[] = {0b010010, 0b101001}, kFixedStart[] = {0b000010, 0b101000};

/// A dense and two sparse machines of each unit type. Spins feel a coupling fourfold.
template <class F>
void for_each_sampled_machine(const F& f) {
  for (const auto type : test::kUnitTypes) {
    for (const Graph& graph :
         {dense_graph(kUnits), grid_graph(2, 3, Border::kOpen), random_graph(kUnits, 2.0, Key{2})}) {
      SCOPED_TRACE(std::string(type) + (graph.dense() ? ", dense, " : ", sparse, ") + std::to_string(graph.edges()));
      f(random_boltzmann(make_layer(type, kUnits), graph, type == Spin::kName ? 0.4 : 1.0, 5));
    }
  }
}

Chains chains_at(const Boltzmann& machine, const std::vector<std::size_t>& states) {
  Chains chains;
  chains.layers.push_back(test::states_of(states, kUnits, levels_of(machine.units())));
  return chains;
}

Chains exact_draws(const Boltzmann& machine, const BoltzmannTruth& truth) {
  const Draw draw = Key{21}.at(Purpose::kTest, 7);
  std::vector<std::size_t> states;
  for (std::uint32_t c = 0; c < kChains; ++c) {
    double u = draw.uniform(c, 0);
    std::size_t s = 0;
    while (s + 1 < truth.p().size() && u >= truth.p()[s]) u -= truth.p()[s++];
    states.push_back(s);
  }
  return chains_at(machine, states);
}

/// Of every `stride`-th chain from `first` on.
test::ChiSquare distance(const Chains& chains, const std::vector<double>& p, std::size_t first = 0,
                         std::size_t stride = 1) {
  std::vector<std::size_t> counts(p.size());
  for (std::size_t c = first; c < chains.count(); c += stride) ++counts[test::index_of(chains.layers[0], c)];
  return test::chi_square(counts, p);
}

Bits fixed_units() {
  Bits out(kChains, kUnits);
  for (std::size_t c = 0; c < kChains; ++c) out.row(c)[0] = kFixed[c % 2];
  return out;
}

TEST(BoltzmannLaws, GibbsLeavesTheExactDistributionWhereItIs) {
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const Chains start = exact_draws(machine, truth);
    EXPECT_LT(distance(start, truth.p()).value, distance(start, truth.p()).critical()) << "the exact draws themselves";
    Chains all = start, some = start;
    for (int s = 0; s < 5; ++s) step(Gibbs{}, machine, all, Key{22}, {});
    for (int s = 0; s < 5; ++s) step(Gibbs{}, Clamped{machine, fixed_units()}, some, Key{22}, {});
    EXPECT_LT(distance(all, truth.p()).value, distance(all, truth.p()).critical());
    EXPECT_LT(distance(some, truth.p()).value, distance(some, truth.p()).critical()) << "some units fixed";
  });
}

TEST(BoltzmannLaws, GibbsReachesTheDistributionFromAFarStart) {
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    Chains chains = chains_at(machine, std::vector<std::size_t>(kChains, 0));
    EXPECT_GT(distance(chains, truth.p()).value, 10 * distance(chains, truth.p()).critical()) << "the start is not far";
    for (int s = 0; s < 100; ++s) step(Gibbs{}, machine, chains, Key{24}, {});
    EXPECT_LT(distance(chains, truth.p()).value, distance(chains, truth.p()).critical());
  });
}

TEST(BoltzmannLaws, GibbsReachesTheDistributionGivenTheUnitsThatStay) {
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    std::vector<std::size_t> start(kChains);
    for (std::size_t c = 0; c < kChains; ++c) start[c] = kFixedStart[c % 2];
    Chains chains = chains_at(machine, start);
    for (int s = 0; s < 100; ++s) step(Gibbs{}, Clamped{machine, fixed_units()}, chains, Key{25}, {});
    for (const std::size_t first : {0u, 1u}) {
      const std::vector<double> p = truth.given(kFixed[first], kFixedStart[first]);
      EXPECT_GT(distance(chains_at(machine, start), p, first, 2).value, 10 * 103.0) << "the start is not far";
      const test::ChiSquare found = distance(chains, p, first, 2);
      EXPECT_LT(found.value, found.critical());
      for (std::size_t c = first; c < kChains; c += 2) {
        ASSERT_EQ(test::index_of(chains.layers[0], c) & kFixed[first], kFixedStart[first]);
      }
    }
  });
}

TEST(BoltzmannLaws, ASlightlyWrongMachineWouldBeFound) {
  // A coupling that is off by d adds chains * d^2 * variance(x_i x_j) to chi-square, which is 63 without it and
  // critical at 103. With d = 0.2 / gap, of fair coins, that is 300 for {0,1} units (variance 3/16) and 400 for spins.
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    Boltzmann wrong = machine;
    wrong.update([&](Parameters& p) { p["couplings"][0] += 0.2f / levels_of(machine.units()).gap(); }, {});
    Chains chains = exact_draws(machine, truth);
    for (int s = 0; s < 5; ++s) step(Gibbs{}, wrong, chains, Key{22}, {});
    EXPECT_GT(distance(chains, truth.p()).value, distance(chains, truth.p()).critical());
  });
}

}  // namespace
}  // namespace ergodic
