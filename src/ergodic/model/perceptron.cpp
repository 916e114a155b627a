#include "ergodic/model/perceptron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/kernels/couplings.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/kernels/smooth_layers.hpp"

namespace ergodic {
namespace {

std::size_t padded(std::size_t units) { return (units + kLayerLanes - 1) / kLayerLanes * kLayerLanes; }

MatrixView<float> first_rows(Matrix<float>& m, std::size_t rows) { return {m.data(), rows, m.cols()}; }
MatrixView<const float> first_rows(const Matrix<float>& m, std::size_t rows) { return {m.data(), rows, m.cols()}; }

/// out += the sum of factor * row, one factor for each row.
void add_weighted_rows(std::span<const float> factors, const Matrix<float>& rows, std::span<float> out) {
  for (std::size_t r = 0; r < factors.size(); ++r) {
    const float* const row = rows.row(r).data();
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += factors[r] * row[j];
  }
}

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
    weights_.emplace_back(from, to);
    transposed_.emplace_back(to, from);
    bias_.emplace_back(to);
    wide_weights_.emplace_back(from, padded(to));
    wide_bias_.emplace_back(padded(to));
    from = to;
  }
  last_.resize(from);
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
  for (std::size_t k = 0; k < hidden_.size(); ++k) {
    std::ranges::copy(parameters[weights_slot(k)], weights_[k].data());
    std::ranges::copy(parameters[bias_slot(k)], bias_[k].begin());
    std::ranges::copy(bias_[k], wide_bias_[k].begin());
    transpose(weights_[k], transposed_[k], {});
    for (std::size_t i = 0; i < weights_[k].rows(); ++i) {
      std::ranges::copy(std::as_const(weights_[k]).row(i), wide_weights_[k].row(i).begin());
    }
  }
  std::ranges::copy(parameters[weights_slot(hidden_.size())], last_.begin());
}

void Perceptron::outputs(MatrixView<const double> z, std::span<double> out) const {
  assert(z.cols() == inputs_ && z.rows() == out.size());
  thread_local AlignedVector<double> memory[2];
  MatrixView<const double> values = z;
  for (std::size_t k = 0; k < hidden_.size(); ++k) {
    AlignedVector<double>& next = memory[k % 2];
    next.resize(std::max(next.size(), z.rows() * wide_bias_[k].size()));
    const MatrixView<double> fields(next.data(), z.rows(), wide_bias_[k].size());
    multiply_layer(values, wide_weights_[k], wide_bias_[k], fields);
    activate_smoothly(fields.elements());
    values = fields;
  }
  for (std::size_t r = 0; r < out.size(); ++r) {
    const std::span<const double> row = values.row(r);
    double sum = 0.0;
    for (std::size_t j = 0; j < last_.size(); ++j) sum += row[j] * last_[j];
    out[r] = sum;
  }
}

void Perceptron::fit(std::size_t rows, Pass& pass) const {
  const auto fits = [&](const std::vector<Matrix<float>>& layers, std::size_t first) {
    return layers.size() == hidden_.size() + 1 - first &&
           std::ranges::all_of(layers, [&, k = first](const Matrix<float>& m) mutable {
             const std::size_t units = k == 0 ? inputs_ : hidden_[k - 1];
             ++k;
             return m.rows() >= rows && m.cols() == units;
           });
  };
  pass.rows = rows;
  if (fits(pass.values, 0) && fits(pass.slopes, 1)) return;
  pass = {rows, {}, {}, {}};
  pass.values.emplace_back(rows, inputs_);
  for (const std::size_t units : hidden_) {
    for (auto* const layers : {&pass.values, &pass.slopes, &pass.deltas}) layers->emplace_back(rows, units);
  }
}

void Perceptron::forward(Pass& pass) const {
  for (std::size_t k = 0; k < hidden_.size(); ++k) {
    const MatrixView<float> fields = first_rows(pass.values[k + 1], pass.rows);
    for (std::size_t r = 0; r < pass.rows; ++r) std::ranges::copy(bias_[k], fields.row(r).begin());
    add_product(first_rows(std::as_const(pass.values[k]), pass.rows), weights_[k], fields, {});
    activate_smoothly(fields.elements(), first_rows(pass.slopes[k], pass.rows).elements());
  }
}

void Perceptron::differentiate(std::span<const float> row_weights, Pass& pass) const {
  assert(row_weights.size() == pass.rows);
  forward(pass);
  for (std::size_t k = hidden_.size(); k-- > 0;) {
    const MatrixView<float> deltas = first_rows(pass.deltas[k], pass.rows);
    if (k + 1 == hidden_.size()) {
      for (std::size_t r = 0; r < pass.rows; ++r) {
        const std::span<float> row = deltas.row(r);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = row_weights[r] * last_[j];
      }
    } else {
      std::ranges::fill(deltas.elements(), 0.0f);
      add_product(first_rows(std::as_const(pass.deltas[k + 1]), pass.rows), transposed_[k + 1], deltas, {});
    }
    const float* const slopes = pass.slopes[k].data();
    const std::span<float> out = deltas.elements();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= slopes[i];
  }
}

void Perceptron::find_gradient(const Pass& pass, std::span<const float> row_weights, std::span<float> out) const {
  std::ranges::fill(out, 0.0f);
  const std::vector<float> ones(pass.rows, 1.0f);
  float* to = out.data();
  for (std::size_t k = 0; k < hidden_.size(); ++k) {
    const std::size_t from = weights_[k].rows(), width = hidden_[k];
    add_product(transposed(first_rows(pass.values[k], pass.rows)), first_rows(pass.deltas[k], pass.rows),
                {to, from, width}, {});
    add_weighted_rows(ones, pass.deltas[k], {to + from * width, width});
    to += (from + 1) * width;
  }
  add_weighted_rows(row_weights, pass.values.back(), {to, last_.size()});
}

void Perceptron::find_input_slopes(const Pass& pass, MatrixView<float> out) const {
  std::ranges::fill(out.elements(), 0.0f);
  add_product(first_rows(pass.deltas[0], pass.rows), transposed_[0], out, {});
}

}  // namespace ergodic
