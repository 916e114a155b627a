#include "ergodic/estimator/likelihood.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"

namespace ergodic {
namespace {

TEST(Likelihood, AgreesWithBruteForceForEveryPairing) {
  test::for_each_pairing([](std::string_view visible, std::string_view hidden) {
    const Rbm rbm = test::random_machine(make_layer(visible, 6), make_layer(hidden, 5), 0.8, 1);
    const test::BruteForce truth(rbm);
    const State rows = test::states_of({3, 9, 60, 9}, 6, levels_of(rbm.visible()));
    double exact = 0.0;
    for (const std::size_t x : {3u, 9u, 60u, 9u}) exact += std::log(truth.probability(x)) / 4;
    const Judgement found = judge(rbm, rows, Key{2}, {});
    ASSERT_TRUE(found.log_likelihood && found.log_z);
    EXPECT_NEAR(found.log_likelihood->value, exact, 1e-9);
    EXPECT_EQ(found.log_likelihood->lower, found.log_likelihood->value);
    EXPECT_EQ(found.log_likelihood->upper, found.log_likelihood->value);
    EXPECT_EQ(found.log_likelihood->standard_error, 0.0);
    EXPECT_EQ(found.log_z->method, "exact");
    EXPECT_NEAR(found.log_z->value, truth.log_z(), 1e-9);
  });
}

TEST(Likelihood, SaysNothingWhereItCannotEnumerate) {
  const Rbm rbm(Bernoulli{40}, Bernoulli{31});
  const Judgement found = judge(rbm, State(3, 40, Bernoulli::kLevels), Key{2}, {});
  EXPECT_FALSE(found.log_z.has_value());
  EXPECT_FALSE(found.log_likelihood.has_value());
  EXPECT_NEAR(found.free_energy->mean.value, -31 * std::log(2.0), 1e-9);
  EXPECT_NEAR(*found.pseudo_log_likelihood, -40 * std::log(2.0), 1e-9);
}

}  // namespace
}  // namespace ergodic
