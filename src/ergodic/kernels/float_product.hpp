// Products of float matrices that have the same bits on every CPU and for any number of threads.
//
// Each output is one chain of fused multiply-adds, in ascending order of the inner index:
//   c = fma(a(i, k), b(k, j), c)   for k = 0, 1, ...
// Vectors run along the outputs of a row, so their width changes no bit. Neither do tiles, threads or blocks of the
// inner index, since no chain is split: a partial sum is stored in the output and loaded again. Instruction sets
// without a fused multiply-add emulate it, which is slow and gives the same bits.
#pragma once

#include <cstddef>
#include <utility>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"

namespace ergodic {

/// A factor of a product: a matrix, or its transpose. Element (i, j) is data[i * row_stride + j * column_stride].
struct Factor {
  Factor(MatrixView<const float> m)
      : data(m.data()), rows(m.rows()), cols(m.cols()), row_stride(m.cols()), column_stride(1) {}
  Factor(const Matrix<float>& m) : Factor(m.view()) {}

  /// The element in the upper left corner of what is left without some rows and columns.
  const float* at(std::size_t row, std::size_t column) const {
    return data + row * row_stride + column * column_stride;
  }
  /// Some of its rows and columns alone.
  Factor block(std::size_t row, std::size_t row_count, std::size_t column, std::size_t column_count) const {
    Factor out = *this;
    out.data = at(row, column);
    out.rows = row_count;
    out.cols = column_count;
    return out;
  }

  Factor transposed() const {
    Factor out = *this;
    std::swap(out.rows, out.cols);
    std::swap(out.row_stride, out.column_stride);
    return out;
  }

  const float* data;
  std::size_t rows, cols;
  std::size_t row_stride, column_stride;
};

/// The transpose of a matrix.
inline Factor transposed(MatrixView<const float> m) { return Factor(m).transposed(); }

/// out += a b.
void add_product(const Factor& a, const Factor& b, MatrixView<float> out, const Context& context);

}  // namespace ergodic
