// A feed-forward network with a softmax at its end (Rumelhart, Hinton and Williams 1986):
//   h_0 = x,   h_k = f(h_{k-1} W_k + b_k),   p(y | x) = softmax(h_{K-1} W_K + b_K)_y,
// where f is the logistic sigmoid, as in the hidden layer of an RBM, or max(0, .). All products are in float and have
// the same bits on every CPU and for any number of threads (kernels/float_product.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

enum class Activation { kSigmoid, kRelu };

/// Shares of units that are left out at random during training (Srivastava et al. 2014). The others are scaled up, so
/// that nothing has to be scaled afterwards.
struct Dropout {
  double inputs = 0.0;
  double hidden = 0.0;
};

/// Weights [from, to] and biases [to] of one layer.
struct NetworkLayer {
  Matrix<float> weights;
  std::vector<float> bias;
};

class Network {
 public:
  /// Units of each layer: inputs, hidden layers, classes. All parameters are zero.
  Network(std::vector<std::size_t> sizes, Activation activation);

  const std::vector<std::size_t>& sizes() const { return sizes_; }
  std::size_t inputs() const { return sizes_.front(); }
  std::size_t classes() const { return sizes_.back(); }
  Activation activation() const { return activation_; }
  /// How many layers have weights.
  std::size_t depth() const { return sizes_.size() - 1; }

  const Parameters& parameters() const { return parameters_; }
  Parameters& parameters() { return parameters_; }
  static std::string weights_slot(std::size_t layer) { return "weights" + std::to_string(layer); }
  static std::string bias_slot(std::size_t layer) { return "bias" + std::to_string(layer); }
  MatrixView<const float> weights(std::size_t layer) const;  ///< [units below, units above]

  /// Takes the weights and biases of a layer.
  void set_layer(std::size_t layer, const NetworkLayer& from);
  /// Gives a layer normal weights and no biases, such that values keep their size on the way up: with the variance
  /// 2 / units below for max(0, .) (He et al. 2015), half of that for the sigmoid.
  void randomise(std::size_t layer, const Draw& draw);

  /// What a batch is on its way through the layers.
  struct Pass {
    std::vector<Matrix<float>> values;  ///< of each layer; the first are the inputs, the last the probabilities
    std::vector<Matrix<float>> deltas;  ///< of each layer but the first: the derivatives of log p(y | x) by its fields
  };
  Pass make_pass(std::size_t rows) const;

  /// From the inputs up, without dropout.
  void forward(Pass& pass, const Context& context) const;
  /// From the inputs up, some units left out. Row r draws the random numbers of chain r.
  void forward(Pass& pass, const Dropout& dropout, const Draw& draw, const Context& context) const;
  /// From the classes down, after `forward` with the same dropout: the deltas of the mean over rows of
  /// sum_y t(y) log p(y | x), `targets` being t; those of a label are 1 for it, else 0.
  void backward(Pass& pass, MatrixView<const float> targets, const Dropout& dropout, const Context& context) const;

  /// After `backward`: the gradient of that mean by the inputs as dropout has left them.
  void find_input_gradient(const Pass& pass, MatrixView<float> out, const Context& context) const;

  /// Weights of a layer: those from some units to some units above.
  struct WeightBlock {
    std::size_t layer;
    std::size_t row, rows;
    std::size_t column, columns;
  };
  /// After `backward`: the gradient of that mean by these weights.
  void find_gradient(const Pass& pass, const WeightBlock& block, MatrixView<float> out) const;
  /// The same by the biases of a layer, beginning with that of a column.
  void find_bias_gradient(const Pass& pass, std::size_t layer, std::size_t column, std::span<float> out) const;
  /// The whole gradient, in the layout of the parameters.
  void find_gradient(const Pass& pass, std::span<float> out, const Context& context) const;

 private:
  void enter(Pass& pass, std::size_t layer, std::size_t row) const;

  std::vector<std::size_t> sizes_;
  Activation activation_;
  Parameters parameters_;
};

/// Sets row r to 1 at label r, and to 0 elsewhere.
void set_targets(std::span<const int> labels, MatrixView<float> targets);

/// p(y | x), a row for each row of inputs.
Matrix<float> class_probabilities(const Network& network, MatrixView<const float> inputs, const Context& context);

}  // namespace ergodic
