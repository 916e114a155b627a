// Graph: which units of a machine are coupled. Undirected, no unit with itself, no pair twice.
//
// Edges are numbered in ascending order of (lower unit, higher unit), so the same graph always has the same numbers,
// and the edges from a unit to later ones are consecutive. Neighbours are kept by unit in ascending order (compressed
// sparse rows); those of a complete graph need no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/core/random.hpp"

namespace ergodic {

class Graph {
 public:
  static constexpr std::size_t kMaxUnits = std::size_t{1} << 30;
  /// Of a graph that is not complete: its lists then take 2.5 GiB.
  static constexpr std::size_t kMaxEdges = std::size_t{1} << 27;
  static constexpr std::size_t kBytesPerEdge = 20;  ///< in the lists

  /// A neighbour of a unit, and the edge between them.
  struct Neighbour {
    std::uint32_t unit = 0;
    std::uint32_t edge = 0;
    bool operator==(const Neighbour&) const = default;
  };
  /// Two units, the lower one first.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  /// The complete graph.
  explicit Graph(std::size_t units) : units_(units), complete_(true) {}
  /// Pairs of different units in ascending order, none twice.
  Graph(std::size_t units, std::span<const Pair> pairs);

  std::size_t units() const { return units_; }
  std::size_t pairs() const { return units_ * (units_ - 1) / 2; }  ///< that could be edges
  std::size_t edges() const { return complete_ ? pairs() : later_.size(); }
  std::size_t degree(std::size_t unit) const {
    return complete_ ? units_ - 1 : neighbour_begin_[unit + 1] - neighbour_begin_[unit];
  }
  /// Whether at least half of all pairs are edges. Square matrices then take about as much memory as the lists.
  bool dense() const { return 2 * edges() >= pairs(); }

  /// Calls f(neighbour, edge) for each neighbour of a unit, in ascending order.
  template <class F>
  void for_neighbours(std::size_t unit, const F& f) const {
    if (complete_) {
      for (std::size_t i = 0; i < unit; ++i) f(i, first_edge(i) + (unit - i - 1));
      for_later_neighbours(unit, f);
    } else {
      for (std::size_t k = neighbour_begin_[unit]; k < neighbour_begin_[unit + 1]; ++k) {
        f(std::size_t{neighbours_[k].unit}, std::size_t{neighbours_[k].edge});
      }
    }
  }

  /// The same for those that come after it: each edge of the graph once, in the order of the edges.
  template <class F>
  void for_later_neighbours(std::size_t unit, const F& f) const {
    const std::size_t begin = first_edge(unit), end = first_edge(unit + 1);
    for (std::size_t e = begin; e < end; ++e) f(complete_ ? unit + 1 + (e - begin) : std::size_t{later_[e]}, e);
  }

  bool operator==(const Graph&) const = default;

 private:
  /// Of the edges from a unit to later ones.
  std::size_t first_edge(std::size_t unit) const {
    return complete_ ? unit * (2 * units_ - unit - 1) / 2 : edge_begin_[unit];
  }

  std::size_t units_ = 0;
  bool complete_ = false;
  // Empty for the complete graph.
  std::vector<std::size_t> edge_begin_;  // [units + 1]
  std::vector<std::uint32_t> later_;     // [edges]: the higher unit
  std::vector<std::size_t> neighbour_begin_;
  std::vector<Neighbour> neighbours_;  // [2 edges]
};

/// Every unit with every other.
Graph dense_graph(std::size_t units);

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
