// The classes of rows by a class RBM (Larochelle and Bengio 2008): an RBM whose visible layer is the values x of a row
// and the letters of its label y. The hidden units are summed over exactly, for all classes at once:
//   p(y | x) = exp(d_y + sum_j softplus(c_j + U_yj + (x W)_j)) / sum over all classes of the same,
// where W are the weights of the values, U those of the label, and d the biases of the label. Biases of the values
// cancel. x enters as it is: bits, or grey levels in [0, 1].
//
// With s_yj = sigmoid(c_j + U_yj + (x W)_j) = p(v_j = 1 | x, y) and t_y = [y is the label] - p(y | x), the derivatives
// of log p(label | x) are
//   dU_yj = t_y s_yj,   dc_j = sum_y t_y s_yj,   dW_ij = x_i dc_j,   dd_y = t_y,   dx_i = sum_j W_ij dc_j.
//
// Products are in float (kernels/float_product.hpp), the sums over hidden units in double and in a fixed order: the
// same bits on every CPU and for any number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// The letters of the label, if the last part of a visible layer of several is one site; else 0.
std::size_t classes_of(const Layer& visible);

/// Holds the working memory, so that batches of one size allocate once.
class ClassPosterior {
 public:
  /// Refers to the machine, whose parameters may change. UsageError unless its hidden units are {0,1} and its visible
  /// layer ends with the site of a label.
  explicit ClassPosterior(const Rbm& rbm);

  std::size_t classes() const { return classes_; }
  std::size_t values() const { return values_; }  ///< of a row, without its label

  /// p(y | x), a row for each row of inputs [rows, values]. Valid until the next call.
  const Matrix<float>& probabilities(MatrixView<const float> inputs, const Context& context);

  /// After `probabilities` of these inputs: the gradient of the mean of log p(label | x), in the layout of the
  /// parameters.
  void gradient(MatrixView<const float> inputs, std::span<const int> labels, std::span<float> out,
                const Context& context);
  /// The same by the inputs, a row for each row.
  void input_gradient(std::span<const int> labels, MatrixView<float> out, const Context& context);

 private:
  void find_surprises(std::span<const int> labels);
  void find_deltas(std::span<const int> labels, const Context& context);
  void find_deltas_of_units(std::size_t begin, std::size_t width);
  MatrixView<const float> value_weights() const;  // W [values, hidden]
  MatrixView<const float> label_weights() const;  // U [classes, hidden]

  const Rbm& rbm_;
  std::size_t values_, classes_;
  Matrix<float> fields_;         // c + x W, a row for each row
  Matrix<float> probabilities_;  // p(y | x)
  Matrix<float> surprises_;      // t_y
  Matrix<float> deltas_;         // the derivatives by the fields
  Matrix<float> label_deltas_;   // those by the weights of the label
};

/// p(y | x), a row for each row of inputs [rows, values].
Matrix<float> class_probabilities(const Rbm& rbm, MatrixView<const float> inputs, const Context& context);

}  // namespace ergodic
