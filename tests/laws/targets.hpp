// Distributions that are known exactly, for the laws of samplers: exact draws, and cells with exact probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic::test {

/// Independent standard normal units.
struct StandardNormal {
  std::size_t count;
  Layer units() const { return Gaussian{count}; }
  std::vector<Layer> layers() const { return {units()}; }
  std::vector<double> energy(LayerStates x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) {
      for (const float value : x[0].reals().row(r)) out[r] += 0.5 * double{value} * value;
    }
    return out;
  }
  Matrix<double> forces(const State& x, const Context&) const {
    Matrix<double> out(x.chains(), count);
    std::ranges::transform(x.reals().elements(), out.elements().begin(), [](float value) { return -double{value}; });
    return out;
  }
  /// Exact draws.
  State exact(std::size_t chains, const Draw& draw) const {
    State out(Matrix<float>(chains, count));
    for (std::uint32_t r = 0; r < chains; ++r) {
      for (std::uint32_t i = 0; i < count; ++i) out.reals()(r, i) = static_cast<float>(draw.normal(r, i));
    }
    return out;
  }
};

/// A distribution over the rows of a state. Cells part its space, and count draws for chi-square.
struct Target {
  std::vector<double> p;                                               ///< of each cell
  std::function<std::size_t(const State& x, std::size_t row)> cell;    ///< of a row
  std::function<State(std::size_t count, const Draw& draw)> exact;     ///< draws
  std::function<std::vector<double>(const State& x)> log_densities{};  ///< of all rows, normalised
  State far{};                                                         ///< one row, where hardly a draw is

  ChiSquare distance(const State& x) const {
    std::vector<std::size_t> counts(p.size());
    for (std::size_t r = 0; r < x.chains(); ++r) ++counts[cell(x, r)];
    return chi_square(counts, p);
  }
  State far_start(std::size_t count) const {
    State out = far.real() ? State(Matrix<float>(count, far.units())) : State(count, far.units(), far.levels());
    for (std::size_t r = 0; r < count; ++r) out.set_row(r, far, 0);
    return out;
  }
};

/// The first k at which the sum of p passes u.
inline std::size_t drawn_from(const std::vector<double>& p, double u) {
  std::size_t k = 0;
  while (k + 1 < p.size() && u >= p[k]) u -= p[k++];
  return k;
}

inline double normalise(std::vector<double>& log_weights) {
  LogSum sum;
  for (const double w : log_weights) sum.add(w);
  for (double& w : log_weights) w = std::exp(w - sum.value());
  return sum.value();
}

/// Units of few values by enumeration, a cell for each state; with a mask, given that its units are as in a state.
inline Target enumerated(const Layer& layer, const std::function<std::vector<double>(const State&)>& energy,
                         const Bits& fixed = {}, std::size_t given = 0) {
  const State states = all_states(layer);
  std::vector<double> p = energy(states);
  for (std::size_t s = 0; s < p.size(); ++s) {
    p[s] = -p[s];
    for (std::size_t i = 0; i < fixed.cols(); ++i) {
      if (fixed.get(0, i) && states.bits().get(s, i) != states.bits().get(given, i)) p[s] = -1e300;
    }
  }
  const std::vector<double> log_weights = p;
  const double log_z = normalise(p);
  const auto index = [layer](const State& x, std::size_t row) { return index_of(x, row, layer); };
  const auto exact = [states, p](std::size_t count, const Draw& draw) {
    State out(count, states.units(), states.levels());
    for (std::uint32_t r = 0; r < count; ++r) out.set_row(r, states, drawn_from(p, draw.uniform(r, 0)));
    return out;
  };
  const auto densities = [=](const State& x) {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = log_weights[index(x, r)] - log_z;
    return out;
  };
  return {p, index, exact, densities, states.rows(given, 1)};
}

inline double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// The visible layer of an RBM with gaussian or relu visible units and few two-valued hidden ones: a mixture of
/// normals, cut off at 0 if relu. A unit with a given value keeps it. Cells are a grid, eight intervals for each unit.
inline Target mixture(const Rbm& rbm, const std::vector<std::optional<float>>& given) {
  struct Normal {
    double mean, deviation, lowest;  // the share below 0 that is cut off
    double below(double x) const {
      return std::max(0.0, (normal_below((x - mean) / deviation) - lowest) / (1.0 - lowest));
    }
  };
  const std::size_t n = units_of(rbm.visible()), m = units_of(rbm.hidden());
  const bool relu = data_values(rbm.visible()) == UnitValues::kNonnegativeReals;
  const Precision precision = rbm.precision(Rbm::kVisible);
  std::vector<double> weights;
  std::vector<std::vector<Normal>> parts;
  for (std::size_t v = 0; v < std::size_t{1} << m; ++v) {
    const auto hidden = values_of(v, m, levels_of(rbm.hidden()));
    std::vector<double> fields(rbm.visible_bias().begin(), rbm.visible_bias().end());
    double weight = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
      weight += rbm.hidden_bias()[j] * hidden[j];
      for (std::size_t i = 0; i < n; ++i) fields[i] += rbm.weights()(i, j) * hidden[j];
    }
    parts.emplace_back();
    for (std::size_t i = 0; i < n; ++i) {
      const double deviation = precision.deviations[i], mean = fields[i] * deviation * deviation;
      const LayerFields alone{{&fields[i], 1}, {precision.logs.subspan(i, 1), precision.deviations.subspan(i, 1)}};
      weight += given[i] ? *given[i] * fields[i] - 0.5 * std::pow(*given[i] / deviation, 2)
                         : log_sum(relu ? Layer(Relu{1}) : Layer(Gaussian{1}), alone);
      parts.back().push_back({mean, deviation, relu ? normal_below(-mean / deviation) : 0.0});
    }
    weights.push_back(weight);
  }
  const double log_z = normalise(weights);
  constexpr int kInner = 7;  // edges of the cells: from -3 to 3, or from 0.5 to 3.5
  const auto edge = [relu](int k) { return relu ? 0.5 * k : -4.0 + k; };
  const auto interval = [edge](double x) {
    int k = 0;
    while (k < kInner && x >= edge(k + 1)) ++k;
    return k;
  };
  Target out;
  const std::size_t cells = kInner + 1;
  out.p.assign(static_cast<std::size_t>(std::pow(cells, n) + 0.5), 0.0);
  for (std::size_t c = 0; c < out.p.size(); ++c) {
    for (std::size_t v = 0; v < parts.size(); ++v) {
      double p = weights[v];
      for (std::size_t i = 0, rest = c; i < n; ++i, rest /= cells) {
        const int k = static_cast<int>(rest % cells);
        const double low = k == 0 ? 0.0 : parts[v][i].below(edge(k));
        p *= given[i] ? (interval(*given[i]) == k ? 1.0 : 0.0)
                      : (k == kInner ? 1.0 : parts[v][i].below(edge(k + 1))) - low;
      }
      out.p[c] += p;
    }
  }
  out.cell = [=](const State& x, std::size_t row) {
    std::size_t index = 0;
    for (std::size_t i = n; i-- > 0;) index = cells * index + static_cast<std::size_t>(interval(x.reals()(row, i)));
    return index;
  };
  out.exact = [=](std::size_t count, const Draw& draw) {
    State x(Matrix<float>(count, n));
    for (std::uint32_t r = 0; r < count; ++r) {
      const std::vector<Normal>& part = parts[drawn_from(weights, draw.uniform(r, 0))];
      for (std::uint32_t i = 0; i < n; ++i) {
        const double u = part[i].lowest + (1.0 - part[i].lowest) * (draw.uniform(r, 1 + i) + 1e-17);
        x.reals()(r, i) =
            given[i] ? *given[i] : static_cast<float>(part[i].mean + part[i].deviation * normal_quantile(u));
        if (relu) x.reals()(r, i) = std::max(0.0f, x.reals()(r, i));
      }
    }
    return x;
  };
  out.log_densities = [&rbm, log_z](const State& x) {
    std::vector<double> densities = rbm.free_energy(x, {});
    for (double& density : densities) density = -density - log_z;
    return densities;
  };
  Matrix<float> far(1, n);
  for (std::size_t i = 0; i < n; ++i) far(0, i) = given[i].value_or(relu ? 6.0f : -5.0f);
  out.far = State(std::move(far));
  return out;
}

/// Two real units by sums over a fine grid, on which draws are spread evenly within their square; units with a given
/// value keep it. Cells are as those of a mixture. The energy must keep its units well within (-8, 8).
inline Target integrated(const std::function<std::vector<double>(const State&)>& energy,
                         const std::vector<std::optional<float>>& given) {
  constexpr std::size_t kPoints = 320;
  constexpr double kSpacing = 16.0 / kPoints;
  const auto place = [=](std::size_t i, std::size_t k) {
    return given[i] ? double{*given[i]} : -8.0 + (static_cast<double>(k) + 0.5) * kSpacing;
  };
  const std::size_t columns = given[1] ? 1 : kPoints, squares = (given[0] ? 1 : kPoints) * columns;
  State places(Matrix<float>(squares, 2));
  for (std::size_t s = 0; s < squares; ++s) {
    places.reals()(s, 0) = static_cast<float>(place(0, s / columns));
    places.reals()(s, 1) = static_cast<float>(place(1, s % columns));
  }
  std::vector<double> p = energy(places);
  for (double& weight : p) weight = -weight;
  const double log_z = normalise(p);
  std::vector<double> sums(p.size());
  std::partial_sum(p.begin(), p.end(), sums.begin());
  constexpr std::size_t kCells = 8;  // of each unit, their inner edges from -3 to 3
  Target out;
  out.cell = [](const State& x, std::size_t row) {
    const auto interval = [&](std::size_t i) {
      return static_cast<std::size_t>(std::clamp(std::floor(x.reals()(row, i)) + 4.0f, 0.0f, 7.0f));
    };
    return kCells * interval(1) + interval(0);
  };
  out.p.assign(kCells * kCells, 0.0);
  for (std::size_t s = 0; s < squares; ++s) out.p[out.cell(places, s)] += p[s];
  out.exact = [=](std::size_t count, const Draw& draw) {
    State x(Matrix<float>(count, 2));
    for (std::uint32_t r = 0; r < count; ++r) {
      const auto found = std::upper_bound(sums.begin(), sums.end() - 1, draw.uniform(r, 0) * sums.back());
      x.set_row(r, places, static_cast<std::size_t>(found - sums.begin()));
      for (std::uint32_t i = 0; i < 2; ++i) {
        if (!given[i]) x.reals()(r, i) += static_cast<float>((draw.uniform(r, 1 + i) - 0.5) * kSpacing);
      }
    }
    return x;
  };
  const double free_units = (given[0] ? 0.0 : 1.0) + (given[1] ? 0.0 : 1.0);
  out.log_densities = [=](const State& x) {
    std::vector<double> densities = energy(x);
    for (double& density : densities) density = -density - log_z - free_units * std::log(kSpacing);
    return densities;
  };
  Matrix<float> far(1, 2);
  for (std::size_t i = 0; i < 2; ++i) far(0, i) = given[i].value_or(-5.0f);
  out.far = State(std::move(far));
  return out;
}

}  // namespace ergodic::test
