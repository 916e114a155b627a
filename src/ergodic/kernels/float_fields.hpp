// Fields in float, for layers next to real units: I = bias + x W. Real inputs are summed as float_product.hpp has it,
// bits as bit_product.hpp has it, the bias first and tempering last. The same bits on every CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// out(r, j) = I_j of row first_row + r of x.
void find_float_fields(const State& x, std::size_t first_row, const Affine& map, MatrixView<float> out,
                       const Context& context);

/// Calls f(row, fields of the row) for all rows of x; several threads do.
template <class F>
void for_float_fields(const State& x, const Affine& map, const Context& context, const F& f) {
  constexpr std::size_t kMostRows = 512, kRowsOfThread = 8;
  thread_local AlignedVector<float> memory;
  for (std::size_t first = 0; first < x.chains(); first += kMostRows) {
    const std::size_t rows = std::min(kMostRows, x.chains() - first);
    memory.resize(std::max(memory.size(), rows * map.bias.size()));
    const MatrixView<float> fields(memory.data(), rows, map.bias.size());
    find_float_fields(x, first, map, fields, context);
    context.for_blocks(rows, kRowsOfThread, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) f(first + r, std::span<const float>(fields.row(r)));
    });
  }
}

}  // namespace ergodic
