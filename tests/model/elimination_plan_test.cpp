#include "ergodic/model/elimination_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/error_message.hpp"

namespace ergodic {
namespace {

using Edges = std::vector<std::pair<std::size_t, std::size_t>>;

EliminationPlan plan_of(const Graph& graph, std::size_t values = 2) { return plan_elimination(graph, 0, values, {}); }

/// Every unit hangs on the one of half its number.
Graph tree(std::size_t units) {
  Edges edges;
  for (std::size_t i = 1; i < units; ++i) edges.push_back({(i - 1) / 2, i});
  return graph_from_edges(units, edges);
}

TEST(EliminationPlan, ItsWidthIsThatOfKnownGraphs) {
  EXPECT_EQ(plan_of(graph_from_edges(5, Edges{})).width, 0u);
  EXPECT_EQ(plan_of(grid_graph(1, 1000, Border::kOpen)).width, 1u);
  EXPECT_EQ(plan_of(tree(1000)).width, 1u);
  EXPECT_EQ(plan_of(dense_graph(20)).width, 19u);
  Edges star;
  for (std::size_t i = 1; i < 100; ++i) star.push_back({0, i});
  EXPECT_EQ(plan_of(graph_from_edges(100, star)).width, 1u);
}

TEST(EliminationPlan, CountsTermsAndTables) {
  // Of a chain each sum but the last leaves a table over one neighbour, which the next one reads.
  const EliminationPlan chain = plan_of(grid_graph(1, 4, Border::kOpen), 3);
  EXPECT_EQ(chain.terms, 3.0 * (3 + 3 + 3 + 1));
  EXPECT_EQ(chain.entries, 3.0 + 3.0);
  // Of a dense graph, 8 and 4 entries are kept while the second sum is made.
  const EliminationPlan dense = plan_of(dense_graph(4));
  EXPECT_EQ(dense.terms, 2.0 * (8 + 4 + 2 + 1));
  EXPECT_EQ(dense.entries, 8.0 + 4.0);
}

TEST(EliminationPlan, AGridCostsAboutAsMuchAsGoingThroughItAlongItsLongSide) {
  // Which for each unit leaves a table over ten; a wave that lies askew knows one more.
  for (const Graph& graph : {grid_graph(10, 500, Border::kOpen), grid_graph(500, 10, Border::kOpen)}) {
    EXPECT_LE(plan_of(graph).terms, 2.0 * 5000 * 2048);
  }
  // A torus has two borders between what is summed over and what is not.
  EXPECT_LE(plan_of(grid_graph(12, 12, Border::kPeriodic)).terms, 2.0 * 144 * 0x1p24);
}

TEST(EliminationPlan, EachStepHasItsNeighboursAmongThoseToCome) {
  for (const Graph& graph : {random_graph(40, 3.0, Key{1}), grid_graph(4, 6, Border::kPeriodic), tree(30)}) {
    const EliminationPlan plan = plan_of(graph);
    ASSERT_EQ(plan.steps.size(), graph.units());
    std::vector<std::size_t> turn(graph.units(), graph.units());
    for (std::size_t s = 0; s < plan.steps.size(); ++s) turn[plan.steps[s].site] = s;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      const auto& [site, scope, next] = plan.steps[s];
      std::set<std::uint32_t> known(scope.begin(), scope.end());
      graph.for_neighbours(site, [&](std::size_t other, std::size_t) {
        EXPECT_TRUE(turn[other] < s || known.contains(static_cast<std::uint32_t>(other)));
      });
      for (std::size_t k = 0; k < scope.size(); ++k)
        EXPECT_GT(turn[scope[k]], k + 1 < scope.size() ? turn[scope[k + 1]] : s);
      EXPECT_EQ(next, scope.empty() ? EliminationStep::kNone : turn[scope.back()]);
    }
  }
}

TEST(EliminationPlan, OfSomeSitesAloneNumbersThemFromTheFirst) {
  const EliminationPlan plan = plan_elimination(dense_graph(10), 7, 2, {});
  EXPECT_EQ(plan.first, 7u);
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(plan.width, 2u);
  EXPECT_TRUE(plan_elimination(dense_graph(10), 10, 2, {}).steps.empty());
}

TEST(EliminationPlan, SaysWhenAGraphIsTooWide) {
  const EliminationPlan dense = plan_of(dense_graph(5000));  // known from the number of edges alone
  EXPECT_TRUE(dense.too_wide);
  expect_parts(dense.complaint({}), {"too wide", "2499 neighbours", "2^25 entries"});
  const EliminationPlan grid = plan_of(grid_graph(40, 40, Border::kOpen));
  EXPECT_TRUE(grid.too_wide);
  const EliminationLimits few{100.0, 1e9};
  expect_parts(plan_elimination(dense_graph(10), 0, 2, few).complaint(few), {"up to 9 neighbours", "2^7 terms"});
  // Letters have larger tables: 21^5 is less than 2^25, 21^6 more.
  EXPECT_FALSE(plan_of(dense_graph(6), 21).too_wide);
  EXPECT_TRUE(plan_of(dense_graph(7), 21).too_wide);
}

}  // namespace
}  // namespace ergodic
