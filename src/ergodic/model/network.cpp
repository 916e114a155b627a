#include "ergodic/model/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/activation.hpp"
#include "ergodic/kernels/float_product.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 16;

constexpr std::size_t kGradientColumns = 128;

/// Fields into probabilities. Differences from the largest are exponentiated in double.
void softmax(std::span<float> row) {
  const double largest = *std::ranges::max_element(row);
  double total = 0.0;
  for (float& field : row) {
    const double weight = portable_exp(field - largest);
    total += weight;
    field = static_cast<float>(weight);
  }
  const auto scale = static_cast<float>(1.0 / total);
  for (float& weight : row) weight *= scale;
}

/// delta <- delta times the derivative of a unit by its field, given its value after dropout: one that was left out is
/// 0.
void multiply_by_slopes(Activation activation, double dropped, std::span<const float> values, std::span<float> deltas) {
  const auto kept = static_cast<float>(1.0 - dropped), scale = 1.0f / kept;
  if (activation == Activation::kSigmoid) {
    for (std::size_t j = 0; j < deltas.size(); ++j) deltas[j] *= values[j] * (1.0f - kept * values[j]);
  } else {
    for (std::size_t j = 0; j < deltas.size(); ++j) deltas[j] = values[j] > 0.0f ? deltas[j] * scale : 0.0f;
  }
}

}  // namespace

Network::Network(std::vector<std::size_t> sizes, Activation activation)
    : sizes_(std::move(sizes)), activation_(activation) {
  require(sizes_.size() >= 2 && std::ranges::find(sizes_, 0u) == sizes_.end() && classes() >= 2,
          fmt::format("a network needs inputs, layers of at least one unit and two classes, found {} layers",
                      sizes_.size()));
  for (std::size_t k = 0; k < depth(); ++k) {
    parameters_.add(weights_slot(k), {sizes_[k], sizes_[k + 1]});
    parameters_.add(bias_slot(k), {sizes_[k + 1]});
  }
}

MatrixView<const float> Network::weights(std::size_t layer) const {
  return {parameters_[weights_slot(layer)].data(), sizes_[layer], sizes_[layer + 1]};
}

void Network::set_layer(std::size_t layer, const NetworkLayer& from) {
  assert(from.weights.rows() == sizes_[layer] && from.weights.cols() == sizes_[layer + 1]);
  std::ranges::copy(from.weights.elements(), parameters_[weights_slot(layer)].begin());
  std::ranges::copy(from.bias, parameters_[bias_slot(layer)].begin());
}

void Network::randomise(std::size_t layer, const Draw& draw) {
  const double deviation =
      std::sqrt((activation_ == Activation::kRelu ? 2.0 : 1.0) / static_cast<double>(sizes_[layer]));
  const std::span<float> weights = parameters_[weights_slot(layer)];
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] =
        static_cast<float>(deviation * draw.normal(static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(k)));
  }
  std::ranges::fill(parameters_[bias_slot(layer)], 0.0f);
}

Network::Pass Network::make_pass(std::size_t rows) const {
  Pass out;
  for (const std::size_t units : sizes_) out.values.emplace_back(rows, units);
  for (std::size_t k = 1; k < sizes_.size(); ++k) out.deltas.emplace_back(rows, sizes_[k]);
  return out;
}

/// Makes values of the fields of a layer, in one row.
void Network::enter(Pass& pass, std::size_t layer, std::size_t row) const {
  const std::span<float> values = pass.values[layer].row(row);
  if (layer == depth()) {
    softmax(values);
  } else if (layer > 0 && activation_ == Activation::kSigmoid) {
    apply_sigmoid(values);
  } else if (layer > 0) {
    for (float& value : values) value = std::max(value, 0.0f);
  }
}

void Network::forward(Pass& pass, const Context& context) const {
  forward(pass, {}, Draw(0, Purpose::kDropout, 0, 0), context);
}

void Network::forward(Pass& pass, const Dropout& dropout, const Draw& draw, const Context& context) const {
  const std::size_t rows = pass.values[0].rows();
  for (std::size_t k = 0; k <= depth(); ++k) {
    const double share = k == depth() ? 0.0 : k == 0 ? dropout.inputs : dropout.hidden;
    const std::span<const float> bias = k == depth() ? std::span<const float>() : parameters_[bias_slot(k)];
    context.for_blocks(rows, kRowsAtATime, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        enter(pass, k, r);
        // The random numbers of a layer follow those of the layers below it.
        if (share > 0.0) drop_out(share, draw, static_cast<std::uint32_t>(r * depth() + k), pass.values[k].row(r));
        if (k < depth()) std::ranges::copy(bias, pass.values[k + 1].row(r).begin());
      }
    });
    if (k < depth()) add_product(pass.values[k], weights(k), pass.values[k + 1], context);
  }
}

void Network::backward(Pass& pass, MatrixView<const float> targets, const Dropout& dropout,
                       const Context& context) const {
  const std::size_t rows = pass.values[0].rows();
  assert(targets.rows() == rows && targets.cols() == classes());
  const auto each = static_cast<float>(1.0 / static_cast<double>(rows));
  for (std::size_t k = depth(); k-- > 0;) {
    context.for_blocks(rows, kRowsAtATime, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        const std::span<const float> values = std::as_const(pass.values[k + 1]).row(r);
        const std::span<float> deltas = pass.deltas[k].row(r);
        if (k + 1 == depth()) {
          for (std::size_t c = 0; c < deltas.size(); ++c) deltas[c] = each * (targets(r, c) - values[c]);
        } else {
          multiply_by_slopes(activation_, dropout.hidden, values, deltas);
        }
        if (k > 0) std::ranges::fill(pass.deltas[k - 1].row(r), 0.0f);
      }
    });
    if (k > 0) add_product(pass.deltas[k], transposed(weights(k)), pass.deltas[k - 1], context);
  }
}

void Network::find_input_gradient(const Pass& pass, MatrixView<float> out, const Context& context) const {
  std::ranges::fill(out.elements(), 0.0f);
  add_product(pass.deltas[0], transposed(weights(0)), out, context);
}

void Network::find_gradient(const Pass& pass, const WeightBlock& block, MatrixView<float> out) const {
  const Factor below = transposed(pass.values[block.layer]), above(pass.deltas[block.layer]);
  std::ranges::fill(out.elements(), 0.0f);
  add_product(below.block(block.row, block.rows, 0, below.cols),
              above.block(0, above.rows, block.column, block.columns), out, {});
}

void Network::find_bias_gradient(const Pass& pass, std::size_t layer, std::size_t column, std::span<float> out) const {
  std::ranges::fill(out, 0.0f);
  const Matrix<float>& deltas = pass.deltas[layer];
  for (std::size_t r = 0; r < deltas.rows(); ++r) {
    const std::span<const float> row = deltas.row(r).subspan(column, out.size());
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += row[j];
  }
}

void Network::find_gradient(const Pass& pass, std::span<float> out, const Context& context) const {
  assert(out.size() == parameters_.values().size());
  context.for_blocks_of_all(
      depth(), [&](std::size_t k) { return sizes_[k + 1]; }, kGradientColumns,
      [&](std::size_t k, std::size_t begin, std::size_t end) {
        Matrix<float> part(sizes_[k], end - begin);
        find_gradient(pass, {k, 0, sizes_[k], begin, end - begin}, part);
        float* const weights = out.data() + parameters_.slot(weights_slot(k)).offset;
        for (std::size_t i = 0; i < sizes_[k]; ++i) {
          std::ranges::copy(part.row(i), weights + i * sizes_[k + 1] + begin);
        }
        find_bias_gradient(pass, k, begin, out.subspan(parameters_.slot(bias_slot(k)).offset + begin, end - begin));
      });
}

void set_targets(std::span<const int> labels, MatrixView<float> targets) {
  assert(targets.rows() == labels.size());
  std::ranges::fill(targets.elements(), 0.0f);
  for (std::size_t r = 0; r < labels.size(); ++r) targets(r, static_cast<std::size_t>(labels[r])) = 1.0f;
}

Matrix<float> class_probabilities(const Network& network, MatrixView<const float> inputs, const Context& context) {
  Network::Pass pass = network.make_pass(inputs.rows());
  std::ranges::copy(inputs.elements(), pass.values[0].data());
  network.forward(pass, context);
  return std::move(pass.values.back());
}

}  // namespace ergodic
