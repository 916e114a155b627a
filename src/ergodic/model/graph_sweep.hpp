// Gibbs sampling on a sparse graph: units drawn colour by colour.
//
// Units of one colour have no neighbours among themselves. Given all others they are independent, so they may be drawn
// at the same time, and a sweep over all colours is a sweep over all units. By definition a unit's field is summed in
// double, the bias first, then the neighbours in ascending order; its coin is that of its chain and unit. So the bits
// depend neither on threads nor on how chains are grouped, and are those of kernels/sequential.hpp wherever the order
// of units is. kernels/chain_tile.hpp draws nearly all of them in a faster way.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/chain_tile.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/graph.hpp"

namespace ergodic {

/// What the fields of all units are made of.
struct GraphFields {
  const Graph& graph;
  std::span<const float> couplings;  ///< [edges]
  std::span<const float> bias;       ///< [units]

  /// I of a unit, where value(j) is that of unit j.
  template <class Value>
  double of(std::size_t unit, const Value& value) const {
    double field = bias[unit];
    graph.for_neighbours(unit, [&](std::size_t j, std::size_t e) { field += double{couplings[e]} * double{value(j)}; });
    return field;
  }
};

/// What is drawn, in which order, and what stays as it is. Neighbours are not of one colour.
struct ColourOrder {
  const Colours& colours;
  std::span<const ThresholdTable> thresholds;  ///< made from the fields
  FixedUnits fixed = {};
};

/// Draws the units of the first colour given all others, then those of the next. Row r draws the random numbers of
/// chain first_chain + r.
void sweep_colours(State& x, const GraphFields& fields, const ColourOrder& order, const Draw& draw,
                   std::uint64_t first_chain, const Context& context);

}  // namespace ergodic
