#include "ergodic/model/rectified.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "ergodic/kernels/activation.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/kernels/weight_rows.hpp"
#include "ergodic/model/line.hpp"

namespace ergodic {
namespace {

constexpr double kSlopeAtZero = 0.25;  // of the sigmoid
// A unit whose field is just above zero in a few rows, and else far below, would be as steep as its sigmoid never is,
// and training would diverge.
constexpr double kSteepest = 4 * kSlopeAtZero;

/// The closest line in max(0, field) for each unit. A unit whose field is never above zero is left to be woken.
std::vector<Line> closest_lines(const Matrix<float>& rectified, const Matrix<float>& sigmoids) {
  std::vector<Line> out;
  for (std::size_t j = 0; j < sigmoids.cols(); ++j) {
    out.push_back(line_through(rectified, sigmoids, j, kSteepest));
    if (out.back().slope == 0.0) out.back().slope = kSlopeAtZero;
  }
  return out;
}

NetworkLayer layer_of(const Network& network, std::size_t layer) {
  const MatrixView<const float> weights = network.weights(layer);
  const std::span<const float> bias = network.parameters()[Network::bias_slot(layer)];
  NetworkLayer out{Matrix<float>(weights.rows(), weights.cols()), {bias.begin(), bias.end()}};
  std::ranges::copy(weights.elements(), out.weights.data());
  return out;
}

}  // namespace

Network rectified(const Network& sigmoids, const Matrix<float>& rows, const Context& context) {
  assert(sigmoids.activation() == Activation::kSigmoid && rows.rows() > 0);
  Network out(sigmoids.sizes(), Activation::kRelu);
  Matrix<float> values = rows;
  std::vector<Line> below;
  for (std::size_t k = 0; k < out.depth(); ++k) {
    NetworkLayer layer = layer_of(sigmoids, k);
    for (std::size_t i = 0; i < below.size(); ++i) {
      add_row(static_cast<float>(below[i].height), layer.weights.row(i), layer.bias);
    }
    if (k + 1 < out.depth()) {
      Matrix<float> fields(values.rows(), layer.bias.size());
      for (std::size_t r = 0; r < fields.rows(); ++r) std::ranges::copy(layer.bias, fields.row(r).begin());
      add_product(values, layer.weights, fields, context);
      Matrix<float> before = fields;
      for (std::size_t r = 0; r < before.rows(); ++r) apply_sigmoid(before.row(r));
      for (float& field : fields.elements()) field = std::max(field, 0.0f);
      below = closest_lines(fields, before);
      const auto scale = [&](std::span<float> row) {
        for (std::size_t j = 0; j < row.size(); ++j) row[j] *= static_cast<float>(below[j].slope);
      };
      scale(layer.bias);
      for (std::size_t i = 0; i < layer.weights.rows(); ++i) scale(layer.weights.row(i));
      for (std::size_t r = 0; r < fields.rows(); ++r) scale(fields.row(r));
      values = std::move(fields);
    }
    out.set_layer(k, layer);
  }
  return out;
}

}  // namespace ergodic
