#include "ergodic/estimator/mixing.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{3};

MixingReport watch_a_run(const Rbm& model, std::size_t count, std::uint64_t sweeps, const Context& context = {}) {
  Chains chains = independent_start(model, count, kKey, context);
  MixingWatch watch(watched_numbers(model), count, sweeps, true);
  while (chains.sweep < sweeps) {
    step(Gibbs{}, model, chains, kKey, context);
    watch.look(chains, context);
  }
  return watch.report();
}

void expect_same(const Diagnosis& a, const Diagnosis& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.standard_error, b.standard_error);
  EXPECT_EQ(a.r_hat, b.r_hat);
  EXPECT_EQ(a.ess_bulk, b.ess_bulk);
  EXPECT_EQ(a.ess_tail, b.ess_tail);
  EXPECT_EQ(a.autocorrelation_time, b.autocorrelation_time);
}

TEST(Mixing, DiagnosesTheSecondHalfOfTheFirstChains) {
  // After 400 of 801 sweeps, at most 200 draws of the other 401: every third sweep up to the last, 402 to 801.
  const Rbm model = test::random_machine(Spin{70}, Bernoulli{9}, 0.3, 5);
  Chains chains = independent_start(model, 20, kKey, {});
  Matrix<double> free_energy(16, 134), activity(16, 134);
  for (std::size_t draw = 0; draw < 134;) {
    step(Gibbs{}, model, chains, kKey, {});
    if (chains.sweep <= 400 || chains.sweep % 3 != 0) continue;
    const State& visible = chains.layers[Rbm::kVisible];
    const std::vector<double> found = model.free_energy(visible, {});
    for (std::size_t chain = 0; chain < 16; ++chain) {
      free_energy(chain, draw) = found[chain];
      for (std::size_t i = 0; i < 70; ++i) activity(chain, draw) += visible.bits().get(chain, i) ? 1.0 : 0.0;
      activity(chain, draw) = 2.0 * (activity(chain, draw) / 70) - 1.0;  // of spins, the magnetisation
    }
    ++draw;
  }
  ASSERT_EQ(chains.sweep, 801u);
  const MixingReport report = watch_a_run(model, 20, 801);
  EXPECT_EQ(report.chains, 16u);
  EXPECT_EQ(report.draws, 134u);
  EXPECT_EQ(report.every, 3u);
  ASSERT_EQ(report.quantities.size(), 5u);
  EXPECT_EQ(report.quantities[0].name, "free energy");
  EXPECT_EQ(report.quantities[1].name, "magnetisation");
  for (const std::size_t k : {0u, 1u}) {
    Diagnosis expected = diagnose(k == 0 ? free_energy : activity);
    expected.autocorrelation_time *= 3.0;  // in sweeps
    expect_same(report.quantities[k].diagnosis, expected);
  }
}

TEST(Mixing, FewerChainsGiveMoreDrawsEach) {
  const Rbm model = test::random_machine(Bernoulli{5}, Bernoulli{4}, 0.3, 6);
  struct Case {
    std::size_t count;
    std::uint64_t sweeps;
    std::size_t chains, draws;
    std::uint64_t every;
  };
  for (const Case c : {Case{1, 6400, 1, 3200, 1}, Case{1, 6402, 1, 1601, 2}, Case{4, 1600, 4, 800, 1},
                       Case{16, 400, 16, 200, 1}, Case{17, 402, 16, 101, 2}, Case{100, 15, 16, 8, 1}}) {
    const MixingReport report = watch_a_run(model, c.count, c.sweeps);
    EXPECT_EQ(report.chains, c.chains);
    EXPECT_EQ(report.draws, c.draws);
    EXPECT_EQ(report.every, c.every);
    EXPECT_EQ(report.quantities.size(), 5u);
  }
}

TEST(Mixing, DirectionsAreThoseAlongWhichHiddenUnitsPull) {
  // Weights of rank two: 3 a c' + 2 b d' with a, b and c, d orthonormal have the singular vectors a and b.
  constexpr float kHalf = 0.5f, kRoot = 0.70710678f;
  const std::vector<float> a{kHalf, kHalf, kHalf, kHalf}, b{kRoot, 0.0f, -kRoot, 0.0f};
  Matrix<float> weights(4, 3);
  for (std::size_t i = 0; i < 4; ++i) {
    weights(i, 0) = 3.0f * kRoot * a[i];
    weights(i, 1) = 3.0f * kRoot * a[i];
    weights(i, 2) = 2.0f * b[i];
  }
  const std::vector<WatchedNumber> found = watched_directions(weights);
  ASSERT_EQ(found.size(), 3u);
  const std::vector<std::string> names{"first direction", "second direction", "third direction"};
  State x(8, 4, Levels{});
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::size_t i = 0; i < 4; ++i) x.bits().set(r, i, (r * 5 >> i & 1u) != 0);
  }
  const auto along = [&](const std::vector<float>& direction, std::size_t r) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i) sum += double{direction[i]} * x.value(r, i);
    return sum;
  };
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(found[k].name, names[k]);
    const std::vector<double> sums = found[k].of(x, {});
    for (std::size_t r = 0; r < 8; ++r) {
      // Which way a direction points says nothing. Twenty iterations leave (4/9)^20 of the other, and floats 1e-7.
      const double expected = k == 2 ? 0.0 : along(k == 0 ? a : b, r);
      EXPECT_NEAR(std::abs(sums[r]), std::abs(expected), 1e-6) << k << " " << r;
    }
  }
}

TEST(Mixing, AShortRunIsNotJudged) {
  const Rbm model = test::random_machine(Bernoulli{5}, Bernoulli{4}, 0.3, 6);
  for (const std::uint64_t sweeps : {1u, 2u, 14u}) {
    const MixingReport report = watch_a_run(model, 10, sweeps);
    EXPECT_TRUE(report.quantities.empty());
    EXPECT_EQ(report.verdict.mixing, Mixing::kUnknown);
    EXPECT_NE(sentence(report).find("the run is too short to judge"), std::string::npos);
  }
}

TEST(Mixing, AQuantityThatNeverChangesLeavesTheVerdictToTheOther) {
  const Rbm flat(Bernoulli{12}, Bernoulli{3});  // every state has the same free energy
  const MixingReport report = watch_a_run(flat, 16, 1000);
  EXPECT_EQ(report.quantities[0].verdict.mixing, Mixing::kUnknown);
  EXPECT_EQ(report.quantities[1].verdict.mixing, Mixing::kYes);
  EXPECT_EQ(report.verdict.mixing, Mixing::kYes);
  EXPECT_EQ(sentence(report), "the chains have mixed");
}

/// A report of two numbers with these R-hats, and as many effective draws as needed.
MixingReport report_with(double energy, double activity, double draws = 1000.0) {
  MixingReport out;
  for (const double r_hat : {energy, activity}) {
    const Diagnosis diagnosis{0.0, 0.1, r_hat, draws, draws, 1.0};
    out.quantities.push_back({out.quantities.empty() ? "energy" : "magnetisation", diagnosis, verdict_on(diagnosis)});
  }
  out.verdict = {Mixing::kNo, "as the numbers say"};
  return out;
}

TEST(Mixing, OneLineNamesTheRemedy) {
  EXPECT_EQ(sentence(report_with(1.02, 1.013)),
            "the chains have not mixed (R-hat 1.020, should be below 1.01): more --sweeps are needed; see "
            "docs/mixing.md");
  EXPECT_EQ(sentence(report_with(1.001, 1.001, 175.0)),
            "the chains have not mixed (175 effective draws, should be above 400): more --sweeps are needed; see "
            "docs/mixing.md");
  EXPECT_EQ(sentence(report_with(1.5, 2.2)),
            "the chains have not mixed (R-hat 2.20, should be below 1.01): samples are good to look at, averages over "
            "them are not; see docs/mixing.md");
  // An ordered phase: the energy is that of every valley.
  EXPECT_NE(sentence(report_with(1.001, 1.8)).find("try --sampler tempering"), std::string::npos);
  EXPECT_EQ(sentence(report_with(1.001, 1.8), true).find("tempering"), std::string::npos);
}

TEST(Mixing, ChainsThatStartAlikeAreNotKnownToHaveMixed) {
  const Rbm model = test::random_machine(Bernoulli{12}, Bernoulli{4}, 0.3, 6);
  Chains chains = start_at_visible(model, make_state(model.visible(), 16), kKey, {});
  EXPECT_TRUE(all_alike(chains.layers[0]));
  MixingWatch watch(watched_numbers(model), 16, 1000, true);
  while (chains.sweep < 1000) {
    step(Gibbs{}, model, chains, kKey, {});
    watch.look(chains, {});
  }
  EXPECT_FALSE(all_alike(chains.layers[0]));
  EXPECT_EQ(watch.report().verdict.mixing, Mixing::kYes);
  EXPECT_EQ(watch.report(true).verdict.mixing, Mixing::kUnknown);
  EXPECT_NE(sentence(watch.report(true)).find("all chains started at one state"), std::string::npos);
}

TEST(Mixing, IsTheSameForAnyNumberOfThreads) {
  const Rbm model = test::random_machine(Bernoulli{40}, Bernoulli{30}, 0.3, 7);
  const MixingReport alone = watch_a_run(model, 50, 60);
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    const MixingReport found = watch_a_run(model, 50, 60, Context{&threads});
    for (std::size_t k = 0; k < 5; ++k) expect_same(found.quantities[k].diagnosis, alone.quantities[k].diagnosis);
    EXPECT_EQ(sentence(found), sentence(alone));
  }
}

}  // namespace
}  // namespace ergodic
