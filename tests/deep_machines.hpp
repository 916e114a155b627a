// Small deep Boltzmann machines, and sums over all their states straight from the definition.
#pragma once

#include <cmath>
#include <vector>

#include "ergodic/core/random.hpp"
#include "ergodic/model/deep_boltzmann.hpp"

namespace ergodic::test {

/// A machine with normal weights and biases of this scale.
inline DeepBoltzmann some_deep(std::vector<std::size_t> sizes, double scale, std::uint64_t seed) {
  DeepBoltzmann out(std::move(sizes));
  const Draw draw = Key{seed}.at(Purpose::kTest);
  std::uint32_t next = 0;
  const auto normal = [&] { return static_cast<float>(scale * draw.normal(0, next++)); };
  out.update(
      [&](Parameters& parameters) {
        for (std::size_t k = 0; k < out.sizes().size(); ++k) {
          std::vector<float> bias(out.sizes()[k]);
          for (float& b : bias) b = normal();
          out.put_bias(k, bias, parameters);
          if (k + 1 == out.sizes().size()) break;
          Matrix<float> weights(out.sizes()[k], out.sizes()[k + 1]);
          for (float& w : weights.elements()) w = normal();
          out.put_weights_above(k, weights, parameters);
        }
      },
      {});
  return out;
}

/// A state of all layers: the bits of `index`, those of the visible layer lowest, then layer by layer.
inline std::vector<std::vector<double>> layers_of(const DeepBoltzmann& machine, std::size_t index) {
  std::vector<std::vector<double>> out;
  for (const std::size_t size : machine.sizes()) {
    out.emplace_back();
    for (std::size_t i = 0; i < size; ++i, index >>= 1) out.back().push_back(static_cast<double>(index & 1));
  }
  return out;
}

/// E by its definition.
inline double energy_of(const DeepBoltzmann& machine, const std::vector<std::vector<double>>& layers) {
  double out = 0.0;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    for (std::size_t i = 0; i < layers[k].size(); ++i) out -= machine.bias_of(k)[i] * layers[k][i];
    if (k + 1 == layers.size()) break;
    const Matrix<float> weights = machine.weights_above(k);
    for (std::size_t i = 0; i < layers[k].size(); ++i) {
      for (std::size_t j = 0; j < layers[k + 1].size(); ++j) out -= layers[k][i] * weights(i, j) * layers[k + 1][j];
    }
  }
  return out;
}

inline std::size_t units_of_all(const DeepBoltzmann& machine) {
  std::size_t out = 0;
  for (const std::size_t size : machine.sizes()) out += size;
  return out;
}

/// log sum over the hidden units of exp(-E) at a visible state.
inline double log_sum_at(const DeepBoltzmann& machine, std::size_t visible) {
  const std::size_t n = machine.sizes()[0];
  double sum = 0.0;
  for (std::size_t h = 0; h < std::size_t{1} << (units_of_all(machine) - n); ++h) {
    sum += std::exp(-energy_of(machine, layers_of(machine, visible | (h << n))));
  }
  return std::log(sum);
}

}  // namespace ergodic::test
