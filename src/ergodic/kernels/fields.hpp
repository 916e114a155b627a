// Fields in double, by definition: the bias first, then the inputs in ascending order. The same bits on every CPU,
// since vectors run along the outputs and each element is summed alone.
#pragma once

#include <cstddef>

#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/kernels.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// out(r, j) = I_j = bias_j + sum over i of x_ri W_ij, tempered at last, for rows [begin, end) of x, the first of which
/// goes to row 0 of `out`.
void defined_fields(const State& x, std::size_t begin, std::size_t end, const Affine& map, MatrixView<double> out);

}  // namespace ergodic
