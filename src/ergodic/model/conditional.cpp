#include "ergodic/model/conditional.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace ergodic {
namespace {

// From an eighth of all pairs on, zeros added by the kernels of dense graphs cost less than lists, 4 times less at 45
// %; unless the matrices are large.
constexpr std::size_t kPairsForAnEdge = 8, kMostUnitsOfMatrices = 2048;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The place of each unit among the chosen ones; kNone for others.
std::vector<std::uint32_t> places_of(std::span<const std::uint32_t> chosen, std::size_t units) {
  std::vector<std::uint32_t> out(units, kNone);
  for (std::size_t k = 0; k < chosen.size(); ++k) out[chosen[k]] = static_cast<std::uint32_t>(k);
  return out;
}

/// Calls f(i, j, edge) for the edges between chosen units, by their places, in order.
template <class F>
void for_induced_edges(const Graph& graph, std::span<const std::uint32_t> chosen,
                       const std::vector<std::uint32_t>& place, const F& f) {
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    graph.for_later_neighbours(chosen[k], [&](std::size_t j, std::size_t e) {
      if (place[j] != kNone) f(k, std::size_t{place[j]}, e);
    });
  }
}

Graph induced_graph(const Boltzmann& machine, std::span<const std::uint32_t> chosen,
                    const std::vector<std::uint32_t>& place) {
  if (const std::size_t each = machine.graph().site_units(); each > 0) return Graph(chosen.size(), each);
  std::vector<Graph::Pair> pairs;
  for_induced_edges(machine.graph(), chosen, place, [&](std::size_t i, std::size_t j, std::size_t) {
    pairs.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
  });
  const std::size_t units = chosen.size();
  const bool many = letters_of(machine.units()) == 0 && units <= kMostUnitsOfMatrices &&
                    pairs.size() * kPairsForAnEdge >= units * (units - 1) / 2;
  return many ? Graph(units) : Graph(units, pairs);
}

/// The sites of a layer that are not known in a row, and their units.
struct Open {
  std::vector<std::size_t> sites;
  std::vector<std::uint32_t> units;

  Open(const Layer& layer, const Bits& known, std::size_t row) {
    const std::vector<Site> all = ergodic::sites(layer);
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (known.get(row, all[s].first)) continue;
      sites.push_back(s);
      for (std::size_t u = 0; u < all[s].size; ++u) units.push_back(static_cast<std::uint32_t>(all[s].first + u));
    }
  }
};

}  // namespace

Conditional<Rbm> conditional(const Rbm& model, const State& rows, const Bits& known, std::size_t row) {
  const Open open(model.visible(), known, row);
  assert(!open.sites.empty());
  std::vector<double> hidden(model.hidden_bias().begin(), model.hidden_bias().end());
  double energy = 0.0;
  const std::span<const double> deviations = model.precision(Rbm::kVisible).deviations;
  for (std::size_t i = 0; i < rows.units(); ++i) {
    const double x = rows.value(row, i);
    if (x == 0.0 || !known.get(row, i)) continue;
    energy -= model.visible_bias()[i] * x;
    if (rows.real()) energy += 0.5 * (x / deviations[i]) * (x / deviations[i]);
    const std::span<const float> weights = model.weights().row(i);
    for (std::size_t j = 0; j < hidden.size(); ++j) hidden[j] += weights[j] * x;
  }
  Rbm out(layer_of_sites(model.visible(), open.sites), model.hidden());
  out.update(
      [&](Parameters& parameters) {
        const std::size_t m = hidden.size();
        for (std::size_t k = 0; k < open.units.size(); ++k) {
          const std::span<const float> weights = model.weights().row(open.units[k]);
          std::ranges::copy(weights, parameters["weights"].begin() + static_cast<std::ptrdiff_t>(k * m));
          parameters["visible_bias"][k] = model.visible_bias()[open.units[k]];
          if (rows.real()) {
            const char* slot = Rbm::precision_slot(Rbm::kVisible);
            parameters[slot][k] = model.parameters()[slot][open.units[k]];
          }
        }
        std::ranges::transform(hidden, parameters["hidden_bias"].begin(),
                               [](double field) { return static_cast<float>(field); });
        if (real_valued(model.hidden())) {
          const char* slot = Rbm::precision_slot(Rbm::kHidden);
          std::ranges::copy(model.parameters()[slot], parameters[slot].begin());
        }
      },
      {});
  return {std::move(out), energy};
}

Boltzmann induced_machine(const Boltzmann& machine, std::span<const std::uint32_t> units) {
  assert(!units.empty());
  const std::vector<std::uint32_t> place = places_of(units, machine.graph().units());
  Boltzmann out(make_layer(name_of(machine.units()), units.size(), letters_of(machine.units())),
                induced_graph(machine, units, place));
  out.update(
      [&](Parameters& parameters) {
        for_induced_edges(machine.graph(), units, place, [&](std::size_t i, std::size_t j, std::size_t e) {
          out.graph().later(i).between(
              j, j + 1, [&](auto, std::size_t own) { parameters["couplings"][own] = machine.couplings()[e]; });
        });
      },
      {});
  return out;
}

Conditional<Boltzmann> conditional(const Boltzmann& model, const State& rows, const Bits& known, std::size_t row) {
  Open open(model.visible_layer(), known, row);
  for (std::size_t i = model.visible(); i < model.graph().units(); ++i) {
    open.units.push_back(static_cast<std::uint32_t>(i));
  }
  const std::vector<std::uint32_t> place = places_of(open.units, model.graph().units());
  std::vector<double> fields(model.bias().begin(), model.bias().end());
  const auto value = [&](std::size_t i) { return place[i] == kNone ? double{rows.value(row, i)} : 0.0; };
  double energy = 0.0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const double x = value(i);
    model.graph().for_later_neighbours(i, [&](std::size_t j, std::size_t e) {
      const double w = model.couplings()[e];
      if (place[i] == kNone) fields[j] += w * x;  // later ones: a pair of known units counts once
      if (place[i] != kNone) fields[i] += w * value(j);
    });
    energy -= x * fields[i];
  }
  Conditional<Boltzmann> out{induced_machine(model, open.units), energy};
  out.open.update(
      [&](Parameters& parameters) {
        for (std::size_t k = 0; k < open.units.size(); ++k) {
          parameters["bias"][k] = static_cast<float>(fields[open.units[k]]);
        }
      },
      {});
  return out;
}

}  // namespace ergodic
