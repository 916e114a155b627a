#include "ergodic/model/graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

using test::Edge, test::edges_of;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Whatever a graph says of its units agrees with the list of its edges.
void expect_consistent(const Graph& graph) {
  const std::vector<Edge> edges = edges_of(graph);
  ASSERT_EQ(edges.size(), graph.edges());
  std::size_t degrees = 0;
  for (std::size_t i = 0; i < graph.units(); ++i) {
    std::vector<std::size_t> found;
    graph.for_neighbours(i, [&](std::size_t j, std::size_t e) {
      found.push_back(j);
      ASSERT_LT(e, edges.size());
      EXPECT_EQ(edges[e], (Edge{std::min(i, j), std::max(i, j)}));
    });
    EXPECT_EQ(found.size(), graph.degree(i));
    for (std::size_t k = 1; k < found.size(); ++k) EXPECT_LT(found[k - 1], found[k]);
    degrees += found.size();
  }
  EXPECT_EQ(degrees, 2 * edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    EXPECT_LT(edges[e].low, edges[e].high);
    if (e > 0) {
      EXPECT_LT(std::pair(edges[e - 1].low, edges[e - 1].high), std::pair(edges[e].low, edges[e].high));
    }
  }
}

TEST(Graph, SitesOfLettersNeedNoListsIfAllAreNeighbours) {
  for (const std::size_t letters : {1u, 2u, 3u, 5u}) {
    for (const std::size_t sites : {1u, 2u, 3u, 7u}) {
      const Graph graph = site_graph(dense_graph(sites), letters);
      ASSERT_NO_FATAL_FAILURE(expect_consistent(graph));
      EXPECT_EQ(graph.edges(), sites * (sites - 1) / 2 * letters * letters);
      EXPECT_EQ(graph.site_units(), letters);
      // The same edges in the same order as if listed.
      std::vector<std::pair<std::size_t, std::size_t>> pairs;
      for (std::size_t i = 0; i < graph.units(); ++i) {
        for (std::size_t j = i + 1; j < graph.units(); ++j) {
          if (i / letters != j / letters) pairs.push_back({i, j});
        }
      }
      EXPECT_EQ(edges_of(graph), edges_of(graph_from_edges(graph.units(), pairs)));
    }
  }
}

TEST(Graph, SitesOfLettersAreCoupledAsTheSitesAre) {
  const Graph sites = grid_graph(3, 4, Border::kOpen), graph = site_graph(sites, 3);
  ASSERT_NO_FATAL_FAILURE(expect_consistent(graph));
  EXPECT_EQ(graph.edges(), sites.edges() * 9);
  std::set<std::pair<std::size_t, std::size_t>> neighbours;
  for (const auto& [i, j] : edges_of(sites)) neighbours.insert({i, j});
  for (const auto& [i, j] : edges_of(graph)) EXPECT_EQ(neighbours.count({i / 3, j / 3}), 1u);
  // Later neighbours in a range of units.
  for (const Graph& g : {graph, site_graph(dense_graph(12), 3)}) {
    for (std::size_t unit = 0; unit < 36; ++unit) {
      std::vector<std::size_t> all, parts;
      g.for_later_neighbours(unit, [&](std::size_t j, std::size_t) { all.push_back(j); });
      for (std::size_t first = (unit / 3 + 1) * 3; first < 36; first += 3) {
        g.later(unit).between(first, first + 3, [&](std::size_t j, std::size_t) { parts.push_back(j); });
      }
      EXPECT_EQ(parts, all);
    }
  }
  EXPECT_THROW(site_graph(dense_graph(Graph::kMaxUnits), 2), UsageError);
}

/// Each unit has one colour, which no neighbour has, and colours are in ascending order.
void expect_proper(const Graph& graph, const Colours& colours) {
  std::vector<std::size_t> colour(graph.units(), colours.size());
  for (std::size_t c = 0; c < colours.size(); ++c) {
    for (std::size_t k = 0; k < colours[c].size(); ++k) {
      EXPECT_EQ(colour[colours[c][k]], colours.size()) << "two colours";
      colour[colours[c][k]] = c;
      if (k > 0) {
        EXPECT_LT(colours[c][k - 1], colours[c][k]);
      }
    }
  }
  for (std::size_t i = 0; i < graph.units(); ++i) {
    EXPECT_LT(colour[i], colours.size()) << "no colour";
    graph.for_neighbours(i, [&](std::size_t j, std::size_t) { EXPECT_NE(colour[i], colour[j]); });
  }
}

TEST(Graph, TheDenseOneHasEveryPairInOrder) {
  for (const std::size_t n : {1u, 2u, 3u, 7u, 70u}) {
    const Graph graph = dense_graph(n);
    EXPECT_EQ(graph.edges(), n * (n - 1) / 2);
    EXPECT_TRUE(graph.dense());
    expect_consistent(graph);
    expect_proper(graph, colours_of(graph));
    EXPECT_EQ(colours_of(graph).size(), n);
  }
}

TEST(Graph, AllPairsInAnyOrderAreTheDenseOne) {
  EXPECT_EQ(graph_from_edges(3, Pairs{{2, 0}, {2, 1}, {0, 1}}), dense_graph(3));
  EXPECT_EQ(graph_from_edges(1, Pairs{}), dense_graph(1));
  EXPECT_EQ(random_graph(9, 8.0, Key{1}), dense_graph(9));
}

TEST(Graph, AnOpenGridHasTheNeighboursOfASquareLattice) {
  const Graph graph = grid_graph(2, 3, Border::kOpen);
  EXPECT_EQ(edges_of(graph), (std::vector<Edge>{{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {4, 5}}));
  for (const auto& [height, width] : {std::pair{1u, 1u}, {1u, 9u}, {9u, 1u}, {2u, 2u}, {5u, 7u}}) {
    const Graph grid = grid_graph(height, width, Border::kOpen);
    EXPECT_EQ(grid.edges(), height * (width - 1) + width * (height - 1));
    expect_consistent(grid);
    expect_proper(grid, colours_of(grid));
    EXPECT_LE(colours_of(grid).size(), 2u);
  }
}

TEST(Graph, OnAPeriodicGridEveryUnitHasFourNeighbours) {
  for (const auto& [height, width] : {std::pair{3u, 3u}, {4u, 4u}, {3u, 8u}, {6u, 10u}, {5u, 7u}}) {
    const Graph grid = grid_graph(height, width, Border::kPeriodic);
    EXPECT_EQ(grid.edges(), 2 * height * width);
    for (std::size_t i = 0; i < grid.units(); ++i) EXPECT_EQ(grid.degree(i), 4u);
    expect_consistent(grid);
    expect_proper(grid, colours_of(grid));
    if (height % 2 == 0 && width % 2 == 0) {
      EXPECT_EQ(colours_of(grid).size(), 2u);
      EXPECT_EQ(colours_of(grid)[0].size(), colours_of(grid)[1].size());
    }
  }
}

TEST(Graph, GreedyColoursAreNeverMoreThanTheLargestDegreeAndOne) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = random_graph(60, 0.5 * static_cast<double>(seed), Key{seed});
    expect_consistent(graph);
    const Colours colours = colours_of(graph);
    expect_proper(graph, colours);
    std::size_t largest = 0;
    for (std::size_t i = 0; i < graph.units(); ++i) largest = std::max(largest, graph.degree(i));
    EXPECT_LE(colours.size(), largest + 1);
  }
}

TEST(Graph, ARandomOneHasThePromisedNumberOfEdges) {
  // The number of edges is binomial, its mean units * degree / 2.
  constexpr std::size_t kUnits = 500;
  for (const double degree : {0.0, 0.5, 4.0, 100.0, 450.0}) {
    const double pairs = kUnits * (kUnits - 1) / 2.0, p = degree / (kUnits - 1);
    const Graph graph = random_graph(kUnits, degree, Key{3});
    expect_consistent(graph);
    EXPECT_NEAR(static_cast<double>(graph.edges()), pairs * p, 4.0 * std::sqrt(pairs * p * (1.0 - p)));
  }
  EXPECT_EQ(random_graph(50, 5.0, Key{4}), random_graph(50, 5.0, Key{4}));
  EXPECT_NE(random_graph(50, 5.0, Key{4}), random_graph(50, 5.0, Key{5}));
}

TEST(Graph, EachPairOfARandomOneIsAnEdgeEquallyOften) {
  // 2000 graphs of 8 units: how often a pair is an edge is binomial. Of 28 pairs, all within 4 standard deviations.
  constexpr std::size_t kUnits = 8, kGraphs = 2000;
  Matrix<double> found(kUnits, kUnits);
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    for (const auto& [i, j] : edges_of(random_graph(kUnits, 2.1, Key{seed}))) found(i, j) += 1.0;
  }
  const double p = 2.1 / (kUnits - 1);
  for (std::size_t i = 0; i < kUnits; ++i) {
    for (std::size_t j = i + 1; j < kUnits; ++j) {
      EXPECT_NEAR(found(i, j), kGraphs * p, 4.0 * std::sqrt(kGraphs * p * (1.0 - p))) << i << " " << j;
    }
  }
}

TEST(Graph, EdgesMayComeInAnyOrder) {
  const Graph graph = graph_from_edges(6, Pairs{{5, 2}, {0, 4}, {4, 2}, {1, 0}});
  EXPECT_EQ(edges_of(graph), (std::vector<Edge>{{0, 1}, {0, 4}, {2, 4}, {2, 5}}));
  EXPECT_FALSE(graph.dense());
  expect_consistent(graph);
  EXPECT_EQ(graph.degree(3), 0u);
  EXPECT_EQ(colours_of(graph), (Colours{{0, 2, 3}, {1, 4, 5}}));
}

TEST(Graph, AWrongListOfEdgesIsRefusedByItsPlace) {
  const auto message = [](const Pairs& pairs) { return message_of<DataError>([&] { graph_from_edges(4, pairs); }); };
  expect_parts(message({{0, 1}, {2, 4}}), {"edge 1", "units 2 and 4", "from 0 to 3"});
  expect_parts(message({{0, 1}, {1, 2}, {3, 3}}), {"edge 2", "unit 3 with itself"});
  expect_parts(message({{0, 1}, {2, 3}, {1, 2}, {3, 2}}), {"edge 3", "units 2 and 3 again", "edge 1"});
}

TEST(Graph, ImpossibleOnesAreRefused) {
  const auto message = [](const auto& make) { return message_of<UsageError>(make); };
  expect_parts(message([] { dense_graph(0); }), {"from 1 to", "found 0"});
  expect_parts(message([] { dense_graph(Graph::kMaxUnits + 1); }), {"1073741824", "1073741825"});
  expect_parts(message([] { grid_graph(0, 3, Border::kOpen); }), {"at least 1", "0 x 3"});
  expect_parts(message([] { grid_graph(std::size_t{1} << 40, std::size_t{1} << 40, Border::kOpen); }), {"at most"});
  expect_parts(message([] { grid_graph(2, 5, Border::kPeriodic); }), {"at least 3", "2 x 5"});
  expect_parts(message([] { random_graph(10, 9.5, Key{1}); }), {"from 0 to 9", "9.5"});
  expect_parts(message([] { random_graph(10, -1.0, Key{1}); }), {"found -1"});
  expect_parts(message([] { random_graph(10, std::nan(""), Key{1}); }), {"nan"});
  expect_parts(message([] { random_graph(1u << 20, 1000.0, Key{1}); }), {"134217728", "524288000", "9.8 GiB"});
}

}  // namespace
}  // namespace ergodic
