#include "ergodic/model/rbm.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/model/rbm_pseudo_likelihood.hpp"
#include "ergodic/model/reconstruction.hpp"

namespace ergodic {
namespace {

TEST(Rbm, ItsParametersAreOneBufferWithThreeSlots) {
  const Rbm rbm(Bernoulli{5}, Spin{3});
  ASSERT_EQ(rbm.parameters().slots().size(), 3u);
  EXPECT_EQ(rbm.parameters().values().size(), 5u * 3 + 5 + 3);
  EXPECT_EQ(rbm.parameters().slot("weights").shape, (std::vector<std::size_t>{5, 3}));
  EXPECT_EQ(rbm.parameters().slot("visible_bias").offset, 15u);
  EXPECT_EQ(rbm.parameters().slot("hidden_bias").offset, 20u);
  EXPECT_THROW(rbm.parameters().slot("temperature"), std::logic_error);
}

TEST(Rbm, FreeEnergiesAreTheSameAcrossChunksOfRows) {
  const Rbm rbm = test::random_machine(Bernoulli{6}, Bernoulli{4}, 1.0, 1);
  std::vector<std::size_t> many(2500);
  for (std::size_t r = 0; r < many.size(); ++r) many[r] = r % 64;
  const std::vector<double> all = rbm.free_energy(test::states_of(many, 6, Bernoulli::kLevels), {});
  const std::vector<double> few =
      rbm.free_energy(test::states_of({many.begin(), many.begin() + 64}, 6, Bernoulli::kLevels), {});
  for (std::size_t r = 0; r < many.size(); ++r) ASSERT_EQ(all[r], few[r % 64]);
}

TEST(Rbm, TheProbabilityOfAUnitGivenTheRestFollowsFromFreeEnergies) {
  for (const Layer& visible : {Layer{Bernoulli{6}}, Layer{Spin{6}}}) {
    for (const Layer& hidden : {Layer{Bernoulli{11}}, Layer{Spin{11}}}) {
      const Rbm rbm = test::random_machine(visible, hidden, 1.0, 4);
      for (std::size_t x = 0; x < 64; ++x) {
        const State row = test::states_of({x}, 6, levels_of(visible));
        Matrix<std::uint32_t> units(1, 6);
        for (std::uint32_t i = 0; i < 6; ++i) units(0, i) = i;
        const Matrix<double> logs = rbm.site_log_probabilities(row, units, {});
        for (std::size_t i = 0; i < 6; ++i) {
          const State flipped = test::states_of({x ^ (std::size_t{1} << i)}, 6, levels_of(visible));
          const double cost = rbm.free_energy(flipped, {})[0] - rbm.free_energy(row, {})[0];
          ASSERT_NEAR(logs(0, i), -std::log1p(std::exp(-cost)), 1e-10);
        }
      }
    }
  }
}

TEST(Proxies, PseudoLikelihoodIsTheSumOfConditionals) {
  // Over many draws of the random unit, the mean approaches sum_i log p(x_i | rest).
  const Rbm rbm = test::random_machine(Bernoulli{4}, Bernoulli{3}, 1.0, 2);
  const test::BruteForce truth(rbm);
  const std::size_t x = 11;
  double exact = 0.0, spread = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    const double here = truth.probability(x), flipped = truth.probability(x ^ (std::size_t{1} << i));
    exact += std::log(here / (here + flipped));
    spread = std::max(spread, 4 * std::abs(std::log(here / (here + flipped))));
  }
  const State rows = test::states_of(std::vector<std::size_t>(20000, x), 4, Bernoulli::kLevels);
  double sum = 0.0;
  for (const double v : pseudo_log_likelihood(rbm, rows, Key{3}, 0, {})) sum += v;
  // Each term lies in [-spread, 0], so its standard deviation is at most spread/2; 4 standard errors.
  EXPECT_NEAR(sum / 20000, exact, 4 * spread / 2 / std::sqrt(20000.0));
}

TEST(Proxies, PseudoLikelihoodOfFewRowsIsExact) {
  const Rbm rbm = test::random_machine(Bernoulli{6}, Spin{3}, 1.0, 2);
  const test::BruteForce truth(rbm);
  for (std::size_t x = 0; x < 64; ++x) {
    double exact = 0.0;
    for (std::size_t i = 0; i < 6; ++i) {
      const double here = truth.probability(x), flipped = truth.probability(x ^ (std::size_t{1} << i));
      exact += std::log(here / (here + flipped));
    }
    const State row = test::states_of({x}, 6, Bernoulli::kLevels);
    EXPECT_NEAR(pseudo_log_likelihood(rbm, row, Key{3}, 0, {})[0], exact, 1e-9);
  }
}

TEST(Proxies, ReconstructionErrorIsNothingForAMachineThatCopies) {
  // Each hidden unit copies its visible one with overwhelming weight.
  Rbm rbm(Spin{8}, Spin{8});
  rbm.update(
      [](Parameters& p) {
        for (std::size_t i = 0; i < 8; ++i) p["weights"][i * 8 + i] = 50.0f;
      },
      {});
  std::vector<std::size_t> rows(256);
  for (std::size_t r = 0; r < 256; ++r) rows[r] = r;
  EXPECT_EQ(reconstruction_error(rbm, test::states_of(rows, 8, Spin::kLevels), Key{4}, 0, {}), 0.0);
  // And a half for one that forgets: 4 standard errors of 2048 coins.
  EXPECT_NEAR(reconstruction_error(Rbm(Spin{8}, Spin{8}), test::states_of(rows, 8, Spin::kLevels), Key{4}, 0, {}), 0.5,
              4 * 0.5 / std::sqrt(2048.0));
}

}  // namespace
}  // namespace ergodic
