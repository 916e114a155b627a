#include "ergodic/sampler/clamped_start.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "deep_machines.hpp"

namespace ergodic {
namespace {

/// The hidden units of chains at a row follow p(hidden | row).
TEST(ClampedStart, DrawsTheHiddenUnitsGivenTheRow) {
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>{3, 2, 2}, std::vector<std::size_t>{2, 2, 2, 2}}) {
    const DeepBoltzmann machine = test::some_deep(sizes, 1.0, 7);
    const std::size_t n = sizes[0], row = 1, hidden = test::units_of_all(machine) - n;
    constexpr std::size_t kChains = 20000;
    State rows(kChains, n, Bernoulli::kLevels);
    for (std::size_t r = 0; r < kChains; ++r) rows.bits().set(r, 0, true);
    const Chains found = clamped_start(machine, rows, Key{2}, {});
    EXPECT_EQ(found.sweep, 0u);
    EXPECT_EQ(machine.visible_part(found.layers[0]), rows);
    std::vector<std::size_t> counts(std::size_t{1} << hidden);
    std::vector<State> parts;
    for (std::size_t k = 1; k < sizes.size(); ++k) parts.push_back(machine.layer_part(found.layers, k));
    for (std::size_t r = 0; r < kChains; ++r) {
      std::size_t index = 0, shift = 0;
      for (const State& part : parts) {
        index |= test::index_of(part, r) << shift;
        shift += part.units();
      }
      ++counts[index];
    }
    std::vector<double> probabilities;
    const double log_sum = test::log_sum_at(machine, row);
    for (std::size_t h = 0; h < counts.size(); ++h) {
      probabilities.push_back(std::exp(-test::energy_of(machine, test::layers_of(machine, row | (h << n))) - log_sum));
    }
    const test::ChiSquare far = test::chi_square(counts, probabilities);
    EXPECT_LT(far.value, far.critical());
  }
}

}  // namespace
}  // namespace ergodic
