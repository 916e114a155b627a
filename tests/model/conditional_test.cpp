#include "ergodic/model/conditional.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_rbm.hpp"

namespace ergodic {
namespace {

using test::all_states;

/// A mask of sites, the bits of `pattern`.
Bits mask_of(const Layer& layer, std::size_t rows, std::size_t pattern) {
  Bits out(rows, units_of(layer));
  const std::vector<Site> all = sites(layer);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      for (std::size_t u = 0; u < all[s].size; ++u) out.set(r, all[s].first + u, (pattern >> s) & 1u);
    }
  }
  return out;
}

bool agree(const State& a, std::size_t i, const State& b, std::size_t j, const Bits& known) {
  for (std::size_t u = 0; u < known.cols(); ++u) {
    if (known.get(0, u) && a.bits().get(i, u) != b.bits().get(j, u)) return false;
  }
  return true;
}

/// The log of the sum of exp(-energies) over the states that agree with one of them where it is known.
double log_sum_over_open(const State& all, const std::vector<double>& energies, std::size_t row, const Bits& known) {
  double sum = 0.0;
  for (std::size_t s = 0; s < all.chains(); ++s) {
    if (agree(all, s, all, row, known)) sum += std::exp(-energies[s] + energies[row]);
  }
  return std::log(sum) - energies[row];
}

TEST(Conditional, OfAnRbmSumsOverWhatIsOpen) {
  for (const Layer& visible : test::discrete_layers(4)) {
    for (const Layer& hidden : test::layers_of_one_part(3)) {
      const Rbm rbm = test::random_machine(visible, hidden, 0.7, 5);
      const State all = all_states(visible);
      const std::vector<double> energies = rbm.free_energy(all, {});
      if (real_valued(hidden)) continue;  // log Z is a sum over the smaller layer, which the open one need not be
      for (std::size_t pattern = 0; pattern < 15; ++pattern) {
        const Bits known = mask_of(visible, all.chains(), pattern);
        const std::size_t row = (pattern * 7) % all.chains();
        const Conditional<Rbm> found = conditional(rbm, all, known, row);
        EXPECT_EQ(sites_of(found.open.visible()), 4u - static_cast<std::size_t>(std::popcount(pattern)));
        // Biases of the open machine are floats: 3 of them, and sums of 4 units of a few units each.
        EXPECT_NEAR(*exact_log_z(found.open, {}) - found.energy, log_sum_over_open(all, energies, row, known), 1e-5)
            << name_of(visible) << " " << name_of(hidden) << " " << pattern;
      }
    }
  }
}

TEST(Conditional, OfAnRbmWithRealUnitsSumsOverTheHiddenOnes) {
  const Rbm rbm = test::random_machine(Gaussian{3}, Bernoulli{2}, 0.5, 3);
  Matrix<float> rows(1, 3);
  rows(0, 0) = 0.4f;
  rows(0, 1) = -1.1f;
  rows(0, 2) = 0.3f;
  const State row(rows);
  Bits known(1, 3);
  known.set(0, 0, true);
  known.set(0, 2, true);
  const Conditional<Rbm> found = conditional(rbm, row, known, 0);
  // The integral over the one open unit by the trapezoidal rule, which is exact for such densities up to rounding.
  double sum = 0.0;
  constexpr double kStep = 0.01;
  for (int k = -4000; k <= 4000; ++k) {
    rows(0, 1) = static_cast<float>(k * kStep);
    sum += kStep * std::exp(-rbm.free_energy(State(rows), {})[0]);
  }
  EXPECT_NEAR(*exact_log_z(found.open, {}) - found.energy, std::log(sum), 1e-5);
}

TEST(Conditional, OfAMachineOnAGraphSumsOverOpenAndHiddenUnits) {
  std::vector<Graph::Pair> ring{{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}};
  const Boltzmann machines[] = {test::random_boltzmann(Bernoulli{5}, dense_graph(5), 0.6, 1),
                                test::random_boltzmann(Spin{5}, Graph(5, ring), 0.6, 2),
                                test::random_boltzmann(Potts{12, 3}, site_graph(dense_graph(4), 3), 0.6, 3)};
  for (const Boltzmann& whole : machines) {
    const std::size_t size = sites(whole.units())[0].size;
    Boltzmann machine(whole.units(), whole.graph(), units_of(whole.units()) - size);  // the last site is hidden
    machine.update([&](Parameters& p) { p = whole.parameters(); }, {});
    const State all = all_states(machine.visible_layer());
    const std::vector<double> energies = *exact_free_energy(machine, all, {});
    for (std::size_t pattern = 0; pattern < 8; ++pattern) {
      const Bits known = mask_of(machine.visible_layer(), all.chains(), pattern);
      const std::size_t row = (pattern * 5 + 1) % all.chains();
      const Conditional<Boltzmann> found = conditional(machine, all, known, row);
      EXPECT_NEAR(*exact_log_z(found.open, {}) - found.energy, log_sum_over_open(all, energies, row, known), 1e-5)
          << name_of(machine.units()) << " " << pattern;
    }
  }
}

}  // namespace
}  // namespace ergodic
