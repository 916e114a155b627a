// Deep Boltzmann machine (Salakhutdinov and Hinton 2009): layers x_0 (visible), x_1, ..., x_L of {0,1} units, each
// coupled to the next,
//   E(x_0, ..., x_L) = - sum over k of x_k' W_k x_{k+1}  -  sum over k of b_k' x_k.
// Given the even layers the units of the odd ones are independent, and the other way round. So it is a restricted
// machine whose visible layer is made of the even layers and whose hidden one is made of the odd ones, with weights of
// zero between layers that are not neighbours, and it is held as one: what samples, counts and anneals an RBM serves
// here too. With two hidden layers no weight is zero, and nothing is lost by it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

class DeepBoltzmann : public Rbm {
 public:
  /// Units of each layer, those of the visible one first, then of at least two hidden ones. All parameters are zero.
  explicit DeepBoltzmann(std::vector<std::size_t> sizes);

  const std::vector<std::size_t>& sizes() const { return sizes_; }
  /// How many hidden layers there are.
  std::size_t depth() const { return sizes_.size() - 1; }
  /// The layer of the RBM that has the units of this one, and the place of the first of them there.
  static std::size_t block_of(std::size_t layer) { return layer % 2; }
  std::size_t first_unit(std::size_t layer) const;

  Layer visible_layer() const { return Bernoulli{sizes_[0]}; }
  State visible_part(const State& even) const { return layer_part(even, 0); }
  /// The units of one layer.
  State layer_part(LayerStates layers, std::size_t layer) const;

  /// W_k: [units of layer k, units of layer k + 1].
  Matrix<float> weights_above(std::size_t layer) const;
  std::span<const float> bias_of(std::size_t layer) const;
  /// Puts them into parameters that are laid out as those of this machine.
  void put_weights_above(std::size_t layer, MatrixView<const float> weights, Parameters& to) const;
  void put_bias(std::size_t layer, std::span<const float> bias, Parameters& to) const;

  /// Rows of the visible layer as states of the even layers, the other ones of which are off; and a mask in which the
  /// visible units stay, where `known` says so.
  State with_room(const State& visible) const;
  Bits mask_of(const Bits& known) const;

 private:
  std::vector<std::size_t> sizes_;
};

/// The fixed point of mean-field equations given visible values in [0, 1], a row for each row: q(layer k) for k = 1, 2,
/// ..., L, each unit sigmoid(its field) where all other units are their own means. It makes the bound
///   log p(x) + log Z >= E_q[-E] + H(q)
/// stationary.
std::vector<Matrix<float>> mean_field(const DeepBoltzmann& model, MatrixView<const float> visible,
                                      std::size_t iterations, const Context& context);
/// That bound for each row.
std::vector<double> mean_field_bounds(const DeepBoltzmann& model, MatrixView<const float> visible,
                                      std::span<const Matrix<float>> hidden, const Context& context);

}  // namespace ergodic
