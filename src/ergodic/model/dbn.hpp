// Deep belief network (Hinton, Osindero and Teh 2006): directed layers below a restricted Boltzmann machine,
//   p(x, h_1, ..., h_L) = p(x | h_1) p(h_1 | h_2) ... p(h_{L-2} | h_{L-1}) p(h_{L-1}, h_L),
// where p(h_{L-1}, h_L) is the RBM at the top and each unit of a directed layer is drawn from the layer above it,
// p(h_k = 1 | h_{k+1}) = sigmoid(b + W h_{k+1}). All units are {0,1}. A label may stand beside h_{L-1}, as letters of
// one site; it is then part of what the network models, p(x, y).
//
// What lies above a row is inferred by a factorial recognition distribution, from below:
//   q(h | x) = q(h_1 | x) ... q(h_{L-1} | h_{L-2}),   q(h_{k+1} = 1 | h_k) = sigmoid(c + R' h_k).
// R are the weights W themselves as long as layers have been trained one by one; wake-sleep training unties them.
//
// Layer k and layer k + 1 of the stack are those of an Rbm, stage(k): its weights and visible biases are W and b, its
// hidden biases are c. The joint energy has the log Z of the RBM at the top, since everything below it is normalised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// The random numbers of a way up or down the layers: each layer has a stream of its own, beyond those that a sweep of
/// an RBM takes.
struct LayerDraws {
  Key key;
  Purpose purpose;  ///< kDataHidden up, kGibbs down
  std::uint64_t step = 0;
  std::uint64_t first_chain = 0;

  Draw at(std::size_t layer) const { return key.at(purpose, step, static_cast<std::uint8_t>(2 + layer)); }
};

struct DbnShape {
  std::size_t values = 0;           ///< of a row, without its label
  std::vector<std::size_t> hidden;  ///< units of each hidden layer, the lowest first
  std::size_t classes = 0;          ///< of the label at the top; 0 without
  bool untied = false;              ///< whether there are parameters for recognition weights of their own

  bool operator==(const DbnShape&) const = default;
};

class Dbn {
 public:
  static constexpr std::size_t kFewestLayers = 2, kMostLayers = 16;

  /// All parameters zero. UsageError unless there are from two to sixteen hidden layers.
  explicit Dbn(DbnShape shape);

  const DbnShape& shape() const { return shape_; }
  /// How many hidden layers there are: L.
  std::size_t depth() const { return stages_.size(); }
  /// The units of a row, and after them those of its label.
  Layer visible_layer() const;
  /// The visible one, then h_1, ..., h_L.
  std::vector<Layer> layers() const;

  /// What joins layer k of the stack with the one above, from 0; the last is the RBM at the top, whose visible layer is
  /// h_{L-1} and the label.
  const Rbm& stage(std::size_t k) const { return stages_[k]; }
  const Rbm& top() const { return stages_.back(); }
  /// What draws layer k + 1 given layer k, by its weights and hidden biases; k < L - 1.
  const Rbm& recognition(std::size_t k) const { return recognition_[k] ? *recognition_[k] : stages_[k]; }
  bool tied(std::size_t k) const { return !recognition_[k]; }

  /// All stages in one buffer, with the slots "layer1.weights", "layer1.visible_bias", "layer1.hidden_bias", and
  /// "layer1.recognition_weights" if untied. Made anew when the network has changed.
  const Parameters& parameters() const;
  void set_parameters(const Parameters& values);

  /// A stage that is about to change. Recognition weights that are tied change with it.
  Rbm& edited_stage(std::size_t k) {
    flat_.forget();
    return stages_[k];
  }
  /// What draws layer k + 1 given layer k and is about to change; untied from now on.
  Rbm& edited_recognition(std::size_t k) {
    if (!recognition_[k]) recognition_[k] = stages_[k];
    flat_.forget();
    return *recognition_[k];
  }

  // ---- Parts of states ----

  /// The values of visible states without their labels.
  State values_of(const State& visible) const;
  /// h_{L-1} beside the labels of visible states, as the top takes it.
  State joined_top(const State& below_top, const State& visible) const;
  /// h_{L-1} of a state of the top.
  State below_top(const State& top_visible) const;
  /// Values beside the labels of a state of the top, as visible states have them.
  State joined_visible(const State& values, const State& top_visible) const;

  // ---- Up and down ----

  /// h_1, ..., h_count given values, drawn by recognition; out[0] are the values. Not beyond h_{L-1}.
  std::vector<State> draw_up(State values, std::size_t count, const LayerDraws& draws, const Context& context) const;
  /// The same layers, values, h_1, ..., h_{L-2}, drawn down given h_{L-1}, which comes last.
  std::vector<State> draw_down(State below_top, const LayerDraws& draws, const Context& context) const;

  // ---- Probabilities ----

  /// E = E_top(h_{L-1}, y, h_L) - sum over k of log p(h_k | h_{k+1}), for each chain.
  std::vector<double> energy(LayerStates layers, const Context& context) const;
  /// -F(x, y) for rows by a sum over all hidden states; nothing if stopped. Only if `summable`.
  std::optional<std::vector<double>> log_sums(const State& visible, const Context& context) const;
  /// Whether that sum is short.
  bool summable() const;
  /// log of p(x, h, y) Z / q(h | x) of each row, given its values, h_1, ..., h_{L-1}; h_L is summed over.
  std::vector<double> log_weights(std::span<const State> up, const State& visible, const Context& context) const;

 private:
  std::size_t label_begin() const { return shape_.hidden[shape_.hidden.size() - 2]; }

  DbnShape shape_;
  std::vector<Rbm> stages_;
  std::vector<std::optional<Rbm>> recognition_;  // of all stages but the top; empty where it is tied
  Derived<Parameters> flat_;
};

/// log p(states of a block | the other layer) of a machine, for each row.
std::vector<double> log_conditional(const Rbm& machine, std::size_t block, const State& states, const State& given,
                                    const Context& context);

}  // namespace ergodic
