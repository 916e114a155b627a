// The bits of 32 chains by unit, a word for each: how chains lie side by side in vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/bits.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

inline constexpr std::size_t kTileChains = 32;

/// Bits of up to 32 rows by unit, a bit for each row: a whole number of kTileUnits units.
using UnitWords = AlignedVector<std::uint32_t>;
inline constexpr std::size_t kTileUnits = 32;
inline std::size_t tile_units(std::size_t units) { return (units + kTileUnits - 1) / kTileUnits * kTileUnits; }

/// Bit r of out[c] is bit c of in[r].
void transpose_bits(std::span<const std::uint32_t, kTileChains> in, std::span<std::uint32_t, kTileUnits> out);

// Units [begin, end) of some rows. `begin` is a multiple of kTileUnits; so is `end`, unless there are no more units.
void load_bits(const Bits& from, std::size_t first_row, std::size_t begin, std::size_t end, UnitWords& out);
void store_bits(const UnitWords& from, std::size_t first_row, std::size_t begin, std::size_t end, Bits& out);

/// A term of a sum over products of two units' values.
struct ProductTerm {
  std::uint32_t a, b;
  double factor;
};
/// sums[c] += factor * x_a * x_b for chain c of a tile, term by term in double.
void add_products(std::span<const ProductTerm> terms, const UnitWords& bits, Levels levels,
                  std::span<double, kTileChains> sums);

}  // namespace ergodic
