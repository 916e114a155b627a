// One step of gradient ascent on a matrix of weights, in one pass over it.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/pair_counts.hpp"

namespace ergodic {

/// What changes the weights, besides the difference D of the pair statistics:
///   G = D - mu dy' - dx lambda'                   the difference about the offsets mu and lambda
///   g = scale G - l2 W - l1 sign(W)               with an l1 for each column
///   velocity <- momentum velocity + g,   W <- W + rate velocity.
/// Each element is computed alone, in float, in the order written: the same on every CPU.
struct Ascent {
  MatrixView<float> weights;
  std::span<float> velocity = {};                       ///< laid out as the weights; empty without momentum
  std::span<const float> row_offset, row_change;        ///< mu, dx
  std::span<const float> column_offset, column_change;  ///< lambda, dy
  std::span<const float> column_l1 = {};                ///< empty: none
  float scale = 1.0f, rate = 0.0f, momentum = 0.0f, l2 = 0.0f;
};

/// Steps the part of the weights whose differences are given, beginning at (first_row, first_column). `difference` is
/// as wide as a block of PairCounts; its columns beyond the last weight are ignored.
void ascend(const Ascent& ascent, std::size_t first_row, std::size_t first_column, const PairBlock& difference);

}  // namespace ergodic
