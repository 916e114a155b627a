// Graph: which units of a machine are coupled. Undirected, no unit with itself, no pair twice.
//
// Edges are numbered in ascending order of (lower unit, higher unit), so the same graph always has the same numbers,
// and the edges from a unit to later ones are consecutive. Neighbours are kept by unit in ascending order (compressed
// sparse rows); those of a complete graph, or of one that joins all units of different sites, need no memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/core/random.hpp"
#include "ergodic/kernels/chain_tile.hpp"

namespace ergodic {

class Graph {
 public:
  static constexpr std::size_t kMaxUnits = std::size_t{1} << 30;
  /// Most edges of a graph that needs lists, which then take 2.5 GiB.
  static constexpr std::size_t kMaxEdges = std::size_t{1} << 27;
  static constexpr std::size_t kBytesPerEdge = 20;  ///< in the lists

  /// Two units, the lower one first.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  /// Sites of as many units each, and every unit with all units of all other sites. With one unit a site, the complete
  /// graph.
  explicit Graph(std::size_t units, std::size_t site_units = 1) : units_(units), site_units_(site_units) {}
  /// Pairs of different units in ascending order, none twice.
  Graph(std::size_t units, std::span<const Pair> pairs);

  std::size_t units() const { return units_; }
  std::size_t pairs() const { return units_ * (units_ - 1) / 2; }  ///< that could be edges
  std::size_t edges() const { return site_units_ > 0 ? first_edge(units_) : later_.size(); }
  std::size_t degree(std::size_t unit) const {
    return site_units_ > 0 ? units_ - site_units_ : neighbour_begin_[unit + 1] - neighbour_begin_[unit];
  }
  /// How many units a site has, if every unit has all units of all other sites as neighbours; else 0.
  std::size_t site_units() const { return site_units_; }
  /// Whether at least half of all pairs are edges. Square matrices then take about as much memory as the lists.
  bool dense() const { return 2 * edges() >= pairs(); }

  /// The lists, for a graph that has some, or no edges.
  NeighbourLists neighbour_lists() const {
    assert(site_units_ == 0 || edges() == 0);
    return {neighbour_begin_, neighbours_};
  }

  /// Calls f(neighbour, edge) for each neighbour of a unit, in ascending order.
  template <class F>
  void for_neighbours(std::size_t unit, const F& f) const {
    if (site_units_ > 0) {
      std::size_t edge = 0;  // the first of unit i
      for (std::size_t next = site_units_; next <= unit; next += site_units_) {
        for (std::size_t i = next - site_units_; i < next; ++i, edge += units_ - next) f(i, edge + (unit - next));
      }
      for_later_neighbours(unit, f);
    } else {
      for (std::size_t k = neighbour_begin_[unit]; k < neighbour_begin_[unit + 1]; ++k) {
        f(std::size_t{neighbours_[k].unit}, std::size_t{neighbours_[k].edge});
      }
    }
  }

  /// Calls f(neighbour, edge) for each neighbour that comes after the unit: over all units, each edge once and in
  /// order.
  template <class F>
  void for_later_neighbours(std::size_t unit, const F& f) const {
    const Later later = this->later(unit);
    for (std::size_t e = later.begin; e < later.end; ++e) {
      f(later.next > 0 ? later.next + (e - later.begin) : std::size_t{later.list[e]}, e);
    }
  }

  /// The edges from a unit to later ones.
  struct Later {
    std::size_t begin = 0, end = 0;
    std::size_t next = 0;                 ///< the neighbour of the first edge, if there is no list; else 0
    const std::uint32_t* list = nullptr;  ///< the neighbour of each edge of the graph

    /// Calls f(neighbour, edge) for each neighbour of these units, in ascending order. All of them come after the unit.
    template <class F>
    void between(std::size_t first, std::size_t last, const F& f) const {
      if (next > 0) {
        for (std::size_t j = std::max(first, next); j < last; ++j) f(j, begin + (j - next));
      } else {
        const auto* found = std::lower_bound(list + begin, list + end, first);
        for (; found != list + end && *found < last; ++found) f(std::size_t{*found}, std::size_t(found - list));
      }
    }
  };
  Later later(std::size_t unit) const {
    if (site_units_ == 0) return {edge_begin_[unit], edge_begin_[unit + 1], 0, later_.data()};
    const std::size_t begin = first_edge(unit), next = (unit / site_units_ + 1) * site_units_;
    return {begin, begin + (units_ - next), next, nullptr};
  }

  bool operator==(const Graph&) const = default;

 private:
  /// The first edge from a unit to later ones, without lists: after those of all sites before its own, and of the
  /// units of its site before it.
  std::size_t first_edge(std::size_t unit) const {
    const std::size_t site = unit / site_units_, left = units_ - site * site_units_;
    return (units_ + left - site_units_) * (site * site_units_) / 2 + unit % site_units_ * (left - site_units_);
  }

  std::size_t units_ = 0;
  std::size_t site_units_ = 0;
  // Empty without lists.
  std::vector<std::size_t> edge_begin_;  // [units + 1]
  std::vector<std::uint32_t> later_;     // [edges]: the higher unit
  std::vector<std::size_t> neighbour_begin_;
  std::vector<Neighbour> neighbours_;  // [2 edges]
};

/// Every unit with every other.
Graph dense_graph(std::size_t units);

/// A graph of sites as one of their letters, each a unit: neighbouring sites have all their units coupled.
Graph site_graph(const Graph& sites, std::size_t letters);

/// Whether opposite borders of a grid are neighbours.
enum class Border { kOpen, kPeriodic };
/// Units on a square lattice, row by row, each with its neighbours above, below, left and right. Periodic sides have at
/// least three units: with two, the same pair would be neighbours twice.
Graph grid_graph(std::size_t height, std::size_t width, Border border);

/// Each pair on its own is an edge with the same probability, such that a unit has `degree` neighbours on average
/// (Gilbert 1959).
Graph random_graph(std::size_t units, double degree, Key key);

/// Pairs in any order, the two units of a pair too. DataError, which names the pair, for a unit that is out of range,
/// a unit with itself, or a pair that was there before.
Graph graph_from_edges(std::size_t units, std::span<const std::pair<std::size_t, std::size_t>> pairs);

/// Groups of units in ascending order such that no two neighbours share a group: each unit has the first colour that no
/// earlier neighbour has. A grid gets two colours if its periodic sides are even.
using Colours = std::vector<std::vector<std::uint32_t>>;
Colours colours_of(const Graph& graph);

}  // namespace ergodic
