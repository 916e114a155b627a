// A perceptron of several layers with one output, g(z), and its derivatives by back-propagation (Rumelhart, Hinton and
// Williams 1986):
//   a_0 = z,   f_k = a_k W_k + b_k,   a_k+1 = f_k sigmoid(f_k),   g = a_L W_L,
// with the smooth unit of Elfwing, Uchibe and Doya (2018). A constant added to an energy changes nothing, so the output
// has no bias. All in double, each sum in one order: the same bits everywhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/matrix.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

class Perceptron {
 public:
  /// UsageError without inputs or hidden units.
  Perceptron(std::size_t inputs, std::vector<std::size_t> hidden);

  std::size_t inputs() const { return inputs_; }
  const std::vector<std::size_t>& hidden() const { return hidden_; }

  static std::string weights_slot(std::size_t layer) { return "weights_" + std::to_string(layer); }
  static std::string bias_slot(std::size_t layer) { return "bias_" + std::to_string(layer); }
  /// weights_0 [inputs, hidden], bias_0 [hidden], weights_1, ..., weights_L [hidden, 1], all zero.
  Parameters make_parameters() const;
  /// Computes with these from now on.
  void assign(const Parameters& parameters);

  /// What is known of some rows in each layer. The width of hidden layers is rounded up; the units that this adds are
  /// always 0.
  struct Pass {
    std::vector<Matrix<double>> values;  ///< a_k, from the inputs on
    std::vector<Matrix<double>> slopes;  ///< da/df of the hidden units
    std::vector<Matrix<double>> deltas;  ///< dg/df of the hidden units
    Matrix<double> input_slopes;         ///< dg/dz; columns after the inputs are 0
  };
  /// A pass with rows of zeros in values[0].
  Pass make_pass(std::size_t rows) const;
  /// From values[0] to all values and slopes.
  void forward(Pass& pass) const;
  /// g of each row, after forward.
  void outputs(const Pass& pass, std::span<double> out) const;
  /// From the slopes to all deltas.
  void backward(Pass& pass) const;
  /// dg/dz, after backward.
  void backward_to_inputs(Pass& pass) const;
  /// Adds row_weight * dg/dtheta over the rows, after backward, in the layout of the parameters. A weight for each row.
  void add_gradient(const Pass& pass, std::span<const double> row_weights, std::span<double> out) const;

 private:
  std::size_t inputs_;
  std::vector<std::size_t> hidden_;
  std::vector<Matrix<double>> weights_;     // [from, to], wide enough for the tiles of the product
  std::vector<Matrix<double>> transposed_;  // [to, from]
  std::vector<std::vector<double>> bias_;
  std::vector<double> last_;  // the weights of the output
};

}  // namespace ergodic
