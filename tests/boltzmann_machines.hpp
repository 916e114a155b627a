// Small Boltzmann machines on graphs, and every quantity of them by summing over all states, straight from the
// definitions.
#pragma once

#include <cmath>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic::test {

/// A machine with normal parameters of this scale.
inline Boltzmann random_boltzmann(Layer units, Graph graph, double scale, std::uint64_t seed) {
  Boltzmann out(units, std::move(graph));
  const Draw draw = Key{seed}.at(Purpose::kTest);
  out.update(
      [&](Parameters& p) {
        for (std::size_t k = 0; k < p.values().size(); ++k) {
          p.values()[k] = static_cast<float>(scale * draw.normal(0, static_cast<std::uint32_t>(k)));
        }
      },
      {});
  return out;
}

/// An edge of a graph as it is in the order of edges.
struct Edge {
  std::size_t low, high;
  bool operator==(const Edge&) const = default;
};
inline std::vector<Edge> edges_of(const Graph& graph) {
  std::vector<Edge> out;
  for (std::size_t i = 0; i < graph.units(); ++i) {
    graph.for_later_neighbours(i, [&](std::size_t j, std::size_t) { out.push_back({i, j}); });
  }
  return out;
}

class BoltzmannTruth {
 public:
  explicit BoltzmannTruth(const Boltzmann& machine)
      : levels_(levels_of(machine.units())),
        bias_(machine.bias().begin(), machine.bias().end()),
        matrix_(bias_.size(), bias_.size()),
        edges_(edges_of(machine.graph())),
        p_(std::size_t{1} << bias_.size()) {
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto [i, j] = edges_[e];
      matrix_(i, j) = matrix_(j, i) = machine.couplings()[e];
    }
    double largest = -1e300, z = 0.0;
    for (std::size_t s = 0; s < p_.size(); ++s) largest = std::max(largest, -energy(s));
    for (std::size_t s = 0; s < p_.size(); ++s) z += p_[s] = std::exp(-energy(s) - largest);
    for (double& p : p_) p /= z;
    log_z_ = largest + std::log(z);
  }

  std::size_t units() const { return bias_.size(); }
  double log_z() const { return log_z_; }
  const std::vector<double>& p() const { return p_; }

  /// -x'Wx / 2 - b'x.
  double energy(std::size_t state) const {
    const auto x = values_of(state, units(), levels_);
    double e = 0.0;
    for (std::size_t i = 0; i < units(); ++i) {
      e -= bias_[i] * x[i];
      for (std::size_t j = 0; j < units(); ++j) e -= 0.5 * x[i] * matrix_(i, j) * x[j];
    }
    return e;
  }

  /// The mean of x_i x_j along the edges and of x, each state with the weight q(state).
  template <class Q>
  std::vector<double> statistics(const Q& q) const {
    std::vector<double> out(edges_.size() + units());
    for (std::size_t s = 0; s < p_.size(); ++s) {
      const auto x = values_of(s, units(), levels_);
      for (std::size_t e = 0; e < edges_.size(); ++e) out[e] += q(s) * x[edges_[e].low] * x[edges_[e].high];
      for (std::size_t i = 0; i < units(); ++i) out[edges_.size() + i] += q(s) * x[i];
    }
    return out;
  }

  /// The probabilities of all states given that the units of a mask are as in a state.
  std::vector<double> given(std::size_t mask, std::size_t state) const {
    std::vector<double> out(p_.size());
    double total = 0.0;
    for (std::size_t s = 0; s < p_.size(); ++s) total += out[s] = (s & mask) == (state & mask) ? p_[s] : 0.0;
    for (double& p : out) p /= total;
    return out;
  }

 private:
  Levels levels_;
  std::vector<double> bias_;
  Matrix<double> matrix_;
  std::vector<Edge> edges_;
  std::vector<double> p_;
  double log_z_ = 0.0;
};

/// All states of so many units, a row each.
inline State all_states(std::size_t units, Levels levels) {
  std::vector<std::size_t> all(std::size_t{1} << units);
  for (std::size_t s = 0; s < all.size(); ++s) all[s] = s;
  return states_of(all, units, levels);
}

}  // namespace ergodic::test
