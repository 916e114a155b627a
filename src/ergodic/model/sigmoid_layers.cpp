#include "ergodic/model/sigmoid_layers.hpp"

#include <algorithm>

#include "ergodic/kernels/activation.hpp"
#include "ergodic/kernels/float_product.hpp"

namespace ergodic {

Matrix<float> fields_of(const NetworkLayer& layer, const Matrix<float>& values, const Context& context) {
  Matrix<float> out(values.rows(), layer.bias.size());
  for (std::size_t r = 0; r < out.rows(); ++r) std::ranges::copy(layer.bias, out.row(r).begin());
  add_product(values, layer.weights, out, context);
  return out;
}

Matrix<float> raised(std::span<const NetworkLayer> layers, Matrix<float> values, const Context& context) {
  for (const NetworkLayer& layer : layers) {
    values = fields_of(layer, values, context);
    context.for_blocks(values.rows(), 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) apply_sigmoid(values.row(r));
    });
  }
  return values;
}

}  // namespace ergodic
