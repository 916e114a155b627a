#include "ergodic/estimator/annealing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/estimator/energy_path.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/kernels/target.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/neural.hpp"

namespace ergodic {
namespace {

std::vector<float> some_base(std::size_t units) {
  std::vector<float> out(units);
  for (std::size_t i = 0; i < units; ++i) out[i] = 0.3f * static_cast<float>(i % 5) - 0.6f;
  return out;
}

TEST(Annealing, IsWithinItsErrorOfTheExactLogZForEveryPairing) {
  // z = (estimate - truth) / error of 40 machines of each pairing. The mean of the weights is unbiased and, with
  // weights that differ little, nearly normal: |z| < 4 for all, and z squared is 1 on average. With 160 values its
  // standard error is sqrt(2 / 160) = 0.11, and the bias of a logarithm adds a little.
  double squares = 0.0, sum = 0.0;
  std::size_t count = 0;
  test::for_each_pairing([&](std::string_view visible, std::string_view hidden) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Rbm rbm = test::random_machine(make_layer(visible, 7), make_layer(hidden, 5), 0.5, seed);
      const AnnealedSide found = *annealed_log_z(rbm, some_base(7), {500, 30}, Key{seed}, {});
      ASSERT_GT(found.effective_chains, 200.0);
      const double z = (found.value - test::BruteForce(rbm).log_z()) / found.standard_error;
      ASSERT_LT(std::abs(z), 4.0) << visible << ", " << hidden << ", " << seed;
      squares += z * z;
      sum += z;
      ++count;
    }
  });
  EXPECT_EQ(count, 160u);
  EXPECT_LT(std::abs(sum / 160), 4.0 / std::sqrt(160.0));
  EXPECT_NEAR(squares / 160, 1.0, 4 * 0.11);
}

TEST(Annealing, IsExactForAMachineWithoutCouplings) {
  // The base is the machine itself, so every weight is one.
  Rbm rbm(Bernoulli{6}, Spin{4});
  rbm.update(
      [](Parameters& p) {
        for (float& b : p["visible_bias"]) b = 0.7f;
      },
      {});
  const std::vector<float> base(6, 0.7f);
  const AnnealedSide found = *annealed_log_z(rbm, base, {10, 5}, Key{1}, {});
  EXPECT_NEAR(found.value, 6 * std::log1p(std::exp(double{0.7f})) + 4 * std::log(2.0), 1e-12);
  EXPECT_NEAR(found.standard_error, 0.0, 1e-7);
  EXPECT_NEAR(found.effective_chains, 10.0, 1e-9);
}

TEST(Annealing, IsTheSameOnEveryInstructionSetAndForAnyNumberOfThreads) {
  const Rbm rbm = test::random_machine(Bernoulli{70}, Bernoulli{40}, 0.2, 3);
  const AnnealedSide alone = *annealed_log_z(rbm, some_base(70), {20, 50}, Key{4}, {});
  const std::vector<std::string> targets = available_targets();
  for (const std::string& target : targets) {
    use_target(target);
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      const AnnealedSide found = *annealed_log_z(rbm, some_base(70), {20, 50}, Key{4}, Context{&threads});
      EXPECT_EQ(found.value, alone.value) << target << ", " << count;
      EXPECT_EQ(found.standard_error, alone.standard_error);
    }
  }
  use_target(targets.front());
}

TEST(Annealing, RefusesWhatGivesNoEstimate) {
  const Rbm rbm(Bernoulli{4}, Bernoulli{3});
  EXPECT_THROW(annealed_log_z(rbm, some_base(4), {1, 10}, Key{1}, {}), UsageError);
  EXPECT_THROW(annealed_log_z(rbm, some_base(4), {8, 0}, Key{1}, {}), UsageError);
}

TEST(Annealing, StopsWhenAsked) {
  struct Impatient : Observer {
    std::uint64_t seen = 0;
    void progress(const Progress& p) override { seen = p.done; }
    bool stop_requested() override { return seen >= 3; }
  } observer;
  const Rbm rbm(Bernoulli{4}, Bernoulli{3});
  EXPECT_FALSE(annealed_log_z(rbm, some_base(4), {8, 100}, Key{1}, Context{nullptr, &observer}).has_value());
  EXPECT_EQ(observer.seen, 3u);
}

/// Rows without any pattern.
State some_rows(const Layer& layer, std::size_t count) {
  State out = make_state(layer, count);
  const std::vector<double> fields(units_of(layer));
  const std::vector<float> logs(real_valued(layer) ? fields.size() : 0);
  const std::vector<double> deviations(logs.size(), 1.0);
  for (std::uint32_t r = 0; r < count; ++r) {
    draw(layer, {fields, {logs, deviations}}, {Key{12}.at(Purpose::kTest), r, out, r});
  }
  return out;
}

TEST(Annealer, IsTheSameForAnyNumberOfThreads) {
  const auto found_with = [](const auto& machine, const Layer& visible, const Context& context) {
    const State rows = some_rows(visible, 30);
    const std::unique_ptr<Path> path = path_to(machine, rows, context);
    Annealer annealer(*path, rows, 20, Key{4}, context);
    annealer.round(10, context);
    return *annealer.round(40, context);
  };
  const auto expect_same = [&](const auto& machine, const Layer& visible) {
    const AnnealedLogZ alone = found_with(machine, visible, {});
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      const AnnealedLogZ found = found_with(machine, visible, Context{&threads});
      EXPECT_EQ(found.log_z.value, alone.log_z.value) << count;
      EXPECT_EQ(found.log_z.standard_error, alone.log_z.standard_error) << count;
      EXPECT_EQ(found.log_z.lower, alone.log_z.lower) << count;
      EXPECT_EQ(found.log_z.upper, alone.log_z.upper) << count;
    }
  };
  for (const Layer& visible : {Layer{Bernoulli{40}}, Layer{Potts{40, 4}}, Layer{Gaussian{40}}, Layer{Relu{40}}}) {
    expect_same(test::random_machine(visible, Spin{30}, 0.1, 1), visible);
  }
  expect_same(test::random_boltzmann(Spin{40}, dense_graph(40), 0.1, 1), Spin{40});
  expect_same(test::random_boltzmann(Bernoulli{36}, grid_graph(6, 6, Border::kPeriodic), 0.5, 1), Bernoulli{36});
  expect_same(Neural({std::vector<float>(5), std::vector<float>(5, 1.0f)}, {7}), Gaussian{5});
}

TEST(Annealer, MoreTemperaturesNarrowTheBracket) {
  const Rbm rbm = test::random_machine(Bernoulli{40}, Bernoulli{30}, 0.4, 3);
  const State rows = some_rows(rbm.visible(), 50);
  const std::unique_ptr<Path> path = path_to(rbm, rows, {});
  Annealer annealer(*path, rows, 50, Key{4}, {});
  double width = 1e300;
  for (const std::size_t temperatures : {8u, 64u, 512u}) {
    const AnnealedLogZ found = *annealer.round(temperatures, {});
    EXPECT_EQ(found.temperatures, temperatures);
    EXPECT_LT(found.log_z.lower, found.log_z.upper);
    EXPECT_LT(found.log_z.upper - found.log_z.lower, 0.7 * width) << temperatures;
    width = found.log_z.upper - found.log_z.lower;
  }
}

/// Two states, all spins up or all down, with hardly a way between them once they are cold.
Rbm two_modes() {
  Rbm out(Spin{30}, Spin{10});
  out.update([](Parameters& p) { std::ranges::fill(p["weights"], 0.4f); }, {});
  return out;
}

TEST(Annealer, DoubtsWhatCannotBeTrusted) {
  const Rbm rbm = two_modes();
  const State rows = some_rows(rbm.visible(), 50);
  const std::unique_ptr<Path> path = path_to(rbm, rows, {});
  // Far too few temperatures: weights differ by orders of magnitude.
  EXPECT_FALSE(doubts_about(*Annealer(*path, rows, 50, Key{4}, {}).round(2, {})).empty());
  Annealer patient(*path, rows, 50, Key{4}, {});
  patient.round(100, {});
  EXPECT_TRUE(doubts_about(*patient.round(2000, {})).empty());
}

TEST(Annealer, NoticesThatBackwardChainsWereNoDraws) {
  // The mode that all rows are in is the far smaller one, and chains cannot leave it.
  Rbm rbm = two_modes();
  rbm.update([](Parameters& p) { std::ranges::fill(p["visible_bias"], 0.5f); }, {});
  const State rows(20, 30, Spin::kLevels);
  const std::unique_ptr<Path> path = std::make_unique<RbmPath>(rbm, std::vector<float>(30), Context{});
  Annealer annealer(*path, rows, 50, Key{4}, {});
  annealer.round(100, {});
  const AnnealedLogZ found = *annealer.round(1000, {});
  EXPECT_TRUE(found.contradiction);
  EXPECT_LE(found.log_z.lower, found.backward.value);
  EXPECT_GE(found.log_z.upper, found.forward.value);
  const double truth = *exact_log_z(rbm, {});
  EXPECT_LE(found.log_z.lower, truth);
  EXPECT_GE(found.log_z.upper, truth);
  const std::vector<std::string> doubts = doubts_about(found);
  ASSERT_FALSE(doubts.empty());
  EXPECT_NE(doubts.front().find("contradict"), std::string::npos);
}

TEST(Annealer, StopsWithinARound) {
  struct Impatient : Observer {
    std::uint64_t seen = 0, most = 0;
    void progress(const Progress& p) override { seen = p.done; }
    bool stop_requested() override { return seen >= most; }
  } observer;
  const Rbm rbm(Bernoulli{4}, Bernoulli{3});
  const State rows = some_rows(rbm.visible(), 5);
  const std::unique_ptr<Path> path = path_to(rbm, rows, {});
  for (const std::uint64_t most : {3u, 15u, 115u}) {  // on the way up, at the top, on the way down
    observer = Impatient();
    observer.most = most;
    Annealer annealer(*path, rows, 8, Key{1}, {});
    EXPECT_FALSE(annealer.round(10, Context{nullptr, &observer}).has_value());
    EXPECT_EQ(observer.seen, most);
  }
}

TEST(Ladder, PutsStepsWhereTheLogWeightsSpread) {
  const std::vector<double> equal{0.0, 0.25, 0.5, 0.75, 1.0};
  EXPECT_EQ(ladder_by_spread(equal, std::vector<double>{0, 0, 0, 0}, 4), equal);
  const std::vector<double> same = ladder_by_spread(equal, std::vector<double>{2, 2, 2, 2}, 8);
  for (std::size_t k = 0; k <= 8; ++k) EXPECT_NEAR(same[k], static_cast<double>(k) / 8.0, 1e-12);
  // All of the spread is in the last tenth of a hundred steps.
  std::vector<double> ladder(101), spread(100);
  for (std::size_t k = 0; k <= 100; ++k) ladder[k] = static_cast<double>(k) / 100.0;
  for (std::size_t k = 90; k < 100; ++k) spread[k] = 1.0;
  const std::vector<double> found = ladder_by_spread(ladder, spread, 1000);
  ASSERT_EQ(found.size(), 1001u);
  EXPECT_EQ(found.front(), 0.0);
  EXPECT_EQ(found.back(), 1.0);
  std::size_t late = 0;
  for (std::size_t k = 1; k <= 1000; ++k) {
    EXPECT_GT(found[k], found[k - 1]);
    EXPECT_LT(found[k] - found[k - 1], 0.006);  // a fifth of the steps are equal ones, so none is above 5 / 1000
    late += found[k] > 0.85;
  }
  EXPECT_GT(late, 700u);
}

TEST(Path, StraightAndThroughStationsAreTheSame) {
  // With two stations both paths have the same machines: the same numbers, up to the rounding of parameters to float.
  const Rbm rbm = test::random_machine(Gaussian{6}, Bernoulli{5}, 0.5, 3);
  const State rows = some_rows(rbm.visible(), 20);
  const std::unique_ptr<Path> straight = path_to(rbm, rows, {}), stations = path_through(rbm, {}, rows, {});
  EXPECT_NEAR(straight->base_log_z(), stations->base_log_z(), 1e-9);
  Chains chains = straight->start_at(rows, Key{1}, {});
  std::vector<double> a(20), b(20);
  straight->weigh(0.25, 0.75, chains, a, {});
  stations->weigh(0.25, 0.75, chains, b, {});
  for (std::size_t r = 0; r < 20; ++r) EXPECT_NEAR(a[r], b[r], 1e-5);
}

}  // namespace
}  // namespace ergodic
