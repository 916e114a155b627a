#include "ergodic/model/hidden_given_visible.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "boltzmann_machines.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

Boltzmann with_hidden(const Layer& units, const Graph& graph, std::size_t visible) {
  const Boltzmann random = test::random_boltzmann(units, graph, 1.0, 3);
  Boltzmann out(units, graph, visible);
  out.update([&](Parameters& p) { p = random.parameters(); }, {});
  return out;
}

/// E(x, v) is that of x alone and that of v with the fields that x leaves, for all states.
void expect_parts_of_the_energy(const Boltzmann& machine) {
  const State all = test::all_states(machine.units());
  const HiddenFields given(machine, machine.visible_part(all), {});
  const std::vector<double> expected = machine.energy(all, {});
  for (std::size_t s = 0; s < all.chains(); ++s) {
    Boltzmann hidden = hidden_machine(machine);
    hidden.update([&](Parameters& p) { std::ranges::copy(given.fields.row(s), p["bias"].begin()); }, {});
    State v = hidden.make_state(1);
    for (std::size_t i = 0; i < v.units(); ++i) v.bits().set(0, i, all.bits().get(s, machine.visible() + i));
    // Biases are rounded to float.
    EXPECT_NEAR(given.energies[s] + hidden.energy(v, {})[0], expected[s], 1e-5);
  }
}

TEST(Clamped, EnergiesOfBothPartsAddUp) {
  expect_parts_of_the_energy(with_hidden(Bernoulli{8}, dense_graph(8), 3));
  expect_parts_of_the_energy(with_hidden(Spin{9}, grid_graph(3, 3, Border::kPeriodic), 4));
  expect_parts_of_the_energy(with_hidden(Spin{10}, random_graph(10, 3.0, Key{1}), 1));
  expect_parts_of_the_energy(with_hidden(Potts{12, 3}, site_graph(dense_graph(4), 3), 3));
  expect_parts_of_the_energy(with_hidden(Potts{15, 3}, site_graph(grid_graph(1, 5, Border::kOpen), 3), 6));
}

TEST(Clamped, TakesMatricesWhereManyAreCoupled) {
  // Two layers of hidden units, every one of the first with every one of the second: 9 of 15 pairs.
  std::vector<std::pair<std::size_t, std::size_t>> pairs{{0, 1}};
  for (std::size_t i = 1; i < 4; ++i) {
    for (std::size_t j = 4; j < 7; ++j) pairs.emplace_back(i, j);
  }
  const Boltzmann layers = with_hidden(Bernoulli{7}, graph_from_edges(7, pairs), 1);
  EXPECT_EQ(hidden_machine(layers).graph(), dense_graph(6));
  expect_parts_of_the_energy(layers);
  const Boltzmann chain = with_hidden(Bernoulli{40}, grid_graph(1, 40, Border::kOpen), 10);
  EXPECT_EQ(hidden_machine(chain).graph(), grid_graph(1, 30, Border::kOpen));
}

TEST(Clamped, RefusesRowsOfAnotherSize) {
  const Boltzmann machine = with_hidden(Bernoulli{6}, dense_graph(6), 3);
  EXPECT_THROW(HiddenFields(machine, State(2, 4, Bernoulli::kLevels), {}), UsageError);
}

}  // namespace
}  // namespace ergodic
