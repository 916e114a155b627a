#include "ergodic/estimator/annealing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/target.hpp"

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

}  // namespace
}  // namespace ergodic
