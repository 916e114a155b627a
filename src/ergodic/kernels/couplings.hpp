// All the forms of a weight matrix that the kernels use: transposed, and rounded in both directions.
//
// They are renewed block by block, so that a step can change the weights and renew a block while it is in the nearest
// cache.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/quantised.hpp"

namespace ergodic {

class Couplings {
 public:
  static constexpr std::size_t kBlock = kBlockRows;  ///< rows and columns of a block

  Couplings() = default;
  /// The low levels are those of the units that the rows and the columns belong to.
  Couplings(std::size_t rows, std::size_t cols, float rows_low, float columns_low);
  /// Transposed only, for layers that are not drawn by rounded weights.
  Couplings(std::size_t rows, std::size_t cols) : transposed_(cols, rows) {}

  /// Renews what is made of the weights in the block that begins at (row, column), both multiples of kBlock. Different
  /// blocks may be renewed at the same time.
  void renew_block(MatrixView<const float> weights, std::size_t row, std::size_t column);
  /// Renews all blocks.
  void renew_blocks(MatrixView<const float> weights, const Context& context);

  /// Comes after all blocks have been renewed.
  void finish(MatrixView<const float> weights, std::span<const float> row_bias, std::span<const float> column_bias,
              const Context& context);

  MatrixView<const float> transposed() const { return transposed_; }
  const QuantisedWeights& to_columns() const { return to_columns_; }  ///< the weights, rounded
  const QuantisedWeights& to_rows() const { return to_rows_; }        ///< the transposed weights, rounded

 private:
  Matrix<float> transposed_;
  QuantisedWeights to_columns_, to_rows_;
};

/// to(j, i) = from(i, j).
void transpose(MatrixView<const float> from, MatrixView<float> to, const Context& context);

}  // namespace ergodic
