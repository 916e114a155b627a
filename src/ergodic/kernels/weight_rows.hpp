// What a step does to rows of weights and of their gradients, in float. Plain loops, compiled for each instruction set
// in turn: no operation is contracted and sums have one order, so the bits are the same on every CPU.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

/// The sum of products: sixteen sums side by side, term k in sum k mod 16, of which the second half is added to the
/// first until one is left.
float dot_rows(std::span<const float> a, std::span<const float> b);

/// What the pairs of one unit with the units of a row are taken about, and in terms of what.
struct Centre {
  float mean, change, scale;                      ///< of the one unit
  std::span<const float> means, changes, scales;  ///< of those of the row
};
/// row <- (row - mean changes - change means) (scale scales).
void centre_row(const Centre& about, std::span<float> row);

/// What follows a row of a gradient: follow <- follow + factor row, then row <- row + share weights.
void follow_row(float factor, std::span<float> follow, float share, std::span<const float> weights,
                std::span<float> row);

/// out <- out + factor row.
void add_row(float factor, std::span<const float> row, std::span<float> out);

/// out <- out + factor row^2.
void add_squares(float factor, std::span<const float> row, std::span<float> out);

/// velocity <- momentum velocity + gradient, values <- values + rate velocity.
void step_row(float momentum, float rate, std::span<const float> gradient, std::span<float> velocity,
              std::span<float> values);

/// sums <- sums + factor |row - offsets|.
void add_distances(float factor, std::span<const float> row, std::span<const float> offsets, std::span<float> sums);

/// The integers next to (row - offsets) scales, all of which are to be below 2^15; sums <- sums + these, in 16 bits.
void round_about(std::span<const float> row, std::span<const float> offsets, std::span<const float> scales,
                 std::span<std::int16_t> out, std::span<std::int16_t> sums);

/// out(r, k) <- rows(r, k) units_k + factors_r offsets_k.
void widen_about(MatrixView<const std::int16_t> rows, std::span<const float> units, std::span<const float> factors,
                 std::span<const float> offsets, MatrixView<float> out);

}  // namespace ergodic
