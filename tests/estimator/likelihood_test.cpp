#include "ergodic/estimator/likelihood.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/model/exact_rbm.hpp"

namespace ergodic {
namespace {

TEST(Likelihood, AgreesWithBruteForceForEveryPairing) {
  test::for_each_pairing([](std::string_view visible, std::string_view hidden) {
    const Rbm rbm = test::random_machine(make_layer(visible, 6), make_layer(hidden, 5), 0.8, 1);
    const test::BruteForce truth(rbm);
    const State rows = test::states_of({3, 9, 60, 9}, 6, levels_of(rbm.visible()));
    double exact = 0.0;
    for (const std::size_t x : {3u, 9u, 60u, 9u}) exact += std::log(truth.probability(x)) / 4;
    Evaluation found;
    found.set_free_energies(rbm.free_energy(rows, {}));
    EXPECT_FALSE(found.log_likelihood.has_value());
    found.set_log_z(exactly(*exact_log_z(rbm, {})));
    ASSERT_TRUE(found.log_likelihood && found.log_z);
    EXPECT_NEAR(found.log_likelihood->value, exact, 1e-9);
    EXPECT_EQ(found.log_likelihood->lower, found.log_likelihood->value);
    EXPECT_EQ(found.log_likelihood->upper, found.log_likelihood->value);
    EXPECT_EQ(found.log_likelihood->standard_error, 0.0);
    EXPECT_EQ(found.log_z->method, "exact");
    EXPECT_NEAR(found.log_z->value, truth.log_z(), 1e-9);
  });
}

TEST(Likelihood, IsThereAsSoonAsBothOfItsPartsAreInEitherOrder) {
  Evaluation found;
  found.set_log_z({2.0, 1.5, 2.25, 0.1, "annealing"});
  EXPECT_FALSE(found.log_likelihood.has_value());
  found.set_free_energies({-3.0, -5.0});
  ASSERT_TRUE(found.log_likelihood.has_value());
  EXPECT_DOUBLE_EQ(found.log_likelihood->value, 2.0);
  EXPECT_DOUBLE_EQ(found.log_likelihood->lower, 1.75);
  EXPECT_DOUBLE_EQ(found.log_likelihood->upper, 2.5);
  EXPECT_DOUBLE_EQ(found.free_energy->row_error, 1.0);  // two values that differ by 2
  EXPECT_EQ(found.free_energy->rows, 2u);
}

TEST(Likelihood, ThePseudoLikelihoodHasTheErrorOfItsRows) {
  Evaluation found;
  found.set_pseudo_log_likelihoods({-3.0, -5.0});
  EXPECT_DOUBLE_EQ(*found.pseudo_log_likelihood, -4.0);
  EXPECT_DOUBLE_EQ(found.pseudo_standard_error, 1.0);
}

}  // namespace
}  // namespace ergodic
