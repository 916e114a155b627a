#include "ergodic/model/perceptron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kLanes = 8;  // columns of a tile: its sums stay in registers

std::size_t padded(std::size_t units) { return (units + kLanes - 1) / kLanes * kLanes; }

/// Rows [first, first + kRows) of out = a b + bias, each sum from the bias on in the order of b's rows. An empty bias
/// is zero.
template <std::size_t kRows>
void multiply_rows(const Matrix<double>& a, const Matrix<double>& b, std::span<const double> bias, std::size_t first,
                   Matrix<double>& out) {
  for (std::size_t column = 0; column < b.cols(); column += kLanes) {
    double sums[kRows][kLanes] = {};
    for (std::size_t r = 0; r < kRows && !bias.empty(); ++r) std::copy_n(&bias[column], kLanes, sums[r]);
    const double* from = b.data() + column;
    for (std::size_t i = 0; i < b.rows(); ++i, from += b.cols()) {
      for (std::size_t r = 0; r < kRows; ++r) {
        const double factor = a.data()[(first + r) * a.cols() + i];
        for (std::size_t k = 0; k < kLanes; ++k) sums[r][k] += factor * from[k];
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) std::copy_n(sums[r], kLanes, &out(first + r, column));
  }
}

void multiply(const Matrix<double>& a, const Matrix<double>& b, std::span<const double> bias, Matrix<double>& out) {
  std::size_t row = 0;
  for (; row + 2 <= a.rows(); row += 2) multiply_rows<2>(a, b, bias, row, out);
  if (row < a.rows()) multiply_rows<1>(a, b, bias, row, out);
}

/// In place f -> f sigmoid(f), with the derivative. A loop without branches, of which the compiler makes vectors.
void activate(std::span<double> fields, std::span<double> slopes) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const double f = fields[i], size = std::abs(f);
    const double e = exp_within(-(size < 700.0 ? size : 700.0));
    const double s = (f >= 0.0 ? 1.0 : e) / (1.0 + e);
    fields[i] = f * s;
    slopes[i] = s + f * s * (1.0 - s);
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
    multiply(pass.values[k], weights_[k], bias_[k], pass.values[k + 1]);
    activate(pass.values[k + 1].elements(), pass.slopes[k].elements());
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
      multiply(pass.deltas[k + 1], transposed_[k + 1], {}, deltas);
    }
    const std::span<const double> slopes = std::as_const(pass.slopes[k]).elements();
    const std::span<double> out = deltas.elements();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= slopes[i];
  }
}

void Perceptron::backward_to_inputs(Pass& pass) const {
  multiply(pass.deltas[0], transposed_[0], {}, pass.input_slopes);
}

void Perceptron::add_gradient(const Pass& pass, std::span<const double> row_weights, std::span<double> out) const {
  double* to = out.data();
  for (std::size_t k = 0; k <= hidden_.size(); ++k) {
    const std::size_t from = k == 0 ? inputs_ : hidden_[k - 1];
    const bool last = k == hidden_.size();
    const std::size_t width = last ? 1 : hidden_[k];
    double* const bias = to + from * width;
    for (std::size_t r = 0; r < row_weights.size(); ++r) {
      const double* const values = pass.values[k].row(r).data();
      if (last) {
        for (std::size_t i = 0; i < from; ++i) to[i] += row_weights[r] * values[i];
        continue;
      }
      const double* const deltas = pass.deltas[k].row(r).data();
      for (std::size_t i = 0; i < from; ++i) {
        const double factor = row_weights[r] * values[i];
        for (std::size_t j = 0; j < width; ++j) to[i * width + j] += factor * deltas[j];
      }
      for (std::size_t j = 0; j < width; ++j) bias[j] += row_weights[r] * deltas[j];
    }
    to = bias + width;
  }
}

}  // namespace ergodic
