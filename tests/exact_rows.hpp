// Exact draws of the visible units of small machines, as data would be that a machine has learned perfectly.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic::test {

/// The machine with its layers exchanged.
inline Rbm turned(const Rbm& rbm) {
  Rbm out(rbm.hidden(), rbm.visible());
  out.update(
      [&](Parameters& p) {
        const std::size_t n = rbm.weights().rows(), m = rbm.weights().cols();
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < m; ++j) p["weights"][j * n + i] = rbm.weights()(i, j);
        }
        std::ranges::copy(rbm.visible_bias(), p["hidden_bias"].begin());
        std::ranges::copy(rbm.hidden_bias(), p["visible_bias"].begin());
        for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
          if (!real_valued(rbm.layer(block))) continue;
          std::ranges::copy(rbm.precision(block).logs, p[Rbm::precision_slot(1 - block)].begin());
        }
      },
      {});
  return out;
}

/// So many of these states, each by its weight.
inline State drawn_states(const State& states, const std::vector<double>& log_weights, std::size_t count,
                          const Draw& draw) {
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  double total = 0.0;
  for (const double w : log_weights) total += std::exp(w - largest);
  State out(count, states.units(), states.levels());
  for (std::uint32_t r = 0; r < count; ++r) {
    double left = total * draw.uniform(r, 0);
    std::size_t s = 0;
    while (s + 1 < log_weights.size() && left >= std::exp(log_weights[s] - largest)) {
      left -= std::exp(log_weights[s++] - largest);
    }
    out.set_row(r, states, s);
  }
  return out;
}

/// The layer without real units is drawn from all of its states, and the visible one given it if it is the other.
inline State exact_rows(const Rbm& rbm, std::size_t count, Key key) {
  const bool by_visible = !real_valued(rbm.visible());
  const Rbm summed = by_visible ? rbm : turned(rbm);
  const State states = all_states(summed.visible());
  std::vector<double> log_weights = summed.free_energy(states, {});
  for (double& w : log_weights) w = -w;
  State drawn = drawn_states(states, log_weights, count, key.at(Purpose::kTest, 1));
  if (by_visible) return drawn;
  std::vector<State> layers{rbm.make_state(Rbm::kVisible, count), std::move(drawn)};
  rbm.resample(Rbm::kVisible, layers, key.at(Purpose::kTest, 2), 0, {});
  return layers[Rbm::kVisible];
}

inline State exact_rows(const Boltzmann& machine, std::size_t count, Key key) {
  const State states = all_states(machine.units());
  std::vector<double> log_weights = machine.energy(states, {});
  for (double& w : log_weights) w = -w;
  return machine.visible_part(drawn_states(states, log_weights, count, key.at(Purpose::kTest, 1)));
}

}  // namespace ergodic::test
