#include "ergodic/estimator/independent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ergodic/data/synthetic.hpp"

namespace ergodic {
namespace {

TEST(Independent, OfBitsItIsMinusTheEntropiesOfTheUnits) {
  const Dataset data = shifting_bars(9);
  const double p = 1.0 / 9, entropy = -(p * std::log(p) + (1 - p) * std::log(1 - p));
  for (const std::string_view type : {"bernoulli", "spin"}) {
    const Layer layer = make_layer(type, 9);
    const State rows(data.bits(), levels_of(layer));
    EXPECT_NEAR(independent_log_likelihood(layer, data, rows), -9 * entropy, 1e-9) << type;
  }
}

TEST(Independent, OfLettersItIsMinusTheEntropiesOfTheSites) {
  Dataset data = shifting_bars(6);  // as two sites of three letters each, of which some rows have none
  Bits bits(4, 6);
  for (const auto& [row, unit] : {std::pair{0, 0}, {0, 3}, {1, 1}, {1, 4}, {2, 0}, {2, 5}, {3, 0}, {3, 3}}) {
    bits.set(static_cast<std::size_t>(row), static_cast<std::size_t>(unit), true);
  }
  data.values = bits;
  data.labels.clear();
  data.letters = 3;
  const Layer layer = make_layer("potts", 6, 3);
  const State rows(bits, levels_of(layer));
  // The first site: 3/4, 1/4 and never, which four rows take for 1/6. The second: 1/2, 1/4, 1/4.
  const double never = 1.0 / 6;
  const double site_1 = 0.75 * std::log(0.75 / (1 + never)) + 0.25 * std::log(0.25 / (1 + never));
  const double site_2 = 0.5 * std::log(0.5) + 0.5 * std::log(0.25);
  EXPECT_NEAR(independent_log_likelihood(layer, data, rows), site_1 + site_2, 1e-6);
}

TEST(Independent, OfRealUnitsItIsThatOfNormalDistributions) {
  Dataset data = shifting_bars(2);
  Matrix<float> values(2, 1);
  values(0, 0) = 1.0f;
  values(1, 0) = 5.0f;
  data.values = values;
  data.labels.clear();
  // Mean 3, deviation 2, each row one deviation away.
  EXPECT_NEAR(independent_log_likelihood(Gaussian{1}, data, State(values)),
              -0.5 - std::log(2.0) - 0.5 * std::log(2 * std::numbers::pi), 1e-9);
}

}  // namespace
}  // namespace ergodic
