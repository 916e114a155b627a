#include "ergodic/run/features.hpp"

#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"

namespace ergodic {

Features features(const Machine& machine, const OpenRows& rows, const FeatureOptions& options, Key key,
                  const Context& context) {
  const std::size_t layers = machine.hidden_layers(), layer = options.layer.value_or(layers);
  require(layers > 0,
          fmt::format("features are the hidden units of a machine, and this {} has none", machine.kind().title));
  require(layer >= 1 && layer <= layers,
          fmt::format("--layer: expected a hidden layer from 1 to {}, found {}", layers, layer));
  const auto drawn = [&](const Chains& chains) { return own_values(*machine.hidden_of(chains, layer)); };
  if (rows.complete()) {
    if (auto means = machine.hidden_means(rows.rows, layer, context)) {
      if (!options.drawn) return {false, std::move(*means), false};
      return {false, drawn(machine.start_at(rows.rows, key, context)), false};
    }
  }
  const Averaged averaged = options.drawn ? Averaged::kNothing : Averaged::kHidden;
  auto found = draw_open(machine, rows, {options.sweeps, 1, averaged, layer}, key, context);
  if (!found) return {true, {}, true};
  return {false, options.drawn ? drawn(found->chains) : std::move(found->means), true};
}

}  // namespace ergodic
