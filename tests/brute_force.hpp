// The obvious: every quantity of a small machine by summing over all states, straight from the definitions.
#pragma once

#include <cmath>
#include <vector>

#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic::test {

/// The state of `units` two-valued units whose bits are those of `index`.
inline std::vector<double> values_of(std::size_t index, std::size_t units, Levels levels) {
  std::vector<double> out(units);
  for (std::size_t i = 0; i < units; ++i) out[i] = ((index >> i) & 1u) ? levels.high : levels.low;
  return out;
}

/// One row of bits for each state index.
inline State states_of(const std::vector<std::size_t>& indices, std::size_t units, Levels levels) {
  State out(indices.size(), units, levels);
  for (std::size_t r = 0; r < indices.size(); ++r) {
    for (std::size_t i = 0; i < units; ++i) out.bits().set(r, i, (indices[r] >> i) & 1u);
  }
  return out;
}

/// The number of a state: its sites as digits, the first being the lowest.
inline std::size_t index_of(const State& state, std::size_t row, std::size_t letters = 0) {
  if (letters == 0) return state.bits().row(row)[0];
  std::size_t index = 0;
  for (std::size_t unit = state.units(); unit-- > 0;) {
    if (state.bits().get(row, unit)) index = letters * index + unit % letters;
  }
  return index;
}

class BruteForce {
 public:
  explicit BruteForce(const Rbm& rbm)
      : rbm_(rbm), n_(units_of(rbm.visible())), m_(units_of(rbm.hidden())), joint_(states_x() * states_v()) {
    double largest = -1e300;
    for (std::size_t x = 0; x < states_x(); ++x) {
      for (std::size_t v = 0; v < states_v(); ++v) largest = std::max(largest, -energy(x, v));
    }
    double z = 0.0;
    for (std::size_t x = 0; x < states_x(); ++x) {
      for (std::size_t v = 0; v < states_v(); ++v) z += joint_[x * states_v() + v] = std::exp(-energy(x, v) - largest);
    }
    for (double& p : joint_) p /= z;
    log_z_ = largest + std::log(z);
  }

  std::size_t states_x() const { return std::size_t{1} << n_; }
  std::size_t states_v() const { return std::size_t{1} << m_; }
  double log_z() const { return log_z_; }
  double joint(std::size_t x, std::size_t v) const { return joint_[x * states_v() + v]; }
  const std::vector<double>& joint() const { return joint_; }

  double energy(std::size_t x, std::size_t v) const {
    const auto xs = values_of(x, n_, levels_of(rbm_.visible()));
    const auto vs = values_of(v, m_, levels_of(rbm_.hidden()));
    double e = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      e -= rbm_.visible_bias()[i] * xs[i];
      for (std::size_t j = 0; j < m_; ++j) e -= xs[i] * double{rbm_.weights()(i, j)} * vs[j];
    }
    for (std::size_t j = 0; j < m_; ++j) e -= rbm_.hidden_bias()[j] * vs[j];
    return e;
  }

  double probability(std::size_t x) const {
    double p = 0.0;
    for (std::size_t v = 0; v < states_v(); ++v) p += joint(x, v);
    return p;
  }

  /// E[-dE/dtheta] under weights q(x, v), in the layout of the parameters.
  template <class Q>
  std::vector<double> statistics(const Q& q) const {
    std::vector<double> out(n_ * m_ + n_ + m_);
    for (std::size_t x = 0; x < states_x(); ++x) {
      for (std::size_t v = 0; v < states_v(); ++v) {
        const double p = q(x, v);
        const auto xs = values_of(x, n_, levels_of(rbm_.visible()));
        const auto vs = values_of(v, m_, levels_of(rbm_.hidden()));
        for (std::size_t i = 0; i < n_; ++i) {
          for (std::size_t j = 0; j < m_; ++j) out[i * m_ + j] += p * xs[i] * vs[j];
          out[n_ * m_ + i] += p * xs[i];
        }
        for (std::size_t j = 0; j < m_; ++j) out[n_ * m_ + n_ + j] += p * vs[j];
      }
    }
    return out;
  }

 private:
  const Rbm& rbm_;
  std::size_t n_, m_;
  std::vector<double> joint_;
  double log_z_ = 0.0;
};

/// A machine with normal parameters of this scale.
inline Rbm random_machine(Layer visible, Layer hidden, double scale, std::uint64_t seed) {
  Rbm rbm(visible, hidden);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  rbm.update(
      [&](Parameters& p) {
        for (std::size_t k = 0; k < p.values().size(); ++k) {
          p.values()[k] = static_cast<float>(scale * draw.normal(0, static_cast<std::uint32_t>(k)));
        }
      },
      Context{});
  return rbm;
}

/// Every pairing of two-valued units there is. tests/laws/layer_test.cpp lists all unit types.
inline const std::vector<std::string_view> kUnitTypes{Bernoulli::kName, Spin::kName};

/// Calls f(visible type, hidden type) for each pairing.
template <class F>
void for_each_pairing(const F& f) {
  for (const auto visible : kUnitTypes) {
    for (const auto hidden : kUnitTypes) f(visible, hidden);
  }
}

/// Pearson's chi-square of counts against probabilities; states expected less than five times are lumped together.
struct ChiSquare {
  double value = 0.0;
  double degrees = 0.0;

  /// The 0.999 quantile by Wilson and Hilferty's cube (1931), good to 1 % from 3 degrees on.
  double critical() const {
    return degrees * std::pow(1.0 - 2.0 / (9.0 * degrees) + 3.0902 * std::sqrt(2.0 / (9.0 * degrees)), 3);
  }
};

inline ChiSquare chi_square(const std::vector<std::size_t>& counts, const std::vector<double>& probabilities) {
  double total = 0.0;
  for (const std::size_t c : counts) total += static_cast<double>(c);
  ChiSquare out;
  double lumped_count = 0.0, lumped_expected = 0.0;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    const double expected = total * probabilities[s];
    if (expected < 5.0) {
      lumped_count += static_cast<double>(counts[s]);
      lumped_expected += expected;
      continue;
    }
    out.value += std::pow(static_cast<double>(counts[s]) - expected, 2) / expected;
    out.degrees += 1.0;
  }
  if (lumped_expected > 0.0) {
    out.value += std::pow(lumped_count - lumped_expected, 2) / lumped_expected;
    out.degrees += 1.0;
  }
  out.degrees -= 1.0;
  return out;
}

}  // namespace ergodic::test
