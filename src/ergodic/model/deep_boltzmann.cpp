#include "ergodic/model/deep_boltzmann.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/activation.hpp"
#include "ergodic/kernels/float_product.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 16;

/// The units of every second layer from this one on.
std::size_t units_from(const std::vector<std::size_t>& sizes, std::size_t layer) {
  std::size_t out = 0;
  for (; layer < sizes.size(); layer += 2) out += sizes[layer];
  return out;
}

std::size_t units_before(const std::vector<std::size_t>& sizes, std::size_t layer) {
  return units_from(sizes, layer % 2) - units_from(sizes, layer);
}

Structure structure_of(const std::vector<std::size_t>& sizes) {
  Structure out{sizes[0], {}, {}};
  if (sizes.size() <= 3) return out;
  for (std::size_t even = 0; even < sizes.size(); even += 2) {
    for (std::size_t odd = 1; odd < sizes.size(); odd += 2) {
      const bool neighbours = even + 1 == odd || odd + 1 == even;
      (neighbours ? out.coupled : out.uncoupled)
          .push_back({units_before(sizes, even), sizes[even], units_before(sizes, odd), sizes[odd]});
    }
  }
  return out;
}

std::vector<std::size_t> checked(std::vector<std::size_t> sizes) {
  require(sizes.size() >= 3 && std::ranges::find(sizes, 0u) == sizes.end(),
          fmt::format("a deep Boltzmann machine needs a visible layer and at least two hidden ones, each with units; "
                      "found {} layers; with one hidden layer it is an RBM",
                      sizes.size()));
  return sizes;
}

}  // namespace

DeepBoltzmann::DeepBoltzmann(std::vector<std::size_t> sizes)
    : Rbm(Bernoulli{units_from(checked(sizes), 0)}, Bernoulli{units_from(sizes, 1)}, structure_of(sizes)),
      sizes_(std::move(sizes)) {}

std::size_t DeepBoltzmann::first_unit(std::size_t layer) const { return units_before(sizes_, layer); }

State DeepBoltzmann::layer_part(LayerStates layers, std::size_t layer) const {
  const State& all = layers[block_of(layer)];
  return State(columns(all.bits(), first_unit(layer), sizes_[layer]), all.levels());
}

std::span<const float> DeepBoltzmann::bias_of(std::size_t layer) const {
  return (block_of(layer) == kVisible ? visible_bias() : hidden_bias()).subspan(first_unit(layer), sizes_[layer]);
}

Matrix<float> DeepBoltzmann::weights_above(std::size_t layer) const {
  Matrix<float> out(sizes_[layer], sizes_[layer + 1]);
  const bool along = block_of(layer) == kVisible;
  const std::size_t below = first_unit(layer), above = first_unit(layer + 1);
  for (std::size_t i = 0; i < out.rows(); ++i) {
    for (std::size_t j = 0; j < out.cols(); ++j) {
      out(i, j) = along ? weights()(below + i, above + j) : weights()(above + j, below + i);
    }
  }
  return out;
}

void DeepBoltzmann::put_weights_above(std::size_t layer, MatrixView<const float> from, Parameters& to) const {
  assert(from.rows() == sizes_[layer] && from.cols() == sizes_[layer + 1]);
  const MatrixView<float> all(to["weights"].data(), weights().rows(), weights().cols());
  const bool along = block_of(layer) == kVisible;
  const std::size_t below = first_unit(layer), above = first_unit(layer + 1);
  for (std::size_t i = 0; i < from.rows(); ++i) {
    for (std::size_t j = 0; j < from.cols(); ++j) {
      (along ? all(below + i, above + j) : all(above + j, below + i)) = from(i, j);
    }
  }
}

void DeepBoltzmann::put_bias(std::size_t layer, std::span<const float> bias, Parameters& to) const {
  const std::span<float> all = to[block_of(layer) == kVisible ? "visible_bias" : "hidden_bias"];
  std::ranges::copy(bias, all.subspan(first_unit(layer), sizes_[layer]).begin());
}

Bits DeepBoltzmann::mask_of(const Bits& known) const {
  Bits out(known.rows(), units_of(visible()));
  for (std::size_t r = 0; r < known.rows(); ++r) std::ranges::copy(known.row(r), out.row(r).begin());
  return out;
}

State DeepBoltzmann::with_room(const State& visible) const { return State(mask_of(visible.bits()), visible.levels()); }

std::vector<Matrix<float>> mean_field(const DeepBoltzmann& model, MatrixView<const float> visible,
                                      std::size_t iterations, const Context& context) {
  const std::size_t depth = model.depth(), rows = visible.rows();
  std::vector<Matrix<float>> weights;
  for (std::size_t k = 0; k < depth; ++k) weights.push_back(model.weights_above(k));
  std::vector<Matrix<float>> means;
  for (std::size_t k = 1; k <= depth; ++k) {
    means.emplace_back(rows, model.sizes()[k]);
    std::ranges::fill(means.back().elements(), 0.5f);
  }
  const auto begin = [&](std::size_t k, MatrixView<const float> below, Matrix<float>& fields) {
    for (std::size_t r = 0; r < rows; ++r) std::ranges::copy(model.bias_of(k), fields.row(r).begin());
    add_product(below, weights[k - 1], fields, context);
  };
  Matrix<float> from_visible(rows, model.sizes()[1]);  // which does not change
  begin(1, visible, from_visible);
  const auto renew = [&](std::size_t k) {
    Matrix<float>& out = means[k - 1];
    if (k == 1) {
      std::ranges::copy(from_visible.elements(), out.elements().begin());
    } else {
      begin(k, means[k - 2], out);
    }
    if (k < depth) add_product(means[k], transposed(weights[k]), out, context);
    context.for_blocks(rows, kRowsAtATime, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) apply_sigmoid(out.row(r));
    });
  };
  for (std::size_t t = 0; t < iterations; ++t) {
    for (std::size_t k = 1; k <= depth; k += 2) renew(k);
    for (std::size_t k = 2; k <= depth; k += 2) renew(k);
  }
  return means;
}

std::vector<double> mean_field_bounds(const DeepBoltzmann& model, MatrixView<const float> visible,
                                      std::span<const Matrix<float>> hidden, const Context& context) {
  std::vector<double> out(visible.rows());
  const auto values = [&](std::size_t k) { return k == 0 ? visible : hidden[k - 1].view(); };
  for (std::size_t k = 0; k < model.sizes().size(); ++k) {
    Matrix<float> fields(visible.rows(), model.sizes()[k]);  // of what lies below alone, so that a pair counts once
    for (std::size_t r = 0; r < fields.rows(); ++r) std::ranges::copy(model.bias_of(k), fields.row(r).begin());
    if (k > 0) add_product(values(k - 1), model.weights_above(k - 1), fields, context);
    for (std::size_t r = 0; r < fields.rows(); ++r) {
      for (std::size_t i = 0; i < fields.cols(); ++i) {
        const double q = values(k)(r, i);
        out[r] += q * fields(r, i);
        if (k > 0 && q > 0.0 && q < 1.0) out[r] -= q * portable_log(q) + (1.0 - q) * portable_log(1.0 - q);
      }
    }
  }
  return out;
}

}  // namespace ergodic
