// `--graph`: which units are coupled, in words or as a file of edges.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ergodic/core/random.hpp"
#include "ergodic/model/graph.hpp"

namespace ergodic {

/// What may be asked for, in messages and help.
inline constexpr std::string_view kGraphForms = "dense, grid:HxW, torus:HxW, random:DEGREE, or a file of edges";

/// How many units a graph has to couple, or sites if the units are letters. The visible ones come first.
struct GraphSize {
  std::size_t visible = 0;
  std::size_t hidden = 0;

  std::size_t all() const { return visible + hidden; }
};

/// The graph that a text asks for:
/// - `dense`: every unit with every other;
/// - `grid:HxW`, `torus:HxW`: a square lattice row by row, with open or periodic borders, H x W being all the units;
/// - `random:DEGREE`: each pair an edge with the same probability, such that a unit has so many neighbours on average;
/// - else a file: two units on each line, counted from 0, with blanks, tabs, a comma or a semicolon between them. It
/// may
///   have blank lines, and lines that begin with #.
/// UsageError for any other word and for sizes that do not fit, DataError with its line for an edge that is none.
Graph graph_from_text(const std::string& text, const GraphSize& size, Key key);

}  // namespace ergodic
