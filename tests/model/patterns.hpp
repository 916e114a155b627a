// What the tests of Hopfield networks share: random patterns, random networks, damage, and the definition of E.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ergodic/core/random.hpp"
#include "ergodic/model/hopfield.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic::test {

/// Patterns of fair coins.
inline State random_patterns(std::size_t count, std::size_t units, std::uint64_t seed) {
  State out(count, units, Spin::kLevels);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::uint32_t m = 0; m < count; ++m) {
    for (std::uint32_t i = 0; i < units; ++i) out.bits().set(m, i, draw.below(2, m, i) == 1);
  }
  return out;
}

/// Couplings and biases that are whole multiples of 2^-10 below 1, so that every sum of them is exact in double.
inline Hopfield random_network(std::size_t units, std::uint64_t seed) {
  const Draw draw = Key{seed}.at(Purpose::kTest, 1);
  const auto element = [&](std::size_t i, std::size_t j) {
    const auto steps = draw.below(2047, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    return (static_cast<float>(steps) - 1023.0f) * 0x1p-10f;
  };
  Matrix<float> couplings(units, units);
  std::vector<float> bias(units);
  for (std::size_t i = 0; i < units; ++i) {
    bias[i] = element(i, i);
    for (std::size_t j = 0; j < i; ++j) couplings(i, j) = couplings(j, i) = element(i, j);
  }
  return Hopfield(std::move(couplings), std::move(bias));
}

/// The rows with the first `count` units flipped.
inline State with_flips(State rows, std::size_t count) {
  Bits& bits = rows.bits();
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    for (std::size_t i = 0; i < count; ++i) bits.set(r, i, !bits.get(r, i));
  }
  return rows;
}

/// E(x) = -1/2 x'Wx - b'x, term by term.
inline double defined_energy(const Hopfield& network, const State& rows, std::size_t row) {
  double energy = 0.0;
  for (std::size_t i = 0; i < network.units(); ++i) {
    energy -= double{network.bias()[i]} * rows.value(row, i);
    for (std::size_t j = 0; j < network.units(); ++j) {
      energy -= 0.5 * double{network.couplings()(i, j)} * rows.value(row, i) * rows.value(row, j);
    }
  }
  return energy;
}

}  // namespace ergodic::test
