#include "ergodic/model/elimination_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace ergodic {
namespace {

using Sites = std::vector<std::uint32_t>;

bool contains(const Sites& sorted, std::uint32_t site) {
  return std::binary_search(sorted.begin(), sorted.end(), site);
}

void insert(Sites& sorted, std::uint32_t site) {
  sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), site), site);
}

void erase(Sites& sorted, std::uint32_t site) { sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), site)); }

/// By multiplication, which gives the same bits everywhere; infinite if it is too large.
double power(double base, std::size_t exponent) {
  double out = 1.0;
  for (std::size_t k = 0; k < exponent && std::isfinite(out); ++k) out *= base;
  return out;
}

/// The neighbours of each site from `first` on, which is number 0 here, in ascending order.
std::vector<Sites> neighbours_of(const Graph& graph, std::size_t first) {
  std::vector<Sites> out(graph.units() - first);
  for (std::size_t site = first; site < graph.units(); ++site) {
    graph.for_later_neighbours(site, [&](std::size_t other, std::size_t) {
      out[site - first].push_back(static_cast<std::uint32_t>(other - first));
      out[other - first].push_back(static_cast<std::uint32_t>(site - first));
    });
  }
  for (Sites& sites : out) std::sort(sites.begin(), sites.end());
  return out;
}

/// A graph from which sites are taken one after the other, and what their sums cost.
class Shrinking {
 public:
  Shrinking(std::vector<Sites> neighbours, std::size_t values, const EliminationLimits& limits)
      : neighbours_(std::move(neighbours)), values_(static_cast<double>(values)), limits_(limits) {}

  std::size_t sites() const { return neighbours_.size(); }
  const Sites& neighbours(std::uint32_t site) const { return neighbours_[site]; }
  /// How many entries the table has that the sum over a site leaves.
  double entries(std::size_t neighbours) const { return power(values_, neighbours); }

  /// How many pairs of the neighbours of a site are not neighbours themselves. Not counted if their table is too large.
  std::size_t missing_pairs(std::uint32_t site) const {
    const Sites& around = neighbours_[site];
    if (entries(around.size()) > limits_.entries) return std::numeric_limits<std::size_t>::max();
    std::size_t out = 0;
    for (std::size_t a = 0; a < around.size(); ++a) {
      for (std::size_t b = a + 1; b < around.size(); ++b) out += contains(neighbours_[around[a]], around[b]) ? 0 : 1;
    }
    return out;
  }

  /// Takes a site, unless that is too wide. Calls joined(a, b) for each pair that become neighbours.
  template <class Joined>
  void eliminate(std::uint32_t site, const Joined& joined) {
    Sites around = std::exchange(neighbours_[site], {});
    plan_.width = std::max(plan_.width, around.size());
    plan_.entries = std::max(plan_.entries, entries(around.size()));
    plan_.terms += values_ * entries(around.size());
    plan_.too_wide = plan_.entries > limits_.entries || plan_.terms > limits_.terms;
    if (plan_.too_wide) return;
    for (const std::uint32_t a : around) erase(neighbours_[a], site);
    for (std::size_t a = 0; a < around.size(); ++a) {
      for (std::size_t b = a + 1; b < around.size(); ++b) {
        if (contains(neighbours_[around[a]], around[b])) continue;
        insert(neighbours_[around[a]], around[b]);
        insert(neighbours_[around[b]], around[a]);
        joined(around[a], around[b]);
      }
    }
    plan_.steps.push_back({site, std::move(around)});
  }

  bool done() const { return plan_.too_wide || plan_.steps.size() == sites(); }

  /// With everything that follows from the order.
  EliminationPlan finished() && {
    if (plan_.too_wide) return std::move(plan_);
    std::vector<std::uint32_t> turn(sites());
    for (std::size_t s = 0; s < turn.size(); ++s) turn[plan_.steps[s].site] = static_cast<std::uint32_t>(s);
    std::vector<double> read(sites());  // entries of the tables that a step is the last to need
    double kept = 0.0;
    for (std::size_t s = 0; s < turn.size(); ++s) {
      EliminationStep& step = plan_.steps[s];
      std::sort(step.scope.begin(), step.scope.end(), [&](auto a, auto b) { return turn[a] > turn[b]; });
      const double own = entries(step.scope.size());
      plan_.entries = std::max(plan_.entries, kept += own);
      kept -= read[s];
      if (step.scope.empty()) continue;
      step.next = turn[step.scope.back()];
      read[step.next] += own;
    }
    plan_.too_wide = plan_.entries > limits_.entries;
    return std::move(plan_);
  }

 private:
  std::vector<Sites> neighbours_;
  double values_;
  EliminationLimits limits_;
  EliminationPlan plan_;
};

/// The site next that joins the fewest pairs; of several, the first.
EliminationPlan min_fill(Shrinking graph) {
  std::vector<std::size_t> missing(graph.sites());
  std::set<std::pair<std::size_t, std::uint32_t>> queue;
  for (std::uint32_t site = 0; site < graph.sites(); ++site) {
    missing[site] = graph.missing_pairs(site);
    queue.insert({missing[site], site});
  }
  while (!graph.done()) {
    const std::uint32_t site = queue.begin()->second;
    queue.erase(queue.begin());
    std::set<std::uint32_t> changed(graph.neighbours(site).begin(), graph.neighbours(site).end());
    graph.eliminate(site, [&](std::uint32_t a, std::uint32_t b) {
      std::ranges::set_intersection(graph.neighbours(a), graph.neighbours(b), std::inserter(changed, changed.end()));
    });
    for (const std::uint32_t other : changed) {
      queue.erase({missing[other], other});
      missing[other] = graph.missing_pairs(other);
      queue.insert({missing[other], other});
    }
  }
  return std::move(graph).finished();
}

/// All sites that can be reached from one, nearest first; of a site's new neighbours, those with few neighbours first.
/// Marks them with a number that none of them had.
Sites walk_from(std::uint32_t start, const Shrinking& graph, std::uint32_t number, Sites& marks) {
  Sites out{start};
  marks[start] = number;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::size_t begin = out.size();
    for (const std::uint32_t other : graph.neighbours(out[k])) {
      if (std::exchange(marks[other], number) != number) out.push_back(other);
    }
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                     [&](auto a, auto b) { return graph.neighbours(a).size() < graph.neighbours(b).size(); });
  }
  return out;
}

/// The waves of walks that start at an end of each part of the graph: the site that is farthest from its first one.
EliminationPlan backward_waves(Shrinking graph) {
  Sites order, marks(graph.sites());
  std::uint32_t number = 0;
  for (std::uint32_t site = 0; site < graph.sites(); ++site) {
    if (marks[site] > 0) continue;
    const std::uint32_t end = walk_from(site, graph, ++number, marks).back();
    const Sites part = walk_from(end, graph, ++number, marks);
    order.insert(order.end(), part.begin(), part.end());
  }
  for (std::size_t k = order.size(); !graph.done();) graph.eliminate(order[--k], [](auto, auto) {});
  return std::move(graph).finished();
}

bool better(const EliminationPlan& a, const EliminationPlan& b) {
  return a.too_wide != b.too_wide ? b.too_wide : a.terms < b.terms;
}

}  // namespace

std::string EliminationPlan::complaint(const EliminationLimits& limits) const {
  const std::string reason =
      entries > limits.entries
          ? fmt::format(
                "it takes tables over the states of {} neighbours or more, and all tables kept at a time may "
                "have 2^{:.0f} entries",
                width, std::log2(limits.entries))
          : fmt::format("with tables over the states of up to {} neighbours it takes more than 2^{:.0f} terms", width,
                        std::log2(limits.terms));
  return "the graph is too wide to be summed over one unit after the other: " + reason;
}

EliminationPlan plan_elimination(const Graph& sites, std::size_t first, std::size_t values,
                                 const EliminationLimits& limits) {
  // A graph of n sites that never has more than w neighbours has less than n w edges.
  const std::size_t count = sites.units() - first;
  std::size_t edges = 0;
  for (std::size_t s = first; s < sites.units(); ++s) sites.for_later_neighbours(s, [&](auto, auto) { ++edges; });
  const std::size_t fewest = count > 0 ? edges / count : 0;
  const double entries = power(static_cast<double>(values), fewest);
  if (entries > limits.entries) return {first, {}, fewest, entries, entries, true};
  const Shrinking graph(neighbours_of(sites, first), values, limits);
  EliminationPlan waves = backward_waves(graph), fill = min_fill(graph);
  EliminationPlan out = better(fill, waves) ? std::move(fill) : std::move(waves);
  out.first = first;
  return out;
}

}  // namespace ergodic
