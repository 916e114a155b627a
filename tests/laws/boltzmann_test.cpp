// Laws of Boltzmann machines on graphs, for every unit type they may have, against sums over all states: energies,
// exact sums, pseudo-likelihoods and their derivatives; and that Gibbs sampling leaves the distribution where it is,
// and from a far start gets there.
#include "ergodic/model/boltzmann.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

using test::BoltzmannTruth, test::random_boltzmann;

static_assert(GibbsModel<Boltzmann>);

/// Equal to 1e-10 of their size, or of 1 if they are smaller: sums of at most 2^8 states and 36 terms in double, whose
/// rounding is of the order of 1e-14.
#define EXPECT_CLOSE(a, b) EXPECT_NEAR(a, b, 1e-10 * std::max(1.0, std::abs(b)))

/// A graph without every third edge.
Graph thinned(const Graph& graph) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const auto& [low, high] : test::edges_of(graph)) {
    if ((low + high) % 3 != 0) pairs.push_back({low, high});
  }
  return graph_from_edges(graph.units(), pairs);
}

/// 200 machines of each unit type, of up to 8 units or 4 sites, without edges to complete, of weak to strong couplings.
template <class F>
void for_each_machine(const F& f) {
  for (std::uint64_t k = 0; k < 200; ++k) {
    const Draw draw = Key{k}.at(Purpose::kTest, 1);
    const double scale = 0.1 + 0.01 * static_cast<double>(k);
    const auto graph = [&](std::size_t n) {
      return random_graph(n, static_cast<double>((n - 1) * (k % 5)) / 4.0, Key{k});
    };
    for (const auto type : test::kUnitTypes) {
      const std::size_t n = 1 + draw.below(8, 0, 0);
      f(random_boltzmann(make_layer(type, n), graph(n), scale, k));
    }
    // Two to four letters. In every other machine only some letters of neighbours are coupled.
    const std::size_t sites = 1 + draw.below(4, 0, 1), letters = 2 + k % 3;
    const Graph whole = site_graph(graph(sites), letters);
    f(random_boltzmann(Potts{sites * letters, letters}, k % 2 == 0 ? whole : thinned(whole), scale, k));
  }
}

/// A state with the value of one site changed.
std::size_t with_value(const Layer& layer, std::size_t state, std::size_t site, std::size_t value) {
  const std::size_t values = std::max<std::size_t>(letters_of(layer), 2);
  std::size_t place = 1;
  for (std::size_t s = 0; s < site; ++s) place *= values;
  return state + value * place - state / place % values * place;
}

TEST(BoltzmannLaws, EnergyAndFields) {
  for_each_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const Layer& layer = machine.units();
    const std::size_t letters = letters_of(layer);
    const std::vector<double> energies = machine.energy(truth.all(), {});
    for (std::size_t s = 0; s < truth.all().chains(); ++s) {
      EXPECT_CLOSE(energies[s], truth.energy(s));
      for (std::size_t i = 0; i < sites_of(layer); ++i) {
        const auto change = [&](std::size_t a, std::size_t b) {
          return truth.energy(with_value(layer, s, i, a)) - truth.energy(with_value(layer, s, i, b));
        };
        if (letters == 0) {
          EXPECT_CLOSE(levels_of(layer).gap() * machine.field(truth.all(), s, i), change(0, 1));
        }
        for (std::size_t a = 1; a < letters; ++a) {
          EXPECT_CLOSE(machine.field(truth.all(), s, i * letters + a) - machine.field(truth.all(), s, i * letters),
                       change(0, a));
        }
      }
    }
  });
}

TEST(BoltzmannLaws, ProbabilitiesAndPseudoLikelihood) {
  for_each_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const double log_z = *exact_log_z(machine, {});
    EXPECT_CLOSE(log_z, truth.log_z());
    const std::vector<double> energies = machine.energy(truth.all(), {});
    const std::vector<double> pseudo = machine.pseudo_log_likelihood(truth.all(), {});
    for (std::size_t s = 0; s < truth.all().chains(); ++s) {
      EXPECT_CLOSE(-energies[s] - log_z, std::log(truth.p()[s]));
      double sum = 0.0;
      for (std::size_t i = 0; i < sites_of(machine.units()); ++i) {
        double all = 0.0;
        for (std::size_t a = 0; a < std::max<std::size_t>(letters_of(machine.units()), 2); ++a) {
          all += std::exp(truth.energy(s) - truth.energy(with_value(machine.units(), s, i, a)));
        }
        sum -= std::log(all);
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
    machine.add_statistics(truth.all(), truth.p(), weighted, {});
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

/// A dense and a sparse machine of each unit type.
template <class F>
void for_each_learning_machine(const F& f) {
  for (const Graph& graph : {dense_graph(4), grid_graph(2, 2, Border::kOpen)}) {
    for (const auto type : test::kUnitTypes) f(random_boltzmann(make_layer(type, 4), graph, 0.5, 11));
    f(random_boltzmann(Potts{12, 3}, site_graph(graph, 3), 0.5, 11));
    f(random_boltzmann(Potts{12, 3}, thinned(site_graph(graph, 3)), 0.5, 11));
  }
}

/// Compares a gradient with the slopes of f(machine) as each parameter changes. Central differences err by h^2/6 times
/// a third derivative: here a third cumulant, which is 2 at most for values in [-1, 1], or a few of them.
template <class F>
void expect_slopes(Boltzmann machine, const Statistics& gradient, const F& f) {
  const auto value_at = [&](std::size_t k, float value) {
    machine.update([&](Parameters& p) { p.values()[k] = value; }, {});
    return f(machine);
  };
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    const float here = machine.parameters().values()[k];
    const float up = here + 1e-3f, down = here - 1e-3f;
    const double slope = (value_at(k, up) - value_at(k, down)) / (double{up} - down);
    value_at(k, here);
    EXPECT_NEAR(gradient[k], slope, 2e-6) << name_of(machine.units()) << " " << k;
  }
}

TEST(BoltzmannLaws, TheGradientOfTheLikelihoodIsItsDerivative) {
  for_each_learning_machine([](const Boltzmann& machine) {
    const State rows = test::rows_at(BoltzmannTruth(machine), {1, 6, 6, 13});
    const double weight = 0.25;
    Statistics gradient(machine.parameters().values().size());
    machine.add_statistics(rows, {&weight, 1}, gradient, {});
    const Statistics model = exact_statistics(machine, {});
    for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] -= model[k];
    expect_slopes(machine, gradient, [&](const Boltzmann& changed) {
      double sum = 0.0;
      for (const double energy : changed.energy(rows, {})) sum -= weight * energy;
      return sum - *exact_log_z(changed, {});
    });
  });
}

TEST(BoltzmannLaws, TheGradientOfThePseudoLikelihoodIsItsDerivative) {
  for_each_learning_machine([](const Boltzmann& machine) {
    const State rows = test::rows_at(BoltzmannTruth(machine), {1, 6, 6, 13});
    const std::vector<double> weights{0.1, 0.2, 0.3, 0.4};
    Statistics gradient(machine.parameters().values().size());
    machine.add_pseudo_statistics(rows, weights, gradient, {});
    expect_slopes(machine, gradient, [&](const Boltzmann& changed) {
      const std::vector<double> found = changed.pseudo_log_likelihood(rows, {});
      double sum = 0.0;
      for (std::size_t r = 0; r < weights.size(); ++r) sum += weights[r] * found[r];
      return sum;
    });
  });
}

/// The machine of the largest pseudo-likelihood for states that occur as often as this, by gradient ascent. It is
/// concave, and each direction that matters has a curvature of at least 0.05: in 400 steps of 0.5 to 1 nothing is left.
Boltzmann fitted(const Boltzmann& like, const State& states, const std::vector<double>& shares) {
  Boltzmann out(like.units(), like.graph());
  const float rate = 1.0f / (levels_of(like.units()).gap() * levels_of(like.units()).gap());
  for (int step = 0; step < 400; ++step) {
    Statistics gradient(out.parameters().values().size());
    out.add_pseudo_statistics(states, shares, gradient, {});
    out.update(
        [&](Parameters& p) {
          for (std::size_t k = 0; k < gradient.size(); ++k) p.values()[k] += rate * static_cast<float>(gradient[k]);
        },
        {});
  }
  return out;
}

/// What of the parameters the distribution determines: a constant may be moved between the couplings of two sites and
/// their biases, so for letters it is E(a, b) - E(a, 0) - E(0, b) + E(0, 0) of two sites.
std::vector<double> determined(const Boltzmann& machine) {
  const std::size_t letters = letters_of(machine.units());
  if (letters == 0) return {machine.parameters().values().begin(), machine.parameters().values().end()};
  Matrix<double> w(units_of(machine.units()), units_of(machine.units()));
  const std::vector<test::Edge> edges = test::edges_of(machine.graph());
  for (std::size_t e = 0; e < edges.size(); ++e) w(edges[e].low, edges[e].high) = machine.couplings()[e];
  std::vector<double> out;
  for (const auto& [i, j] : edges) {
    const std::size_t first_i = i - i % letters, first_j = j - j % letters;
    if (i != first_i && j != first_j) out.push_back(w(i, j) - w(i, first_j) - w(first_i, j) + w(first_i, first_j));
  }
  return out;
}

TEST(BoltzmannLaws, MaximumPseudoLikelihoodRecoversTheMachineOfTheData) {
  // The estimator is consistent (Besag 1975). Of 10 data sets of 4000 exact draws each, the mean fit is within 5 of its
  // standard errors, as they follow from the spread of the fits (Student's t with 9 degrees: 7e-4 for each of some 60
  // comparisons, many of which depend on each other). The bias of a fit, of order 1/4000, is far below them.
  constexpr std::size_t kSets = 10, kRows = 4000;
  const auto check = [&](const Boltzmann& machine) {
    SCOPED_TRACE(name_of(machine.units()));
    const BoltzmannTruth truth(machine);
    const std::vector<double> expected = determined(machine);
    std::vector<double> sum(expected.size()), squares(expected.size());
    for (std::uint64_t set = 0; set < kSets; ++set) {
      std::vector<double> shares(truth.p().size());
      for (const std::size_t s : test::exact_draws(truth, kRows, 100 + set)) shares[s] += 1.0 / kRows;
      const std::vector<double> found = determined(fitted(machine, truth.all(), shares));
      for (std::size_t k = 0; k < found.size(); ++k) {
        sum[k] += found[k] / kSets;
        squares[k] += found[k] * found[k] / kSets;
      }
    }
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const double error = std::sqrt((squares[k] - sum[k] * sum[k]) / (kSets - 1));
      EXPECT_LT(error, 0.1) << "too few draws to say anything";
      EXPECT_NEAR(sum[k], expected[k], 5.0 * error) << k;
    }
  };
  for (const auto type : test::kUnitTypes) check(random_boltzmann(make_layer(type, 4), dense_graph(4), 0.4, 3));
  check(random_boltzmann(Potts{9, 3}, site_graph(dense_graph(3), 3), 0.4, 3));
}

TEST(BoltzmannLaws, SumsOverHiddenUnits) {
  // Of four units or sites the first two are visible.
  for_each_learning_machine([](const Boltzmann& all_visible) {
    const std::size_t letters = letters_of(all_visible.units()), visible = letters > 0 ? 2 * letters : 2;
    Boltzmann machine(all_visible.units(), all_visible.graph(), visible);
    const auto from = all_visible.parameters().values();
    machine.update([&](Parameters& p) { std::copy(from.begin(), from.end(), p.values().begin()); }, {});
    EXPECT_EQ(machine.hidden(), visible);
    const BoltzmannTruth truth(machine);
    const Layer seen = letters > 0 ? Layer(Potts{visible, letters}) : make_layer(name_of(machine.units()), visible);
    const State rows = test::all_states(seen);
    const std::vector<double> free_energies = *exact_free_energy(machine, rows, {});
    for (std::size_t r = 0; r < rows.chains(); ++r) {
      double p = 0.0;
      const std::size_t values = rows.chains();  // the visible sites are the lowest digits
      for (std::size_t s = r; s < truth.p().size(); s += values) p += truth.p()[s];
      EXPECT_CLOSE(-free_energies[r] - truth.log_z(), std::log(p));
    }
  });
}

constexpr std::size_t kChains = 40000;

/// Dense and sparse machines of each unit type with 64 states. Spins feel a coupling fourfold.
template <class F>
void for_each_sampled_machine(const F& f) {
  const auto check = [&](const Boltzmann& machine) {
    SCOPED_TRACE(std::string(name_of(machine.units())) + (machine.graph().dense() ? ", dense, " : ", sparse, ") +
                 std::to_string(machine.graph().edges()));
    f(machine);
  };
  for (const auto type : test::kUnitTypes) {
    for (const Graph& graph : {dense_graph(6), grid_graph(2, 3, Border::kOpen), random_graph(6, 2.0, Key{2})}) {
      check(random_boltzmann(make_layer(type, 6), graph, type == Spin::kName ? 0.4 : 1.0, 5));
    }
  }
  const Graph dense = site_graph(dense_graph(3), 4), path = site_graph(grid_graph(1, 3, Border::kOpen), 4);
  for (const Graph& graph : {dense, path, thinned(dense), thinned(path)}) {
    check(random_boltzmann(Potts{12, 4}, graph, 1.0, 5));
  }
}

Chains chains_at(const BoltzmannTruth& truth, const std::vector<std::size_t>& states) {
  Chains chains;
  chains.layers.push_back(test::rows_at(truth, states));
  return chains;
}

Chains exact_draws(const BoltzmannTruth& truth) { return chains_at(truth, test::exact_draws(truth, kChains, 21)); }

/// Of every `stride`-th chain from `first` on.
test::ChiSquare distance(const Boltzmann& machine, const Chains& chains, const std::vector<double>& p,
                         std::size_t first = 0, std::size_t stride = 1) {
  std::vector<std::size_t> counts(p.size());
  for (std::size_t c = first; c < chains.count(); c += stride) {
    ++counts[test::index_of(chains.layers[0], c, machine.units())];
  }
  return test::chi_square(counts, p);
}

/// Which units stay in the tests in which some do: of every three sites the second in the even chains, the others in
/// the odd ones. In a test from a far start they stay as in these states.
Bits fixed_units(const Boltzmann& machine) {
  const std::size_t width = std::max<std::size_t>(letters_of(machine.units()), 1);
  Bits out(kChains, machine.graph().units());
  for (std::size_t c = 0; c < kChains; ++c) {
    for (std::size_t i = 0; i < out.cols(); ++i) out.set(c, i, (i / width % 3 == 1) == (c % 2 == 0));
  }
  return out;
}
constexpr std::size_t kFixedAt[] = {2, 41};

TEST(BoltzmannLaws, GibbsLeavesTheExactDistributionWhereItIs) {
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const Bits fixed = fixed_units(machine);
    Chains all = exact_draws(truth), some = all;
    const auto expect_there = [&](const Chains& chains, const char* which) {
      const test::ChiSquare found = distance(machine, chains, truth.p());
      EXPECT_LT(found.value, found.critical()) << which;
    };
    expect_there(all, "the exact draws themselves");
    for (int s = 0; s < 5; ++s) step(Gibbs{}, machine, all, Key{22}, {});
    for (int s = 0; s < 5; ++s) step(Gibbs{fixed}, machine, some, Key{22}, {});
    expect_there(all, "all units drawn");
    expect_there(some, "some units fixed");
  });
}

TEST(BoltzmannLaws, GibbsReachesTheDistributionFromAFarStart) {
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    Chains chains = chains_at(truth, std::vector<std::size_t>(kChains, 0));
    const test::ChiSquare start = distance(machine, chains, truth.p());
    EXPECT_GT(start.value, 10 * start.critical()) << "the start is not far";
    for (int s = 0; s < 100; ++s) step(Gibbs{}, machine, chains, Key{24}, {});
    const test::ChiSquare found = distance(machine, chains, truth.p());
    EXPECT_LT(found.value, found.critical());
  });
}

TEST(BoltzmannLaws, GibbsReachesTheDistributionGivenTheUnitsThatStay) {
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    const Bits fixed = fixed_units(machine);
    std::vector<std::size_t> start(kChains);
    for (std::size_t c = 0; c < kChains; ++c) start[c] = kFixedAt[c % 2];
    Chains chains = chains_at(truth, start);
    for (int s = 0; s < 40; ++s) step(Gibbs{fixed}, machine, chains, Key{25}, {});
    for (const std::size_t first : {0u, 1u}) {
      const std::vector<double> p = truth.given(fixed, first, kFixedAt[first]);
      const test::ChiSquare far = distance(machine, chains_at(truth, start), p, first, 2);
      EXPECT_GT(far.value, 10 * far.critical()) << "the start is not far";
      const test::ChiSquare found = distance(machine, chains, p, first, 2);
      EXPECT_LT(found.value, found.critical());
      for (std::size_t c = first; c < kChains; c += 2) {
        for (std::size_t i = 0; i < fixed.cols(); ++i) {
          if (fixed.get(c, i)) {
            ASSERT_EQ(chains.layers[0].value(c, i), truth.all().value(kFixedAt[first], i));
          }
        }
      }
    }
  });
}

TEST(BoltzmannLaws, ASlightlyWrongMachineWouldBeFound) {
  // A coupling that is off by d adds chains * d^2 * variance(x_i x_j) to chi-square, which is 63 without it and
  // critical at 103. With d = 0.2 / gap, of fair coins, that is 300 for {0,1} units (variance 3/16) and 400 for spins;
  // with twice that for letters, of which there are four (variance 15/256), 375.
  for_each_sampled_machine([](const Boltzmann& machine) {
    const BoltzmannTruth truth(machine);
    Boltzmann wrong = machine;
    const float off = (letters_of(machine.units()) > 0 ? 0.4f : 0.2f) / levels_of(machine.units()).gap();
    wrong.update([&](Parameters& p) { p["couplings"][0] += off; }, {});
    Chains chains = exact_draws(truth);
    for (int s = 0; s < 5; ++s) step(Gibbs{}, wrong, chains, Key{22}, {});
    const test::ChiSquare found = distance(machine, chains, truth.p());
    EXPECT_GT(found.value, found.critical());
  });
}

}  // namespace
}  // namespace ergodic
