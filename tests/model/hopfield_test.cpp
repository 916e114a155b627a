#include "ergodic/model/hopfield.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "model/patterns.hpp"

namespace ergodic {
namespace {

/// The message with which two coupled units are refused after a change.
template <class Change>
std::string refused_after(const Change& change) {
  Matrix<float> couplings(3, 3);
  std::vector<float> bias(3);
  couplings(0, 2) = couplings(2, 0) = 0.5f;
  change(couplings, bias);
  return message_of<UsageError>([&] { Hopfield(couplings, bias); });
}

TEST(Hopfield, EnergiesAndFieldsAreThoseOfTheDefinition) {
  for (const std::size_t units : {1u, 2u, 9u, 70u}) {
    const Hopfield network = test::random_network(units, units);
    const State rows = test::random_patterns(20, units, 7);
    const std::vector<double> energies = network.energy(rows, {});
    const Matrix<double> fields = network.fields(rows, {});
    for (std::size_t r = 0; r < 20; ++r) {
      ASSERT_EQ(energies[r], test::defined_energy(network, rows, r));  // every sum is exact
      for (std::size_t i = 0; i < units; ++i) {
        State flipped = rows;
        flipped.bits().set(r, i, !rows.bits().get(r, i));
        const double change = test::defined_energy(network, flipped, r) - energies[r];
        ASSERT_EQ(change, 2.0 * rows.value(r, i) * fields(r, i));
      }
    }
  }
}

TEST(Hopfield, NoFieldIsLargerThanTheLargest) {
  const Hopfield network = test::random_network(8, 3);
  State rows(256, 8, Spin::kLevels);
  for (std::size_t x = 0; x < 256; ++x) rows.bits().row(x)[0] = x;
  const Matrix<double> fields = network.fields(rows, {});
  for (std::size_t i = 0; i < 8; ++i) {
    double largest = 0.0;
    for (std::size_t x = 0; x < 256; ++x) largest = std::max(largest, std::abs(fields(x, i)));
    EXPECT_EQ(largest, network.largest_fields()[i]);
  }
}

TEST(Hopfield, CouplingsThatAreNoNetworkAreRefused) {
  using Couplings = Matrix<float>;
  using Bias = std::vector<float>;
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  expect_parts(refused_after([](Couplings& w, Bias&) { w(0, 2) = 0.25f; }), {"symmetric", "0.25", "(0, 2)", "0.5"});
  expect_parts(refused_after([](Couplings& w, Bias&) { w(1, 1) = 1.0f; }), {"diagonal", "1", "(1, 1)"});
  expect_parts(refused_after([&](Couplings& w, Bias&) { w(0, 1) = w(1, 0) = nan; }), {"couplings", "(0, 1)", "finite"});
  expect_parts(refused_after([&](Couplings& w, Bias&) { w(2, 2) = nan; }), {"couplings", "(2, 2)", "finite"});
  expect_parts(refused_after([&](Couplings&, Bias& b) { b[1] = infinity; }), {"bias", "element 1", "finite"});
  expect_parts(refused_after([](Couplings&, Bias& b) { b.pop_back(); }), {"2 biases", "3 x 3"});
  expect_parts(refused_after([](Couplings& w, Bias&) { w = Couplings(3, 2); }), {"3 biases", "3 x 2"});
  expect_parts(refused_after([](Couplings& w, Bias& b) { w = {}, b = {}; }), {"at least 1", "0 x 0"});
}

TEST(Hopfield, ANegativeZeroOnTheDiagonalIsZero) {
  Matrix<float> couplings(2, 2);
  couplings(0, 0) = -0.0f;
  EXPECT_EQ(Hopfield(couplings, {0.0f, 0.0f}).units(), 2u);
}

}  // namespace
}  // namespace ergodic
