#include "ergodic/model/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

void require_units(std::size_t units) {
  require(units >= 1 && units <= Graph::kMaxUnits,
          fmt::format("a graph needs from 1 to {} units, found {}", Graph::kMaxUnits, units));
}

void require_edges(double edges) {
  require(
      edges <= static_cast<double>(Graph::kMaxEdges),
      fmt::format("a graph that is not complete may have {} edges at most, found {:.0f}, whose lists would take {:.1f} "
                  "GiB; take fewer edges",
                  Graph::kMaxEdges, edges, edges * Graph::kBytesPerEdge * 0x1p-30));
}

Graph::Pair sorted_pair(std::size_t a, std::size_t b) {
  return {static_cast<std::uint32_t>(std::min(a, b)), static_cast<std::uint32_t>(std::max(a, b))};
}

/// The place where each unit's part of a list begins, made of how long the parts are: counts[u + 1] for unit u.
std::vector<std::size_t> begins_of(std::vector<std::size_t> counts) {
  for (std::size_t u = 1; u < counts.size(); ++u) counts[u] += counts[u - 1];
  return counts;
}

}  // namespace

Graph::Graph(std::size_t units, std::span<const Pair> pairs)
    : units_(units), site_units_(pairs.size() == this->pairs() ? 1 : 0) {
  if (site_units_ > 0) return;
  std::vector<std::size_t> later(units + 1), all(units + 2);
  for (const auto& [low, high] : pairs) {
    ++later[low + 1];
    ++all[low + 2];
    ++all[high + 2];
  }
  edge_begin_ = begins_of(std::move(later));
  neighbour_begin_ = begins_of(std::move(all));  // each a place late: filling a unit's part moves it to the next one's
  later_.resize(pairs.size());
  neighbours_.resize(2 * pairs.size());
  // In ascending order of the pairs, a unit first meets all lower neighbours and then the higher ones.
  for (std::size_t e = 0; e < pairs.size(); ++e) {
    const auto [low, high] = pairs[e];
    later_[e] = high;
    neighbours_[neighbour_begin_[low + 1]++] = {high, static_cast<std::uint32_t>(e)};
    neighbours_[neighbour_begin_[high + 1]++] = {low, static_cast<std::uint32_t>(e)};
  }
  neighbour_begin_.pop_back();
}

Graph dense_graph(std::size_t units) {
  require_units(units);
  return Graph(units);
}

Graph site_graph(const Graph& sites, std::size_t letters) {
  require(letters >= 1 && sites.units() <= Graph::kMaxUnits / letters,
          fmt::format("a graph needs from 1 to {} units, found {} sites of {} letters", Graph::kMaxUnits, sites.units(),
                      letters));
  const std::size_t units = sites.units() * letters;
  if (sites.site_units() > 0) return Graph(units, sites.site_units() * letters);
  require_edges(static_cast<double>(sites.edges()) * static_cast<double>(letters * letters));
  std::vector<Graph::Pair> pairs;
  pairs.reserve(sites.edges() * letters * letters);
  for (std::size_t unit = 0; unit < units; ++unit) {
    sites.for_later_neighbours(unit / letters, [&](std::size_t other, std::size_t) {
      for (std::size_t b = 0; b < letters; ++b) pairs.push_back(sorted_pair(unit, other * letters + b));
    });
  }
  return Graph(units, pairs);
}

Graph grid_graph(std::size_t height, std::size_t width, Border border) {
  require(height >= 1 && width >= 1 && height <= Graph::kMaxUnits / width,
          fmt::format("a grid needs sides of at least 1, and {} units at most, found {} x {}", Graph::kMaxUnits, height,
                      width));
  const bool periodic = border == Border::kPeriodic;
  require(
      !periodic || (height >= 3 && width >= 3),
      fmt::format("a periodic grid needs sides of at least 3, found {} x {}: a side of 2 would couple the same units "
                  "twice, a side of 1 a unit with itself",
                  height, width));
  require_edges(2.0 * static_cast<double>(height) * static_cast<double>(width));
  std::vector<Graph::Pair> pairs;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t unit = y * width + x;
      if (x + 1 < width || periodic) pairs.push_back(sorted_pair(unit, y * width + (x + 1) % width));
      if (y + 1 < height || periodic) pairs.push_back(sorted_pair(unit, (y + 1) % height * width + x));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return Graph(height * width, pairs);
}

Graph random_graph(std::size_t units, double degree, Key key) {
  require_units(units);
  const double most = static_cast<double>(units - 1);
  require(
      degree >= 0.0 && degree <= most,
      fmt::format("the mean degree of a random graph of {} units is from 0 to {}, found {}", units, units - 1, degree));
  if (degree == most) return Graph(units);
  require_edges(0.5 * degree * static_cast<double>(units));
  std::vector<Graph::Pair> pairs;
  if (degree == 0.0) return Graph(units, pairs);
  // From one edge of a unit to its next, the pairs left out are geometric in number (Batagelj and Brandes 2005).
  const double log_absent = portable_log(1.0 - degree / most);
  const Draw draw = key.at(Purpose::kSynthetic, 2);
  for (std::size_t unit = 0; unit < units; ++unit) {
    double other = static_cast<double>(unit);
    for (std::uint32_t k = 0;; ++k) {
      const double u = draw.uniform(static_cast<std::uint32_t>(unit), k);
      other += 1.0 + std::floor(portable_log(1.0 - u) / log_absent);
      if (!(other < static_cast<double>(units))) break;
      pairs.push_back(sorted_pair(unit, static_cast<std::size_t>(other)));
    }
  }
  return Graph(units, pairs);
}

Graph graph_from_edges(std::size_t units, std::span<const std::pair<std::size_t, std::size_t>> pairs) {
  require_units(units);
  struct Placed {
    Graph::Pair pair;
    std::size_t place;
    bool operator<(const Placed& other) const { return pair != other.pair ? pair < other.pair : place < other.place; }
  };
  std::vector<Placed> placed;
  placed.reserve(pairs.size());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto [a, b] = pairs[k];
    if (a >= units || b >= units) {
      throw DataError(fmt::format("edge {} couples units {} and {}; expected units from 0 to {}", k, a, b, units - 1));
    }
    if (a == b) throw DataError(fmt::format("edge {} couples unit {} with itself; expected two different units", k, a));
    placed.push_back({sorted_pair(a, b), k});
  }
  std::sort(placed.begin(), placed.end());
  std::vector<Graph::Pair> sorted;
  sorted.reserve(pairs.size());
  for (std::size_t k = 0; k < placed.size(); ++k) {
    if (k > 0 && placed[k].pair == placed[k - 1].pair) {
      throw DataError(fmt::format("edge {} couples units {} and {} again, after edge {}; expected each pair once",
                                  placed[k].place, placed[k].pair.first, placed[k].pair.second, placed[k - 1].place));
    }
    sorted.push_back(placed[k].pair);
  }
  const Graph complete(units);
  if (sorted.size() < complete.pairs()) require_edges(static_cast<double>(sorted.size()));
  return Graph(units, sorted);
}

Colours colours_of(const Graph& graph) {
  Colours out;
  std::vector<std::size_t> colour(graph.units());
  std::vector<std::size_t> taken;  // for each colour, one more than the unit that last found it with a neighbour
  for (std::size_t unit = 0; unit < graph.units(); ++unit) {
    graph.for_neighbours(unit, [&](std::size_t other, std::size_t) {
      if (other < unit) taken[colour[other]] = unit + 1;
    });
    std::size_t own = 0;
    while (own < out.size() && taken[own] == unit + 1) ++own;
    if (own == out.size()) {
      out.emplace_back();
      taken.push_back(0);
    }
    colour[unit] = own;
    out[own].push_back(static_cast<std::uint32_t>(unit));
  }
  return out;
}

}  // namespace ergodic
