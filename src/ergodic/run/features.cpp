#include "ergodic/run/features.hpp"

#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"

namespace ergodic {
namespace {

Matrix<float> hidden_values(const Machine& machine, const Chains& chains) {
  return own_values(*machine.hidden_of(chains));
}

}  // namespace

Features features(const Machine& machine, const OpenRows& rows, const FeatureOptions& options, Key key,
                  const Context& context) {
  require(machine.hidden_of(machine.start(1, key, context)).has_value(),
          fmt::format("features are the hidden units of a machine, and this {} has none", machine.kind().title));
  if (rows.complete()) {
    if (auto means = machine.hidden_means(rows.rows, context)) {
      if (!options.drawn) return {false, std::move(*means), false};
      return {false, hidden_values(machine, machine.start_at(rows.rows, key, context)), false};
    }
  }
  const OpenDrawOptions chains{options.sweeps, 1, options.drawn ? Averaged::kNothing : Averaged::kHidden};
  auto found = draw_open(machine, rows, chains, key, context);
  if (!found) return {true, {}, true};
  return {false, options.drawn ? hidden_values(machine, found->chains) : std::move(found->means), true};
}

}  // namespace ergodic
