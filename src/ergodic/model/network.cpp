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

/// Fields into probabilities, in double.
void softmax(std::span<float> row) {
  const double largest = *std::ranges::max_element(row);
  double total = 0.0;
  for (const float field : row) total += portable_exp(field - largest);
  for (float& field : row) field = static_cast<float>(portable_exp(field - largest) / total);
}

/// Leaves out a share of the units of a row, and scales the others up.
void drop(double share, const Draw& draw, std::size_t row, std::span<float> values) {
  constexpr std::size_t kDraws = 8;  // 16-bit numbers in 128 bits
  const auto limit = static_cast<std::uint32_t>(share * 65536.0);
  const auto scale = static_cast<float>(1.0 / (1.0 - share));
  for (std::size_t first = 0; first < values.size(); first += kDraws) {
    const Words words = draw.words(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(first / kDraws));
    for (std::size_t k = 0; k < kDraws && first + k < values.size(); ++k) {
      const std::uint32_t drawn = words[k / 2] >> (16 * (k % 2)) & 0xFFFFu;
      values[first + k] = drawn < limit ? 0.0f : scale * values[first + k];
    }
  }
}

/// The derivative of a unit by its field times delta, given its value after dropout: one that was left out is 0.
void add_slopes(Activation activation, double dropped, std::span<const float> values, std::span<float> deltas) {
  const auto kept = static_cast<float>(1.0 - dropped);
  for (std::size_t j = 0; j < deltas.size(); ++j) {
    const float slope = activation == Activation::kSigmoid ? values[j] * (1.0f - kept * values[j])
                                                           : (values[j] > 0.0f ? 1.0f / kept : 0.0f);
    deltas[j] *= slope;
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

/// The values of the layer above, from those of this one.
void Network::raise(Pass& pass, std::size_t layer, const Context& context) const {
  Matrix<float>& above = pass.values[layer + 1];
  const std::span<const float> bias = parameters_[bias_slot(layer)];
  for (std::size_t r = 0; r < above.rows(); ++r) std::ranges::copy(bias, above.row(r).begin());
  add_product(pass.values[layer], weights(layer), above, context);
  const bool last = layer + 1 == depth();
  context.for_blocks(above.rows(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      if (last) {
        softmax(above.row(r));
      } else if (activation_ == Activation::kSigmoid) {
        apply_sigmoid(above.row(r));
      } else {
        for (float& value : above.row(r)) value = std::max(value, 0.0f);
      }
    }
  });
}

void Network::forward(Pass& pass, const Context& context) const {
  for (std::size_t k = 0; k < depth(); ++k) raise(pass, k, context);
}

void Network::forward(Pass& pass, const Dropout& dropout, const Draw& draw, const Context& context) const {
  for (std::size_t k = 0; k < depth(); ++k) {
    const double share = k == 0 ? dropout.inputs : dropout.hidden;
    if (share > 0.0) {
      context.for_blocks(pass.values[k].rows(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
        // The random numbers of a layer follow those of the layers below it.
        const auto chain = [&](std::size_t r) { return r * depth() + k; };
        for (std::size_t r = begin; r < end; ++r) drop(share, draw, chain(r), pass.values[k].row(r));
      });
    }
    raise(pass, k, context);
  }
}

void Network::backward(Pass& pass, std::span<const int> labels, const Dropout& dropout, std::span<float> gradient,
                       const Context& context) const {
  assert(labels.size() == pass.values[0].rows() && gradient.size() == parameters_.values().size());
  const auto each = static_cast<float>(1.0 / static_cast<double>(labels.size()));
  Matrix<float>& top = pass.deltas.back();
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const std::span<const float> probabilities = std::as_const(pass.values.back()).row(r);
    for (std::size_t c = 0; c < classes(); ++c) {
      const float target = static_cast<std::size_t>(labels[r]) == c ? 1.0f : 0.0f;
      top(r, c) = each * (target - probabilities[c]);
    }
  }
  std::ranges::fill(gradient, 0.0f);
  for (std::size_t k = depth(); k-- > 0;) {
    const Matrix<float>& deltas = pass.deltas[k];
    const Slot &weights_at = parameters_.slot(weights_slot(k)), &bias_at = parameters_.slot(bias_slot(k));
    add_product(transposed(pass.values[k]), deltas, {gradient.data() + weights_at.offset, sizes_[k], sizes_[k + 1]},
                context);
    const std::span<float> bias = gradient.subspan(bias_at.offset, bias_at.size);
    for (std::size_t r = 0; r < deltas.rows(); ++r) {
      for (std::size_t j = 0; j < bias.size(); ++j) bias[j] += deltas(r, j);
    }
    if (k == 0) break;
    Matrix<float>& below = pass.deltas[k - 1];
    std::ranges::fill(below.elements(), 0.0f);
    add_product(deltas, transposed(weights(k)), below, context);
    context.for_blocks(below.rows(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        add_slopes(activation_, dropout.hidden, pass.values[k].row(r), below.row(r));
      }
    });
  }
}

Matrix<float> class_probabilities(const Network& network, MatrixView<const float> inputs, const Context& context) {
  Network::Pass pass = network.make_pass(inputs.rows());
  std::ranges::copy(inputs.elements(), pass.values[0].data());
  network.forward(pass, context);
  return std::move(pass.values.back());
}

}  // namespace ergodic
