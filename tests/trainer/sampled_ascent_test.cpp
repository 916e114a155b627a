#include "ergodic/trainer/sampled_ascent.hpp"

#include <gtest/gtest.h>

#include "deep_machines.hpp"

namespace ergodic {
namespace {

Chains random_chains(const Rbm& machine, std::size_t count, std::uint64_t seed) {
  Chains out;
  for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
    out.layers.push_back(machine.make_state(block, count));
    const Draw draw = Key{seed}.at(Purpose::kTest, block);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t i = 0; i < out.layers[block].units(); ++i) {
        out.layers[block].bits().set(r, i,
                                     draw.uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(i)) < 0.4);
      }
    }
  }
  return out;
}

/// One step of a deep machine with three hidden layers against the centred gradient of each pair of neighbours:
///   dW_k = <(x - mu)(y - lambda)'>_data - <...>_model,   db_k = dx - dW_k lambda - dW_{k-1}' mu,
/// where pairs of layers that are not neighbours have no part in it.
TEST(SampledAscent, StepsTheCouplingsOfNeighboursAlone) {
  const std::vector<std::size_t> sizes{4, 3, 5, 2};
  DeepBoltzmann machine = test::some_deep(sizes, 0.5, 3);
  const DeepBoltzmann before = machine;
  constexpr std::size_t kRows = 8;
  constexpr double kRate = 0.25;
  const Chains data = random_chains(machine, kRows, 1), samples = random_chains(machine, kRows, 2);
  std::vector<double> visible(units_of(machine.visible()), 0.25), hidden(units_of(machine.hidden()), 0.5);
  std::vector<float> velocity(machine.parameters().values().size());
  SampledAscent ascent;
  ascent.step(machine, {data, samples, {visible, hidden, 0.0}}, {}, kRate, velocity, {});

  const auto offset = [&](std::size_t k) { return DeepBoltzmann::block_of(k) == Rbm::kVisible ? 0.25 : 0.5; };
  const auto mean = [&](const auto& f) {
    double out = 0.0;
    for (std::size_t r = 0; r < kRows; ++r) out += (f(data, r) - f(samples, r)) / kRows;
    return out;
  };
  const auto value = [&](const Chains& chains, std::size_t r, std::size_t k, std::size_t i) {
    return double{chains.layers[DeepBoltzmann::block_of(k)].value(r, machine.first_unit(k) + i)};
  };
  std::vector<std::vector<double>> bias;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    bias.emplace_back();
    for (std::size_t i = 0; i < sizes[k]; ++i) {
      bias[k].push_back(mean([&](const Chains& c, std::size_t r) { return value(c, r, k, i); }));
    }
  }
  for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
    const Matrix<float> old = before.weights_above(k), now = machine.weights_above(k);
    for (std::size_t i = 0; i < sizes[k]; ++i) {
      for (std::size_t j = 0; j < sizes[k + 1]; ++j) {
        const double change = mean([&](const Chains& c, std::size_t r) {
          return (value(c, r, k, i) - offset(k)) * (value(c, r, k + 1, j) - offset(k + 1));
        });
        EXPECT_NEAR(now(i, j) - old(i, j), kRate * change, 1e-6);  // steps are floats
        bias[k][i] -= change * offset(k + 1);
        bias[k + 1][j] -= change * offset(k);
      }
    }
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    for (std::size_t i = 0; i < sizes[k]; ++i) {
      EXPECT_NEAR(machine.bias_of(k)[i] - before.bias_of(k)[i], kRate * bias[k][i], 1e-6) << k << " " << i;
    }
  }
  for (const UnitPairs& none : machine.structure().uncoupled) {
    for (std::size_t i = 0; i < none.rows; ++i) {
      for (std::size_t j = 0; j < none.columns; ++j) {
        EXPECT_EQ(machine.weights()(none.first_row + i, none.first_column + j), 0.0f);
      }
    }
  }
}

/// Offsets of units that data does not set move towards their means in the data's chains; those of the others stay.
TEST(SampledAscent, MovesTheOffsetsOfHiddenUnitsAlone) {
  DeepBoltzmann machine = test::some_deep({4, 3, 5}, 0.5, 3);
  const Chains data = random_chains(machine, 8, 1), samples = random_chains(machine, 8, 2);
  std::vector<double> visible(9, 0.25), hidden(3, 0.5);
  std::vector<float> velocity(machine.parameters().values().size());
  SampledAscent().step(machine, {data, samples, {visible, hidden, 0.125}}, {}, 0.1, velocity, {});
  for (std::size_t i = 0; i < 9; ++i) {
    double share = 0.0;
    for (std::size_t r = 0; r < 8; ++r) share += data.layers[0].value(r, i) / 8.0;
    EXPECT_DOUBLE_EQ(visible[i], i < 4 ? 0.25 : 0.25 + 0.125 * (share - 0.25));
  }
}

}  // namespace
}  // namespace ergodic
