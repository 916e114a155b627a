// Learning of a network: maximum likelihood of the labels, by back-propagation.
//
// The gradient is centred, as that of an RBM (centring.hpp; Montavon and Müller 2012): steps are those of a network
// whose units are h - mu, with the field (h - mu) W + b', mu being a moving mean of each unit. In the parameters that
// there are,
//   dW = (h - mu)' delta,   db = delta - mu' dW.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/network.hpp"
#include "ergodic/trainer/adversary.hpp"
#include "ergodic/trainer/class_scores.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

struct NetworkLearning {
  Optimiser optimiser = Sgd{0.9};
  Dropout dropout;
  double l2 = 0.0;                         ///< subtracts so much of each weight from its gradient
  double max_norm = 0.0;                   ///< the largest norm of the weights that lead to a unit; 0: none
  std::optional<double> adversarial = {};  ///< how far labelled rows are moved (adversary.hpp)
  std::optional<double> smoothing = {};    ///< how far all rows are moved, with or without a label
  bool frozen = false;                     ///< hidden layers stay as they are: the softmax alone learns
};

/// p(y | x) of all rows of a data set. Throws Stopped if the observer asks to stop.
Matrix<float> class_probabilities(const Network& network, const Dataset& data, const Context& context);

class NetworkLearner : public Learner {
 public:
  /// The network and the data must outlive the learner. `all_rows` are those that need no label, for smoothing; if
  /// null, the same.
  NetworkLearner(Network& network, const Dataset& train, const Dataset& held_out, const NetworkLearning& options,
                 Key key, const Dataset* all_rows = nullptr);

  void learn(const UpdateStep& now, const Context& context) override;
  bool learns_classes() const override { return true; }
  std::optional<HeldOutLoss> held_out_loss(const Context& context) const override;
  /// error, log_loss of some training rows; held_out_error, held_out_log_loss of all held-out ones; dead, saturated,
  /// the shares of hidden units that say nothing of these training rows.
  Measures measure(const Context& context) const override;
  std::span<const float> parameters() const override { return std::as_const(network_).parameters().values(); }
  void set_parameters(std::span<const float> values, const Context& context) override;
  LearnerState state() const override;
  void restore(LearnerState state) override;

 private:
  void follow_means(std::uint64_t update);
  void step(StepSize size, const Context& context);

  Network& network_;
  const Dataset& train_;
  const Dataset& held_out_;
  NetworkLearning options_;
  Key key_;
  Network::Pass pass_;
  std::vector<int> labels_;  // of the batch
  Matrix<float> targets_;    // of the rows of the pass
  std::optional<Adversary> adversary_;
  std::optional<VirtualAdversary> virtual_adversary_;
  std::vector<float> velocity_;
  std::vector<std::vector<float>> means_;  // mu of each layer but the last
  Dataset monitored_;
};

}  // namespace ergodic
