#include "ergodic/model/exact_rbm.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

TEST(ExactLogZ, AMachineOfZerosCountsItsStates) {
  for (const std::size_t hidden : {1u, 5u, 7u, 13u}) {
    EXPECT_NEAR(*exact_log_z(Rbm(Bernoulli{100}, Bernoulli{hidden}), {}),
                static_cast<double>(100 + hidden) * std::numbers::ln2, 1e-10);
    EXPECT_NEAR(*exact_log_z(Rbm(Spin{hidden}, Spin{100}), {}), static_cast<double>(100 + hidden) * std::numbers::ln2,
                1e-10);
  }
}

TEST(ExactLogZ, IsTheSameWhicheverLayerIsEnumerated) {
  // 9 x 11 and its mirror 11 x 9: the first enumerates the visible side, the second the hidden one.
  const Rbm rbm = test::random_machine(Bernoulli{9}, Spin{11}, 0.7, 3);
  Rbm mirror(Spin{11}, Bernoulli{9});
  mirror.update(
      [&](Parameters& p) {
        for (std::size_t i = 0; i < 9; ++i) {
          for (std::size_t j = 0; j < 11; ++j) p["weights"][j * 9 + i] = rbm.weights()(i, j);
          p["hidden_bias"][i] = rbm.visible_bias()[i];
        }
        std::copy(rbm.hidden_bias().begin(), rbm.hidden_bias().end(), p["visible_bias"].begin());
      },
      {});
  EXPECT_NEAR(*exact_log_z(rbm, {}), *exact_log_z(mirror, {}), 1e-10);
  EXPECT_NEAR(*exact_log_z(rbm, {}), test::BruteForce(rbm).log_z(), 1e-9);
}

TEST(ExactLogZ, HoldsForWeightsFromTinyToHuge) {
  // Up to 20 the factors are multiplied, above they overflow and each term takes its own logarithm.
  for (const double scale : {1e-4, 1.0, 20.0, 100.0, 1000.0}) {
    for (const std::size_t visible : {3u, 8u, 9u}) {
      const Rbm rbm = test::random_machine(Bernoulli{visible}, Bernoulli{7}, scale, 4);
      const double truth = test::BruteForce(rbm).log_z();
      EXPECT_NEAR(*exact_log_z(rbm, {}), truth, 1e-10 * std::max(1.0, std::abs(truth))) << scale;
    }
  }
}

TEST(ExactLogZ, IsTheSameForAnyNumberOfThreads) {
  const Rbm rbm = test::random_machine(Bernoulli{40}, Bernoulli{14}, 0.3, 5);
  const double alone = *exact_log_z(rbm, {});
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    EXPECT_EQ(*exact_log_z(rbm, Context{&threads}), alone);
  }
}

TEST(ExactLogZ, RefusesWhatCannotBeEnumeratedAndStopsWhenAsked) {
  EXPECT_THROW(exact_log_z(Rbm(Bernoulli{100}, Bernoulli{31}), {}), UsageError);
  EXPECT_THROW(exact_statistics(Rbm(Bernoulli{100}, Bernoulli{19}), {}), UsageError);
  struct Impatient : Observer {
    bool stop_requested() override { return true; }
  } impatient;
  EXPECT_FALSE(exact_log_z(Rbm(Bernoulli{10}, Bernoulli{10}), Context{nullptr, &impatient}).has_value());
}

TEST(ExactStatistics, AgreeWithBruteForceWhenSeveralChunksAreNeeded) {
  const Rbm rbm = test::random_machine(Bernoulli{14}, Spin{13}, 0.2, 6);  // 2^13 states: two chunks
  Statistics found = exact_statistics(rbm, {});
  // E[x_i] by the derivative of log Z with respect to its bias.
  for (const std::size_t i : {0u, 7u, 13u}) {
    Rbm moved = rbm;
    const auto log_z_at = [&](float bias) {
      moved.update([&](Parameters& p) { p["visible_bias"][i] = bias; }, {});
      return *exact_log_z(moved, {});
    };
    const float up = rbm.visible_bias()[i] + 1e-3f, down = rbm.visible_bias()[i] - 1e-3f;
    const double slope = (log_z_at(up) - log_z_at(down)) / (double{up} - down);
    // h^2/6 times the third cumulant of a {0,1} unit (below 0.1) is 2e-8; means are floats, good to 6e-8.
    EXPECT_NEAR(found[14 * 13 + i], slope, 1e-6);
  }
}

}  // namespace
}  // namespace ergodic
