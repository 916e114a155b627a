#include "ergodic/store/boltzmann_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/model/hopfield.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

using EdgeList = std::vector<std::pair<std::size_t, std::size_t>>;

/// A whole number of the metadata, if it is there.
std::optional<std::size_t> number_at(const Tensors& tensors, const std::string& key, const std::string& where) {
  const auto found = tensors.metadata.find(key);
  if (found == tensors.metadata.end()) return std::nullopt;
  const std::string& text = found->second;
  const auto value = number_in<std::size_t>(text);
  if (!value) {
    throw DataError(
        fmt::format("{}: metadata: expected '{}' to be a whole number, found {}", where, key, excerpt(text)));
  }
  return value;
}

/// f(), whose UsageError or DataError is one of this file.
template <class F>
auto for_file(const std::string& where, const F& f) {
  try {
    return f();
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: {}", where, e.what()));
  } catch (const DataError& e) {
    throw DataError(fmt::format("{}: {}", where, e.what()));
  }
}

Layer units_from(const Tensors& tensors, const std::string& where) {
  const Array* bias = tensors.find("bias");
  if (!bias) throw DataError(fmt::format("{}: expected a tensor named bias, found none", where));
  if (bias->shape.size() != 1 || bias->size() == 0) {
    throw DataError(
        fmt::format("{}: bias: expected shape [units], at least 1, found [{}]", where, fmt::join(bias->shape, ", ")));
  }
  const auto type = tensors.metadata.find("units");
  const std::size_t letters = number_at(tensors, "letters", where).value_or(0);
  return for_file(where, [&] {
    return make_layer(type == tensors.metadata.end() ? std::string(Bernoulli::kName) : type->second, bias->size(),
                      letters);
  });
}

template <class T>
std::size_t unit_at(const Array& array, std::size_t element, const std::string& where) {
  T value;
  std::memcpy(&value, array.bytes.data() + element * sizeof value, sizeof value);
  if (std::cmp_less(value, 0)) {
    throw DataError(fmt::format("{}: edges: edge {} has the unit {}, expected 0 or more", where, element / 2, value));
  }
  return static_cast<std::size_t>(value);
}

std::size_t unit_at(const Array& array, std::size_t element, const std::string& where) {
  if (array.type == ElementType::kUInt64) return unit_at<std::uint64_t>(array, element, where);
  if (array.type == ElementType::kInt64) return unit_at<std::int64_t>(array, element, where);
  if (array.type == ElementType::kUInt32) return unit_at<std::uint32_t>(array, element, where);
  if (array.type == ElementType::kInt32) return unit_at<std::int32_t>(array, element, where);
  throw DataError(fmt::format("{}: edges: expected integers of 32 or 64 bits, found {}", where, name_of(array.type)));
}

EdgeList edges_from(const Array& array, const std::string& where) {
  if (array.shape.size() != 2 || array.shape[1] != 2) {
    throw DataError(
        fmt::format("{}: edges: expected shape [edges, 2], found [{}]", where, fmt::join(array.shape, ", ")));
  }
  EdgeList out(array.shape[0]);
  for (std::size_t e = 0; e < out.size(); ++e) {
    const std::size_t a = unit_at(array, 2 * e, where), b = unit_at(array, 2 * e + 1, where);
    out[e] = {std::min(a, b), std::max(a, b)};
  }
  return out;
}

/// The machine with these parameters; couplings as its graph has them.
Boltzmann machine_of(const Tensors& tensors, const Layer& units, Graph graph, std::span<const float> couplings,
                     const std::string& where) {
  const std::vector<float> bias = floats_at(tensors, "bias", {units_of(units)}, where);
  const std::size_t visible = number_at(tensors, "visible_units", where).value_or(units_of(units));
  Boltzmann out = for_file(where, [&] { return Boltzmann(units, std::move(graph), visible); });
  out.set([&](Parameters& parameters) {
    std::copy(couplings.begin(), couplings.end(), parameters["couplings"].begin());
    std::copy(bias.begin(), bias.end(), parameters["bias"].begin());
  });
  return out;
}

Boltzmann machine_from_edges(const Tensors& tensors, const Layer& units, const Array& edges, const std::string& where) {
  const EdgeList pairs = edges_from(edges, where);
  const std::vector<float> given = floats_at(tensors, "couplings", {pairs.size()}, where);
  Graph graph = for_file(where, [&] { return graph_from_edges(units_of(units), pairs); });
  // A graph has its edges in ascending order, a file in any.
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return pairs[a] < pairs[b]; });
  std::vector<float> couplings(given.size());
  for (std::size_t e = 0; e < order.size(); ++e) couplings[e] = given[order[e]];
  return machine_of(tensors, units, std::move(graph), couplings, where);
}

/// All units, or all sites, coupled with each other.
Graph dense_graph_of(const Layer& units) {
  return site_graph(dense_graph(sites_of(units)), std::max<std::size_t>(letters_of(units), 1));
}

Boltzmann machine_from_matrix(const Tensors& tensors, const Layer& units, const std::string& where) {
  const std::size_t n = units_of(units), width = std::max<std::size_t>(letters_of(units), 1);
  const std::vector<float> elements = floats_at(tensors, "matrix", {n, n}, where);
  const std::vector<float> bias = floats_at(tensors, "bias", {n}, where);
  const MatrixView<const float> matrix(elements.data(), n, n);
  if (const auto flaw = flaw_in(matrix, bias)) throw DataError(fmt::format("{}: matrix of {}", where, *flaw));
  Graph graph = dense_graph_of(units);
  std::vector<float> couplings;
  couplings.reserve(graph.edges());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (i / width != j / width) {
        couplings.push_back(matrix(i, j));
      } else if (matrix(i, j) != 0.0f) {
        throw DataError(
            fmt::format("{}: matrix of couplings: expected zeros between letters of one site, found {} at "
                        "({}, {}), both of site {}",
                        where, matrix(i, j), i, j, i / width));
      }
    }
  }
  return machine_of(tensors, units, std::move(graph), couplings, where);
}

}  // namespace

void put_boltzmann(Tensors& tensors, const Boltzmann& machine) {
  const Layer& units = machine.units();
  const Graph& graph = machine.graph();
  const bool dense = graph.site_units() == std::max<std::size_t>(letters_of(units), 1);
  tensors.metadata["units"] = name_of(units);
  if (letters_of(units) > 0) tensors.metadata["letters"] = std::to_string(letters_of(units));
  tensors.metadata["visible_units"] = std::to_string(machine.visible());
  tensors.metadata["graph"] = dense ? "dense" : "edges";
  put_parameters(tensors, machine.parameters());
  if (dense) return;
  std::vector<std::uint64_t> edges;
  edges.reserve(2 * graph.edges());
  for (std::size_t i = 0; i < graph.units(); ++i) {
    graph.for_later_neighbours(i, [&](std::size_t j, std::size_t) { edges.insert(edges.end(), {i, j}); });
  }
  tensors.arrays.emplace_back("edges", array_of(edges, {graph.edges(), 2}));
}

Boltzmann boltzmann_from(const Tensors& tensors, const std::string& where) {
  const Layer units = units_from(tensors, where);
  const auto graph = tensors.metadata.find("graph");
  const bool named = graph != tensors.metadata.end(), matrix = tensors.find("matrix") != nullptr;
  if (const Array* edges = tensors.find("edges")) {
    if (!named || graph->second == "edges") return machine_from_edges(tensors, units, *edges, where);
    throw DataError(
        fmt::format("{}: metadata: expected 'graph' to be 'edges', as there is a tensor of that name, found {}", where,
                    excerpt(graph->second)));
  }
  if (named ? graph->second != "dense" : !matrix) {
    throw DataError(
        fmt::format("{}: expected the edges of a graph: a tensor named edges or matrix, or the metadata "
                    "'graph' to be 'dense', found {}",
                    where, named ? excerpt(graph->second) : "none"));
  }
  if (matrix) return machine_from_matrix(tensors, units, where);
  Graph all = for_file(where, [&] { return dense_graph_of(units); });
  const std::vector<float> couplings = floats_at(tensors, "couplings", {all.edges()}, where);
  return machine_of(tensors, units, std::move(all), couplings, where);
}

}  // namespace ergodic
