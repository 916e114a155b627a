// Units with few neighbours, drawn for 32 chains side by side: Gibbs sampling on a sparse graph.
//
// A tile holds the bits of 32 chains by unit, a word for each. A coin falls below p if its 16 upper random bits are
// below a threshold, an integer just below 65536 p. It does not if they lie beyond it by more than rounding may have
// moved it; in between the draw is unsure, and the caller decides it by the definition. So the bits are those of the
// definition (float_sampling.hpp). A unit of four neighbours has only 16 thresholds, one for each of their states: they
// are made once, and a vector instruction looks up those of many chains. Thresholds of units with more neighbours are
// made for each chain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/kernels/unit_words.hpp"

namespace ergodic {

/// A neighbour of a unit, and the edge between them.
struct Neighbour {
  std::uint32_t unit = 0;
  std::uint32_t edge = 0;
  bool operator==(const Neighbour&) const = default;
};

/// Neighbours by unit, in ascending order (compressed sparse rows).
struct NeighbourLists {
  std::span<const std::size_t> begin;  ///< [units + 1], or empty if there are no neighbours
  std::span<const Neighbour> all;      ///< [2 edges]

  std::span<const Neighbour> of(std::size_t unit) const {
    return begin.empty() ? std::span<const Neighbour>{} : all.subspan(begin[unit], begin[unit + 1] - begin[unit]);
  }
};

/// What the fields of two-valued units are made of.
struct SparseFields {
  NeighbourLists neighbours;
  std::span<const float> couplings;  ///< [edges]
  std::span<const float> bias;       ///< [units]
  Levels levels;                     ///< of all units
};

/// The thresholds of one unit of at most four neighbours.
struct alignas(16) ThresholdTable {
  static constexpr std::size_t kNeighbours = 4, kStates = 16;
  /// Their lower and their upper bytes, by the bits of the neighbours.
  std::array<std::array<std::uint8_t, kStates>, 2> bytes;
  std::uint16_t unsure;  ///< how many random numbers from the threshold on are unsure, without the first
};

/// One for each unit; of those with more neighbours, any. Made anew, on all threads.
void make_thresholds(const SparseFields& fields, AlignedVector<ThresholdTable>& out, const Context& context);

/// Some chains while they are drawn: row first_row of a state and those after it, up to 32.
struct ChainTile {
  std::size_t first_row = 0;
  std::size_t chains = 0;
  std::uint32_t first_chain = 0;  // whose random numbers the first row draws
  UnitWords bits;
  UnitWords drawn;                      // which chains draw the unit
  AlignedVector<std::uint16_t> random;  // [units][kTileChains]: in an order of chains that suits the target

  /// Makes room for the rows of x from one on.
  void place(const State& x, std::size_t row, std::uint64_t chain);
};
/// All that is there of units [begin, end) before they are drawn.
void load(const State& x, FixedUnits fixed, const Draw& draw, std::size_t begin, std::size_t end, ChainTile& tile);

/// Chains in which the draw of a unit is unsure; they are low until it is decided.
struct UnsureDraws {
  std::uint32_t unit, chains;
};

/// Draws some units, no two of which are neighbours. Returns how many of `unsure`, which has room for all, were
/// written. On the target `plain` all draws are unsure.
std::size_t draw_units(std::span<const std::uint32_t> units, const SparseFields& fields,
                       std::span<const ThresholdTable> thresholds, ChainTile& tile, std::span<UnsureDraws> unsure);

}  // namespace ergodic
