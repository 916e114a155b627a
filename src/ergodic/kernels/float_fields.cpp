#include "ergodic/kernels/float_fields.hpp"

#include <cassert>

#include "ergodic/kernels/bit_product.hpp"
#include "ergodic/kernels/float_product.hpp"

namespace ergodic {

void find_float_fields(const State& x, std::size_t first_row, const Affine& map, MatrixView<float> out,
                       const Context& context) {
  assert(first_row + out.rows() <= x.chains() && out.cols() == map.bias.size());
  for (std::size_t r = 0; r < out.rows(); ++r) std::ranges::copy(map.bias, out.row(r).begin());
  if (x.real()) {
    add_product(Factor(x.reals()).block(first_row, out.rows(), 0, x.units()), map.weights, out, context);
  } else {
    add_bit_product(x.bits(), first_row, x.levels(), map.weights, out, context);
  }
  if (map.beta == 1.0) return;
  const auto beta = static_cast<float>(map.beta);
  for (std::size_t r = 0; r < out.rows(); ++r) {
    for (std::size_t j = 0; j < out.cols(); ++j) out(r, j) = beta * out(r, j) + static_cast<float>(map.base_of(j));
  }
}

}  // namespace ergodic
