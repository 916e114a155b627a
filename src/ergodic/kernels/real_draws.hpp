// Draws of the units of one chain given their fields in float, and means of those that are real. The same bits on every
// CPU: float_math-inl.hpp.
//
// A real unit of deviation s and field I is z s, where z has the field t = s I in units of its own deviation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/random.hpp"

namespace ergodic {

/// The fields of the units of one chain, and the deviations of real ones.
struct FloatFields {
  std::span<const float> fields;
  std::span<const float> deviations = {};
};

/// Two-valued units: high with probability sigmoid(gap I), by the coin of each (coin.hpp). Writes whole words.
void draw_coins(std::span<const float> fields, float gap, const Draw& draw, std::uint32_t chain,
                std::span<std::uint64_t> out);

/// A coin that is open, with its upper bits (coin.hpp).
struct OpenCoin {
  std::uint32_t unit, coarse;
};
/// The same where fields may be off by `errors`, all of them finite. Coins that this leaves open are low, and listed in
/// ascending order in `open`, which has room for all. Returns how many they are.
std::size_t draw_sure_coins(std::span<const float> fields, std::span<const float> errors, float gap, const Draw& draw,
                            std::uint32_t chain, std::span<std::uint64_t> out, std::span<OpenCoin> open);

/// z = t + a standard normal number (Box and Muller 1958). Units 64 k + j and 64 k + 32 + j, with j < 32, are made of
/// word j, for the radius, and word 32 + j, for the angle, of the 64 words from index 16 k on.
void draw_normals(const FloatFields& at, const Draw& draw, std::uint32_t chain, std::span<float> out);

/// z >= 0 with density proportional to e^(t z - z^2 / 2), by rejection (Robert 1995): from the whole normal if most of
/// it is allowed, else from an exponential that touches the tail. In attempt a the 32 units from 32 k on of those
/// without a value have the 64 words from index 16 (a n + k) on, n being the number of such groups of all units.
void draw_positive_normals(const FloatFields& at, const Draw& draw, std::uint32_t chain, std::span<float> out);
/// The means of these; relative error below 1e-5.
void positive_normal_means(const FloatFields& at, std::span<float> out);

}  // namespace ergodic
