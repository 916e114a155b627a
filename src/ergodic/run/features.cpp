#include "ergodic/run/features.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/model/sigmoid_layers.hpp"

namespace ergodic {
namespace {

/// How many layers of hidden units there are: those of chains after the first, or units that share the first.
std::size_t hidden_layers(const Chains& chains) { return std::max<std::size_t>(chains.layers.size(), 2) - 1; }

Matrix<float> hidden_values(const Machine& machine, const Chains& chains, std::size_t layer) {
  return own_values(layer == hidden_layers(chains) ? *machine.hidden_of(chains) : chains.layers[layer]);
}

/// E[units of a layer | row], or nothing if there is no formula: of a layer below the highest, by those of a network.
std::optional<Matrix<float>> expected(const Machine& machine, const State& rows, std::size_t layer, bool highest,
                                      const Context& context) {
  if (highest) return machine.hidden_means(rows, context);
  const std::vector<NetworkLayer> layers = machine.network_layers();
  const std::size_t inputs = layers[0].weights.rows();
  Matrix<float> values = plain_values(rows), known(values.rows(), inputs);  // without the units of labels
  for (std::size_t r = 0; r < known.rows(); ++r) std::copy_n(values.row(r).begin(), inputs, known.row(r).begin());
  return raised(std::span(layers).first(layer), std::move(known), context);
}

}  // namespace

Features features(const Machine& machine, const OpenRows& rows, const FeatureOptions& options, Key key,
                  const Context& context) {
  const Chains example = machine.start(1, key, context);
  require(machine.hidden_of(example).has_value(),
          fmt::format("features are the hidden units of a machine, and this {} has none", machine.kind().title));
  const std::size_t layers = hidden_layers(example), layer = options.layer.value_or(layers);
  require(layer >= 1 && layer <= layers,
          fmt::format("--layer: expected a hidden layer from 1 to {}, found {}", layers, layer));
  if (rows.complete()) {
    if (auto means = expected(machine, rows.rows, layer, layer == layers, context)) {
      if (!options.drawn) return {false, std::move(*means), false};
      return {false, hidden_values(machine, machine.start_at(rows.rows, key, context), layer), false};
    }
  }
  require(layer == layers || options.drawn,
          "--layer: rows with missing values have expected values of the highest layer alone; add --drawn");
  const OpenDrawOptions chains{options.sweeps, 1, options.drawn ? Averaged::kNothing : Averaged::kHidden};
  auto found = draw_open(machine, rows, chains, key, context);
  if (!found) return {true, {}, true};
  return {false, options.drawn ? hidden_values(machine, found->chains, layer) : std::move(found->means), true};
}

}  // namespace ergodic
