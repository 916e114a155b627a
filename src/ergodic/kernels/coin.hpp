// The coin of every two-valued unit: whether 48 random bits of (chain, unit) fall below its probability.
//
// The upper 16 bits of eight units come from one block of 128; the lower 32 are drawn only when the upper ones cannot
// decide. So a probability need be known to 16 bits for nearly all units, and exactly for very few.
#pragma once

#include <cstdint>

#include "ergodic/core/random.hpp"

namespace ergodic {

inline constexpr std::uint32_t kCoarseUnits = 8;           // units whose upper 16 bits share one block of 128
inline constexpr std::uint32_t kFineBlocks = 0x80000000u;  // where the blocks of lower bits begin

/// The 16 upper bits of a unit, out of its block.
inline std::uint32_t coarse_bits(const Words& block, std::uint32_t unit) {
  const std::uint32_t lane = unit % kCoarseUnits;
  return (block[lane / 2] >> (16 * (lane % 2))) & 0xFFFFu;
}

/// Where the lower bits of a unit are: in which block, and in which word of it.
inline std::uint32_t fine_block(std::uint32_t unit) { return kFineBlocks | (unit / 4); }
inline double fine_bits(const Words& block, std::uint32_t unit) {
  return static_cast<double>(block[unit % 4]) * 0x1p-32;
}

/// Whether the coin of (chain, unit) falls below p, its 16 upper bits being known.
inline bool falls_below(double p, std::uint32_t coarse, const Draw& draw, std::uint32_t chain, std::uint32_t unit) {
  const double upper = coarse;
  const double threshold = p * 0x1p16;
  if (upper + 1.0 <= threshold) return true;
  if (upper >= threshold) return false;
  return upper + fine_bits(draw.words(chain, fine_block(unit)), unit) < threshold;
}

/// Calls set(unit, whether its coin falls below probability(unit)) for units [begin, end) of a chain.
template <class Probability, class Set>
void flip_coins(const Draw& draw, std::uint32_t chain, std::uint32_t begin, std::uint32_t end,
                const Probability& probability, const Set& set) {
  Words block{};
  for (std::uint32_t unit = begin; unit < end; ++unit) {
    if (unit == begin || unit % kCoarseUnits == 0) block = draw.words(chain, unit / kCoarseUnits);
    set(unit, falls_below(probability(unit), coarse_bits(block, unit), draw, chain, unit));
  }
}

/// Whether the coin of one unit falls below p.
inline bool coin(const Draw& draw, std::uint32_t chain, std::uint32_t unit, double p) {
  return falls_below(p, coarse_bits(draw.words(chain, unit / kCoarseUnits), unit), draw, chain, unit);
}

}  // namespace ergodic
