// Fields in double, by definition: the bias first, then the inputs in ascending order. The same bits on every CPU,
// since vectors run along the outputs and each element is summed alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// out(r, j) = I_j = bias_j + sum over i of x_ri W_ij, tempered at last, for rows [begin, end) of x, the first of which
/// goes to row 0 of `out`.
void defined_fields(const State& x, std::size_t begin, std::size_t end, const Affine& map, MatrixView<double> out);

/// The same of one row, for units [first, first + out.size()).
void defined_fields_of(const State& x, std::size_t row, const Affine& map, std::size_t first, std::span<double> out);

/// out += columns [first, first + out.size()) of the rows of a table that are named, one after the other.
void add_rows(MatrixView<const float> table, std::span<const std::uint32_t> rows, std::span<double> out,
              std::size_t first = 0);

inline constexpr std::size_t kFieldRows = 32;  ///< rows that one thread takes at a time

/// Calls f(row, fields of the row) for all rows of x; several threads do.
template <class F>
void for_fields(const State& x, const Affine& map, const Context& context, const F& f) {
  context.for_blocks(x.chains(), kFieldRows, [&](std::size_t begin, std::size_t end) {
    Matrix<double> fields(end - begin, map.bias.size());
    defined_fields(x, begin, end, map, fields);
    for (std::size_t r = begin; r < end; ++r) f(r, std::span<const double>(fields.row(r - begin)));
  });
}

}  // namespace ergodic
