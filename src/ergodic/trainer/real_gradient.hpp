// The conditioned gradient (centring.hpp) of a machine with real units, from states, in float: products of floats where
// both layers are real numbers, as the means of hidden units are, and look-ups where one is bits.
#pragma once

#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/trainer/centring.hpp"

namespace ergodic {

/// The data's side: rows, and what the hidden layer is on average given each.
struct DataTerm {
  const State& visible;
  MatrixView<const float> hidden_means;
};

class RealGradient {
 public:
  /// The offsets mu and lambda are those of centring. The result is laid out as the parameters, and stays valid until
  /// the next call.
  std::span<const float> find(const Rbm& model, const DataTerm& data, const Chains& samples, const Gaps& gaps,
                              std::span<const double> mu, std::span<const double> lambda, const Decay& decay,
                              const Context& context);

 private:
  /// What the units of a layer differ by, data minus samples, in the mean; and their squares, if they are real.
  struct Units {
    std::vector<float> change, square_change;
    std::vector<float> offset, per_square;  // the mean about which, and 1 / gap^2
  };

  void find_pairs(const DataTerm& data, const Chains& samples, MatrixView<float> pairs, const Context& context);
  void centre(const Rbm& model, MatrixView<float> pairs, const Context& context);
  void shorten(const Gaps& gaps, MatrixView<float> pairs, const Context& context);
  void finish(const Rbm& model, const Gaps& gaps, const Decay& decay, MatrixView<float> pairs, const Context& context);

  std::vector<float> gradient_;
  Units visible_, hidden_;
  std::vector<float> precision_;  // the gradient by the logs of those of visible units, if they are real
  std::vector<float> bias_, hidden_bias_;
  Matrix<float> data_means_, samples_, turned_;  // scaled, and pairs by hidden unit
  Bits columns_;
  Matrix<float> directions_, shares_, along_;  // of steps, and what they lose
};

}  // namespace ergodic
