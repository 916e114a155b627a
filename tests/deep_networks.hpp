// Small deep belief networks, and the obvious about them: sums over all states of all layers.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/model/dbn.hpp"

namespace ergodic::test {

/// A network with normal parameters of this scale.
inline Dbn random_dbn(DbnShape shape, double scale, std::uint64_t seed) {
  Dbn out(std::move(shape));
  Parameters values = out.parameters();
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t k = 0; k < values.values().size(); ++k) {
    values.values()[k] = static_cast<float>(scale * draw.normal(0, static_cast<std::uint32_t>(k)));
  }
  out.set_parameters(values);
  return out;
}

/// Networks of two and of three hidden layers, with a label and without, tied and untied.
inline std::vector<Dbn> random_dbns() {
  return {random_dbn({4, {3, 2}}, 1.0, 1), random_dbn({4, {2, 3}, 3}, 1.0, 2), random_dbn({3, {3, 2, 3}}, 1.0, 3),
          random_dbn({3, {2, 3, 2}, 2, true}, 1.0, 4)};
}

/// log p(units on or off | fields of two-valued units).
inline double log_bernoulli(const State& x, std::size_t row, std::size_t units, const std::vector<double>& fields) {
  double sum = 0.0;
  for (std::size_t i = 0; i < units; ++i)
    sum += (x.bits().get(row, i) ? fields[i] : 0.0) - std::log1p(std::exp(fields[i]));
  return sum;
}

/// -E of given layers (visible, h_1, ..., h_L), row by row, straight from the definition.
inline double minus_energy(const Dbn& model, const std::vector<State>& layers, const std::vector<std::size_t>& rows) {
  const std::size_t depth = model.depth();
  const auto value = [&](std::size_t layer, std::size_t unit) {
    return layers[layer].bits().get(rows[layer], unit) ? 1.0 : 0.0;
  };
  double sum = 0.0;
  for (std::size_t k = 0; k + 1 < depth; ++k) {
    const Rbm& stage = model.stage(k);
    std::vector<double> fields(stage.visible_bias().begin(), stage.visible_bias().end());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      for (std::size_t j = 0; j < stage.hidden_bias().size(); ++j)
        fields[i] += double{stage.weights()(i, j)} * value(k + 1, j);
    }
    sum += log_bernoulli(layers[k], rows[k], fields.size(), fields);
  }
  const Rbm& top = model.top();
  const std::size_t below = model.shape().hidden[depth - 2];
  for (std::size_t i = 0; i < top.visible_bias().size(); ++i) {
    const double x = i < below ? value(depth - 1, i) : value(0, model.shape().values + i - below);
    sum += x * top.visible_bias()[i];
    for (std::size_t j = 0; j < top.hidden_bias().size(); ++j) sum += x * double{top.weights()(i, j)} * value(depth, j);
  }
  for (std::size_t j = 0; j < top.hidden_bias().size(); ++j) sum += value(depth, j) * top.hidden_bias()[j];
  return sum;
}

/// Calls f(rows) for each choice of a row of every layer.
template <class F>
void for_all_rows(const std::vector<State>& layers, const F& f) {
  std::vector<std::size_t> rows(layers.size());
  for (;;) {
    f(rows);
    std::size_t l = 0;
    while (l < rows.size() && ++rows[l] == layers[l].chains()) rows[l++] = 0;
    if (l == rows.size()) return;
  }
}

/// The states of all layers.
inline std::vector<State> states_of_layers(const Dbn& model) {
  std::vector<State> out;
  for (const Layer& layer : model.layers()) out.push_back(all_states(layer));
  return out;
}

/// p(visible) of each visible state, numbered as all_states has them.
inline std::vector<double> visible_distribution(const Dbn& model) {
  const std::vector<State> layers = states_of_layers(model);
  std::vector<double> out(layers[0].chains());
  double all = 0.0;
  for_all_rows(layers, [&](const std::vector<std::size_t>& rows) {
    const double weight = std::exp(minus_energy(model, layers, rows));
    out[rows[0]] += weight;
    all += weight;
  });
  for (double& p : out) p /= all;
  return out;
}

}  // namespace ergodic::test
