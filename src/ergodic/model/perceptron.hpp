// A perceptron of several layers with one output, g(z), and its derivatives by back-propagation (Rumelhart, Hinton and
// Williams 1986):
//   a_0 = z,   f_k = a_k W_k + b_k,   a_k+1 = f_k sigmoid(f_k),   g = a_L W_L,
// with the smooth unit of Elfwing, Uchibe and Doya (2018). A constant added to an energy changes nothing, so the output
// has no bias. The output is found in double, its derivatives in float, each sum in one order: the same bits
// everywhere.
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

  /// g of each row of z.
  void outputs(MatrixView<const double> z, std::span<double> out) const;

  /// What derivatives are made of, for as many rows of each matrix as are in use.
  struct Pass {
    std::size_t rows = 0;
    std::vector<Matrix<float>> values;  ///< a_k, from the inputs on
    std::vector<Matrix<float>> slopes;  ///< da/df of the hidden units
    std::vector<Matrix<float>> deltas;  ///< row_weight * dg/df of the hidden units
  };
  /// Makes room for these rows, unless there is, and uses as many.
  void fit(std::size_t rows, Pass& pass) const;
  /// From values[0] to all values, slopes and deltas. A weight for each row.
  void differentiate(std::span<const float> row_weights, Pass& pass) const;
  /// The sum of row_weight * dg/dtheta over the rows, in the layout of the parameters.
  void find_gradient(const Pass& pass, std::span<const float> row_weights, std::span<float> out) const;
  /// row_weight * dg/dz.
  void find_input_slopes(const Pass& pass, MatrixView<float> out) const;

 private:
  void forward(Pass& pass) const;

  std::size_t inputs_;
  std::vector<std::size_t> hidden_;
  std::vector<Matrix<float>> weights_, transposed_;  // of the hidden layers
  std::vector<std::vector<float>> bias_;
  std::vector<float> last_;  // the weights of the output
  // In double, with columns of zeros up to a multiple of the tiles of the product.
  std::vector<Matrix<double>> wide_weights_;
  std::vector<std::vector<double>> wide_bias_;
};

}  // namespace ergodic
