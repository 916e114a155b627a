#include "ergodic/model/elimination.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

using test::BoltzmannTruth, test::random_boltzmann;
using Edges = std::vector<std::pair<std::size_t, std::size_t>>;

Graph ring(std::size_t units) {
  Edges edges;
  for (std::size_t i = 0; i < units; ++i) edges.push_back({i, (i + 1) % units});
  return graph_from_edges(units, edges);
}

/// All couplings and all biases the same.
Boltzmann uniform(Layer units, Graph graph, float coupling, float bias) {
  Boltzmann out(units, std::move(graph));
  out.update(
      [&](Parameters& p) {
        std::ranges::fill(p["couplings"], coupling);
        std::ranges::fill(p["bias"], bias);
      },
      {});
  return out;
}

/// Rounding grows with the size of what is summed.
void expect_close(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-11 * std::max(1.0, std::abs(expected)));
}

TEST(Elimination, AgreesWithBruteForceOnRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const double scale = seed % 3 == 0 ? 30.0 : 1.0;
    for (const auto type : test::kUnitTypes) {
      const Graph graph = random_graph(11, 0.8 * static_cast<double>(seed), Key{seed});
      const Boltzmann machine = random_boltzmann(make_layer(type, 11), graph, scale, seed);
      expect_close(*exact_log_z(machine, {}), BoltzmannTruth(machine).log_z());
    }
    const Graph sites = random_graph(6, 0.4 * static_cast<double>(seed), Key{seed});
    const Boltzmann machine = random_boltzmann(Potts{18, 3}, site_graph(sites, 3), scale, seed);
    expect_close(*exact_log_z(machine, {}), BoltzmannTruth(machine).log_z());
  }
}

TEST(Elimination, LettersMayBeCoupledInPart) {
  // Of 5 sites of 3 letters, some pairs of letters are coupled and others are not.
  const Boltzmann machine = random_boltzmann(
      Potts{15, 3}, graph_from_edges(15, Edges{{0, 4}, {1, 13}, {2, 3}, {5, 8}, {4, 7}, {6, 9}, {10, 14}}), 1.0, 3);
  expect_close(*exact_log_z(machine, {}), BoltzmannTruth(machine).log_z());
}

TEST(Elimination, UnitsWithoutCouplings) {
  expect_close(*exact_log_z(uniform(Spin{1}, dense_graph(1), 0.0f, 0.5f), {}), std::log(2.0 * std::cosh(0.5)));
  const Graph none = graph_from_edges(3000, Edges{});
  expect_close(*exact_log_z(uniform(Bernoulli{3000}, none, 0.0f, 0.5f), {}), 3000.0 * std::log1p(std::exp(0.5)));
  const Boltzmann letters = uniform(Potts{40, 4}, site_graph(graph_from_edges(10, Edges{}), 4), 0.0f, 0.5f);
  expect_close(*exact_log_z(letters, {}), 10.0 * (0.5 + std::log(4.0)));
}

TEST(Elimination, ChainsRingsAndTreesHaveTheirClosedForms) {
  const double k = 0.75, log_cosh = std::log(2.0 * std::cosh(k)), t = std::tanh(k);
  const Boltzmann chain = uniform(Spin{1000}, grid_graph(1, 1000, Border::kOpen), 0.75f, 0.0f);
  expect_close(*exact_log_z(chain, {}), std::numbers::ln2 + 999.0 * log_cosh);
  expect_close(*exact_log_z(uniform(Spin{1000}, ring(1000), 0.75f, 0.0f), {}),
               1000.0 * log_cosh + std::log1p(std::pow(t, 1000)));
  expect_close(*exact_log_z(uniform(Spin{12}, ring(12), 0.75f, 0.0f), {}),
               12.0 * log_cosh + std::log1p(std::pow(t, 12)));
  Edges tree;
  for (std::size_t i = 1; i < 500; ++i) tree.push_back({(i - 1) / 3, i});
  expect_close(*exact_log_z(uniform(Spin{500}, graph_from_edges(500, tree), 0.75f, 0.0f), {}),
               std::numbers::ln2 + 499.0 * log_cosh);
}

TEST(Elimination, ARingOfLettersHasItsClosedForm) {
  // Potts: equal neighbours have the weight e^J. The transfer matrix has the eigenvalues e^J + q - 1, and e^J - 1 for
  // q - 1 times.
  constexpr std::size_t kSites = 50, kLetters = 5;
  const double j = 1.25;
  Boltzmann machine(Potts{kSites * kLetters, kLetters}, site_graph(ring(kSites), kLetters));
  machine.update(
      [&](Parameters& p) {
        const auto edges = test::edges_of(machine.graph());
        for (std::size_t e = 0; e < edges.size(); ++e) {
          p["couplings"][e] = edges[e].low % kLetters == edges[e].high % kLetters ? 1.25f : 0.0f;
        }
      },
      {});
  const double first = std::exp(j) + 4.0, other = std::exp(j) - 1.0;
  expect_close(*exact_log_z(machine, {}), 50.0 * std::log(first) + std::log1p(4.0 * std::pow(other / first, 50)));
}

TEST(Elimination, LargeBiasesAndCouplingsDoNotOverflow) {
  // A chain that the couplings would align, but that biases of both signs hold: the ground state alone counts, in which
  // the ends win. 3 couplings of 1000, of which one is broken.
  Boltzmann held(Spin{4}, grid_graph(1, 4, Border::kOpen));
  held.update(
      [](Parameters& p) {
        std::ranges::fill(p["couplings"], 1000.0f);
        p["bias"][0] = 3000.0f;
        p["bias"][3] = -3000.0f;
      },
      {});
  // The break may be at any of three places.
  expect_close(*exact_log_z(held, {}), 6000.0 + 1000.0 + std::log(3.0));
  expect_close(*exact_log_z(uniform(Spin{300}, ring(300), -1000.0f, 0.0f), {}), 300e3 + std::numbers::ln2);
  expect_close(*exact_log_z(uniform(Bernoulli{100}, grid_graph(4, 25, Border::kOpen), 1000.0f, -1000.0f), {}),
               1000.0 * (3 * 25 + 4 * 24) - 100e3);
}

TEST(Elimination, ThreadsDoNotChangeABit) {
  // Tables of up to 2^15 entries: several blocks.
  const Boltzmann spins = random_boltzmann(Spin{49}, grid_graph(7, 7, Border::kPeriodic), 0.5, 2);
  const Boltzmann letters = random_boltzmann(Potts{84, 4}, site_graph(grid_graph(3, 7, Border::kPeriodic), 4), 0.5, 2);
  for (const Boltzmann* machine : {&spins, &letters}) {
    const double alone = *exact_log_z(*machine, {});
    for (const std::size_t count : {2u, 3u}) {
      Threads threads(count);
      EXPECT_EQ(*exact_log_z(*machine, Context{&threads}), alone);
    }
  }
}

/// A machine whose hidden units know visible ones alone: hidden unit j all of them.
Boltzmann two_layers(Layer units, std::size_t visible, std::size_t hidden) {
  Edges edges;
  for (std::size_t i = 0; i < visible; ++i) {
    for (std::size_t j = 0; j < hidden; ++j) edges.push_back({i, visible + j});
  }
  Boltzmann out(units, graph_from_edges(visible + hidden, edges), visible);
  const Draw draw = Key{5}.at(Purpose::kTest);
  out.update(
      [&](Parameters& p) {
        for (std::size_t k = 0; k < p.values().size(); ++k) {
          p.values()[k] = static_cast<float>(0.5 * draw.normal(0, static_cast<std::uint32_t>(k)));
        }
      },
      {});
  return out;
}

TEST(Elimination, ManyHiddenUnitsThatDoNotKnowEachOtherHaveAnExactFreeEnergy) {
  const Boltzmann machine = two_layers(Spin{206}, 6, 200);
  const State rows = test::all_states(Spin{6});  // 64 rows, and one more
  State more(65, 6, Spin::kLevels);
  for (std::size_t r = 0; r < 65; ++r) more.set_row(r, rows, r % 64);
  const std::vector<double> found = *exact_free_energy(machine, more, {});
  std::vector<double> expected(65);
  for (std::size_t r = 0; r < 65; ++r) {
    std::vector<double> fields(machine.bias().begin() + 6, machine.bias().end());
    for (std::size_t i = 0; i < 6; ++i) {
      const double x = more.value(r, i);
      expected[r] -= x * double{machine.bias()[i]};
      for (std::size_t j = 0; j < 200; ++j) fields[j] += x * double{machine.couplings()[i * 200 + j]};
    }
    for (const double field : fields) expected[r] -= std::log(2.0 * std::cosh(field));
    expect_close(found[r], expected[r]);
  }
  // Over all visible states they add up to log Z, in which the visible units are summed over too.
  double z = 0.0;
  for (std::size_t r = 0; r < 64; ++r) z += std::exp(expected[0] - expected[r]);
  expect_close(*exact_log_z(machine, {}), std::log(z) - expected[0]);
  Threads threads(3);
  EXPECT_EQ(*exact_free_energy(machine, more, Context{&threads}), found);
}

TEST(Elimination, RefusesWhatIsTooWide) {
  const Boltzmann wide(Spin{900}, grid_graph(30, 30, Border::kPeriodic));
  expect_parts(message_of<UsageError>([&] { (void)exact_log_z(wide, {}); }),
               {"too wide", "neighbours", "pseudo-likelihood", "narrower graph"});
  EXPECT_NE(why_no_exact_log_z(wide), "");
  EXPECT_EQ(why_no_exact_log_z(Boltzmann(Spin{24}, dense_graph(24))), "");
  const Boltzmann hidden(Spin{24}, dense_graph(24), 2);
  expect_parts(message_of<UsageError>([&] { (void)exact_free_energy(hidden, State(1, 2, Spin::kLevels), {}); }),
               {"given the visible units", "21 neighbours", "2^20", "fewer hidden units"});
  expect_parts(message_of<UsageError>([&] { (void)exact_free_energy(hidden, State(1, 3, Spin::kLevels), {}); }),
               {"2 visible units", "found 3"});
}

TEST(Elimination, StopsWhenAsked) {
  struct Impatient : Observer {
    void progress(const Progress& p) override { last = p; }
    bool stop_requested() override { return last.done > 0; }
    Progress last;
  } observer;
  const Context context{nullptr, &observer};
  EXPECT_FALSE(exact_log_z(Boltzmann(Spin{4}, dense_graph(4)), context).has_value());
  EXPECT_EQ(observer.last.done, 16u);
  EXPECT_EQ(observer.last.total, 30u);
  observer.last = {};
  const Boltzmann machine = two_layers(Bernoulli{12}, 2, 10);
  EXPECT_FALSE(exact_free_energy(machine, State(100, 2, Bernoulli::kLevels), context).has_value());
  EXPECT_EQ(observer.last.done, 64u * 20);
  EXPECT_EQ(observer.last.total, 100u * 20);
}

}  // namespace
}  // namespace ergodic
