#include "ergodic/model/hidden_given_visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

// From an eighth of all pairs on, zeros added by the kernels of dense graphs cost less than lists, 4 times less at 45
// %; unless the matrices are large.
constexpr std::size_t kPairsForAnEdge = 8, kMostUnitsOfMatrices = 2048;

/// Calls f(i, j, edge) for the edges between hidden units, which are counted from the first of them.
template <class F>
void for_hidden_edges(const Boltzmann& machine, const F& f) {
  const std::size_t first = machine.visible();
  for (std::size_t i = first; i < machine.graph().units(); ++i) {
    machine.graph().for_later_neighbours(i, [&](std::size_t j, std::size_t e) { f(i - first, j - first, e); });
  }
}

Graph hidden_graph(const Boltzmann& machine) {
  if (const std::size_t each = machine.graph().site_units(); each > 0) return Graph(machine.hidden(), each);
  std::vector<Graph::Pair> pairs;
  for_hidden_edges(machine, [&](std::size_t i, std::size_t j, std::size_t) {
    pairs.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
  });
  const std::size_t units = machine.hidden();
  const bool many = letters_of(machine.units()) == 0 && units <= kMostUnitsOfMatrices &&
                    pairs.size() * kPairsForAnEdge >= units * (units - 1) / 2;
  return many ? Graph(units) : Graph(units, pairs);
}

}  // namespace

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
  assert(machine.hidden() > 0);
  Boltzmann out(machine.hidden_layer(), hidden_graph(machine));
  out.update(
      [&](Parameters& parameters) {
        for_hidden_edges(machine, [&](std::size_t i, std::size_t j, std::size_t e) {
          out.graph().later(i).between(
              j, j + 1, [&](auto, std::size_t own) { parameters["couplings"][own] = machine.couplings()[e]; });
        });
      },
      {});
  return out;
}

}  // namespace ergodic
