#include "ergodic/model/hidden_given_visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ergodic/core/error.hpp"
#include "ergodic/model/conditional.hpp"

namespace ergodic {

void require_rows_of(const Boltzmann& machine, const State& visible) {
  require(
      visible.units() == machine.visible(),
      fmt::format("a machine of {} visible units needs rows of as many, found {}", machine.visible(), visible.units()));
}

HiddenFields::HiddenFields(const Boltzmann& machine, const State& visible, const Context& context)
    : fields(visible.chains(), machine.hidden()), energies(visible.chains()) {
  const std::size_t units = machine.visible();
  require_rows_of(machine, visible);
  const std::span<const float> bias = machine.bias();
  context.for_blocks(visible.chains(), 1, [&](std::size_t r, std::size_t) {
    const std::span<double> row = fields.row(r);
    std::ranges::copy(bias.subspan(units), row.begin());
    for (std::size_t i = 0; i < units; ++i) {
      const double x = visible.value(r, i);
      if (x == 0.0) continue;
      double field = bias[i];  // of the bias and the later visible units: each edge counts once
      machine.graph().for_later_neighbours(i, [&](std::size_t j, std::size_t e) {
        const double w = machine.couplings()[e];
        if (j < units) field += w * visible.value(r, j);
        if (j >= units) row[j - units] += w * x;
      });
      energies[r] -= x * field;
    }
  });
}

Boltzmann hidden_machine(const Boltzmann& machine) {
  std::vector<std::uint32_t> units(machine.hidden());
  std::iota(units.begin(), units.end(), static_cast<std::uint32_t>(machine.visible()));
  return induced_machine(machine, units);
}

}  // namespace ergodic
