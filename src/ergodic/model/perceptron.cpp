#include "ergodic/model/perceptron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/kernels/smooth_layers.hpp"

namespace ergodic {
namespace {

std::size_t padded(std::size_t units) { return (units + kLayerLanes - 1) / kLayerLanes * kLayerLanes; }

}  // namespace

Perceptron::Perceptron(std::size_t inputs, std::vector<std::size_t> hidden)
    : inputs_(inputs), hidden_(std::move(hidden)) {
  const bool empty = std::find(hidden_.begin(), hidden_.end(), 0u) != hidden_.end();
  require(inputs_ > 0 && !hidden_.empty() && !empty,
          fmt::format("a perceptron needs inputs and hidden layers of at least one unit, found {} inputs and {} hidden "
                      "layers{}",
                      inputs_, hidden_.size(), empty ? ", one of them empty" : ""));
  std::size_t from = inputs_;
  for (const std::size_t to : hidden_) {
    weights_.emplace_back(weights_.empty() ? from : padded(from), padded(to));
    transposed_.emplace_back(padded(to), padded(from));
    bias_.emplace_back(padded(to));
    from = to;
  }
  last_.resize(padded(from));
}

Parameters Perceptron::make_parameters() const {
  Parameters out;
  std::size_t from = inputs_;
  for (std::size_t k = 0; k < hidden_.size(); ++k) {
    out.add(weights_slot(k), {from, hidden_[k]});
    out.add(bias_slot(k), {hidden_[k]});
    from = hidden_[k];
  }
  out.add(weights_slot(hidden_.size()), {from, 1});
  return out;
}

void Perceptron::assign(const Parameters& parameters) {
  std::size_t from = inputs_;
  for (std::size_t k = 0; k < hidden_.size(); ++k) {
    const std::span<const float> weights = parameters[weights_slot(k)], bias = parameters[bias_slot(k)];
    for (std::size_t i = 0; i < from; ++i) {
      for (std::size_t j = 0; j < hidden_[k]; ++j) {
        weights_[k](i, j) = transposed_[k](j, i) = weights[i * hidden_[k] + j];
      }
    }
    std::copy(bias.begin(), bias.end(), bias_[k].begin());
    from = hidden_[k];
  }
  const std::span<const float> last = parameters[weights_slot(hidden_.size())];
  std::copy(last.begin(), last.end(), last_.begin());
}

Perceptron::Pass Perceptron::make_pass(std::size_t rows) const {
  Pass out;
  out.values.emplace_back(rows, inputs_);
  for (const std::size_t units : hidden_) {
    out.values.emplace_back(rows, padded(units));
    out.slopes.emplace_back(rows, padded(units));
    out.deltas.emplace_back(rows, padded(units));
  }
  out.input_slopes = Matrix<double>(rows, padded(inputs_));
  return out;
}

void Perceptron::forward(Pass& pass) const {
  for (std::size_t k = 0; k < hidden_.size(); ++k) {
    multiply_layer(pass.values[k], weights_[k], bias_[k], pass.values[k + 1]);
    activate_smoothly(pass.values[k + 1].elements(), pass.slopes[k].elements());
  }
}

void Perceptron::outputs(const Pass& pass, std::span<double> out) const {
  for (std::size_t r = 0; r < out.size(); ++r) {
    const std::span<const double> values = pass.values.back().row(r);
    double sum = 0.0;
    for (std::size_t j = 0; j < last_.size(); ++j) sum += values[j] * last_[j];
    out[r] = sum;
  }
}

void Perceptron::backward(Pass& pass) const {
  for (std::size_t k = hidden_.size(); k-- > 0;) {
    Matrix<double>& deltas = pass.deltas[k];
    if (k + 1 == hidden_.size()) {
      for (std::size_t r = 0; r < deltas.rows(); ++r) std::copy(last_.begin(), last_.end(), deltas.row(r).begin());
    } else {
      multiply_layer(pass.deltas[k + 1], transposed_[k + 1], {}, deltas);
    }
    const std::span<const double> slopes = std::as_const(pass.slopes[k]).elements();
    const std::span<double> out = deltas.elements();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= slopes[i];
  }
}

void Perceptron::backward_to_inputs(Pass& pass) const {
  multiply_layer(pass.deltas[0], transposed_[0], {}, pass.input_slopes);
}

void Perceptron::add_gradient(const Pass& pass, std::span<const double> row_weights, std::span<double> out) const {
  double* to = out.data();
  for (std::size_t k = 0; k <= hidden_.size(); ++k) {
    const std::size_t from = k == 0 ? inputs_ : hidden_[k - 1];
    const bool last = k == hidden_.size();
    const std::size_t width = last ? 1 : hidden_[k];
    double* const bias = to + from * width;
    if (last) {
      for (std::size_t r = 0; r < row_weights.size(); ++r) {
        const std::span<const double> values = pass.values[k].row(r);
        for (std::size_t i = 0; i < from; ++i) to[i] += row_weights[r] * values[i];
      }
      return;
    }
    add_weighted_outer(row_weights, pass.values[k], pass.deltas[k], {to, from, width});
    for (std::size_t r = 0; r < row_weights.size(); ++r) {
      const std::span<const double> deltas = pass.deltas[k].row(r);
      for (std::size_t j = 0; j < width; ++j) bias[j] += row_weights[r] * deltas[j];
    }
    to = bias + width;
  }
}

}  // namespace ergodic
