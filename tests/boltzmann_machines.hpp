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
      : all_(all_states(machine.units())),
        bias_(machine.bias().begin(), machine.bias().end()),
        matrix_(bias_.size(), bias_.size()),
        edges_(edges_of(machine.graph())),
        p_(all_.chains()) {
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

  const State& all() const { return all_; }
  std::size_t units() const { return bias_.size(); }
  double log_z() const { return log_z_; }
  const std::vector<double>& p() const { return p_; }

  /// -x'Wx / 2 - b'x.
  double energy(std::size_t state) const {
    double e = 0.0;
    for (std::size_t i = 0; i < units(); ++i) {
      const double x = all_.value(state, i);
      e -= bias_[i] * x;
      for (std::size_t j = 0; j < units(); ++j) e -= 0.5 * x * matrix_(i, j) * all_.value(state, j);
    }
    return e;
  }

  /// The mean of x_i x_j along the edges and of x, each state with the weight q(state).
  template <class Q>
  std::vector<double> statistics(const Q& q) const {
    std::vector<double> out(edges_.size() + units());
    for (std::size_t s = 0; s < p_.size(); ++s) {
      for (std::size_t e = 0; e < edges_.size(); ++e) {
        out[e] += q(s) * all_.value(s, edges_[e].low) * all_.value(s, edges_[e].high);
      }
      for (std::size_t i = 0; i < units(); ++i) out[edges_.size() + i] += q(s) * all_.value(s, i);
    }
    return out;
  }

  /// The probabilities of all states given that the units of one row of a mask are as in a state.
  std::vector<double> given(const Bits& fixed, std::size_t row, std::size_t state) const {
    std::vector<double> out(p_.size());
    double total = 0.0;
    for (std::size_t s = 0; s < p_.size(); ++s) {
      bool same = true;
      for (std::size_t i = 0; i < units(); ++i) {
        same = same && (!fixed.get(row, i) || all_.value(s, i) == all_.value(state, i));
      }
      total += out[s] = same ? p_[s] : 0.0;
    }
    for (double& p : out) p /= total;
    return out;
  }

 private:
  State all_;
  std::vector<double> bias_;
  Matrix<double> matrix_;
  std::vector<Edge> edges_;
  std::vector<double> p_;
  double log_z_ = 0.0;
};

/// So many rows drawn from the exact distribution, as numbers of states.
inline std::vector<std::size_t> exact_draws(const BoltzmannTruth& truth, std::size_t count, std::uint64_t seed) {
  const Draw draw = Key{seed}.at(Purpose::kTest, 7);
  std::vector<std::size_t> out;
  for (std::uint32_t c = 0; c < count; ++c) {
    double u = draw.uniform(c, 0);
    std::size_t s = 0;
    while (s + 1 < truth.p().size() && u >= truth.p()[s]) u -= truth.p()[s++];
    out.push_back(s);
  }
  return out;
}

/// A row for each number of a state.
inline State rows_at(const BoltzmannTruth& truth, const std::vector<std::size_t>& states) {
  return rows_of(truth.all(), states);
}

}  // namespace ergodic::test
