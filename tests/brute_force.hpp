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

/// The number of a state of two-valued units: its bits.
inline std::size_t index_of(const State& state, std::size_t row) { return state.bits().row(row)[0]; }

/// The number of a state: the values of its sites as digits, the first being the lowest.
inline std::size_t index_of(const State& state, std::size_t row, const Layer& layer) {
  const std::vector<Site> all = sites(layer);
  std::size_t index = 0;
  for (std::size_t s = all.size(); s-- > 0;) {
    std::size_t value = all[s].size == 1 && state.bits().get(row, all[s].first) ? 1 : 0;
    while (all[s].size > 1 && !state.bits().get(row, all[s].first + value)) ++value;
    index = all[s].values() * index + value;
  }
  return index;
}

/// All states of a layer without real units, a row each, numbered as index_of has them.
inline State all_states(const Layer& layer) {
  std::size_t count = 1;
  for (const Site& site : sites(layer)) count *= site.values();
  State out(count, units_of(layer), levels_of(layer));
  for (std::size_t state = 0; state < count; ++state) {
    std::size_t rest = state;
    for (const Site& site : sites(layer)) {
      const std::size_t value = rest % site.values();
      rest /= site.values();
      if (site.size > 1 || value == 1) out.bits().set(state, site.first + (site.size > 1 ? value : 0), true);
    }
  }
  return out;
}

/// Some rows of a state, in this order.
inline State rows_of(const State& states, const std::vector<std::size_t>& indices) {
  State out(indices.size(), states.units(), states.levels());
  for (std::size_t r = 0; r < indices.size(); ++r) out.set_row(r, states, indices[r]);
  return out;
}

inline constexpr std::size_t kLetters = 3;

/// A layer of each unit type there is, with this many sites.
inline std::vector<Layer> layers_of_one_part(std::size_t sites) {
  std::vector<Layer> out;
  for_each_unit_type([&]<class T>(std::type_identity<T>) {
    const std::size_t size = T::kValues == UnitValues::kLetters ? kLetters : 1;
    out.push_back(make_layer(T::kName, sites * size, size));
  });
  return out;
}

/// Layers of two and three parts, with this many sites in all; none, if there are too few.
inline std::vector<Layer> joined_layers(std::size_t sites) {
  std::vector<Layer> out;
  if (sites < 2) return out;
  out.push_back(joined({Bernoulli{sites - 1}, Potts{kLetters, kLetters}}));
  out.push_back(joined({Potts{(sites - 1) * kLetters, kLetters}, Bernoulli{1}}));
  if (sites > 2) out.push_back(joined({Potts{4, 4}, Bernoulli{sites - 2}, Potts{kLetters, kLetters}}));
  return out;
}

/// Every kind of layer there is, with this many sites.
inline std::vector<Layer> all_layers(std::size_t sites) {
  std::vector<Layer> out = layers_of_one_part(sites);
  for (const Layer& layer : joined_layers(sites)) out.push_back(layer);
  return out;
}

/// Those whose states can be counted.
inline std::vector<Layer> discrete_layers(std::size_t sites) {
  std::vector<Layer> out = all_layers(sites);
  std::erase_if(out, [](const Layer& layer) { return real_valued(layer); });
  return out;
}

class BruteForce {
 public:
  explicit BruteForce(const Rbm& rbm)
      : rbm_(rbm),
        n_(units_of(rbm.visible())),
        m_(units_of(rbm.hidden())),
        xs_(all_states(rbm.visible())),
        vs_(all_states(rbm.hidden())),
        joint_(states_x() * states_v()) {
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

  std::size_t states_x() const { return xs_.chains(); }
  std::size_t states_v() const { return vs_.chains(); }
  const State& xs() const { return xs_; }  ///< all states, a row each
  const State& vs() const { return vs_; }
  double log_z() const { return log_z_; }
  double joint(std::size_t x, std::size_t v) const { return joint_[x * states_v() + v]; }
  const std::vector<double>& joint() const { return joint_; }

  double energy(std::size_t x, std::size_t v) const {
    double e = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double xi = xs_.value(x, i);
      e -= rbm_.visible_bias()[i] * xi;
      for (std::size_t j = 0; j < m_; ++j) e -= xi * double{rbm_.weights()(i, j)} * vs_.value(v, j);
    }
    for (std::size_t j = 0; j < m_; ++j) e -= double{rbm_.hidden_bias()[j]} * vs_.value(v, j);
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
        for (std::size_t i = 0; i < n_; ++i) {
          const double xi = xs_.value(x, i);
          for (std::size_t j = 0; j < m_; ++j) out[i * m_ + j] += p * xi * vs_.value(v, j);
          out[n_ * m_ + i] += p * xi;
        }
        for (std::size_t j = 0; j < m_; ++j) out[n_ * m_ + n_ + j] += p * vs_.value(v, j);
      }
    }
    return out;
  }

 private:
  const Rbm& rbm_;
  std::size_t n_, m_;
  State xs_, vs_;
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

/// The types of two-valued units there are.
inline std::vector<std::string_view> two_valued_types() {
  std::vector<std::string_view> out;
  for_each_unit_type([&]<class T>(std::type_identity<T>) {
    if (T::kValues == UnitValues::kBits) out.push_back(T::kName);
  });
  return out;
}
inline const std::vector<std::string_view> kUnitTypes = two_valued_types();

/// Calls f(visible type, hidden type) for each pairing of them.
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
