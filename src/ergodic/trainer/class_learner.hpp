// Learning of class RBMs (Larochelle and Bengio 2008), whose visible layer is the values x of a row and its label y:
//   generative       log p(x, y), as any RBM learns
//   discriminative   log p(y | x), whose gradient is exact (model/class_posterior.hpp)
//   hybrid           log p(y | x) + weight * log p(x, y), both gradients in one step
//
// x is bits; or grey levels, which enter p(y | x) as numbers, and p(x, y) as bits drawn anew each epoch. A row without
// a label, or with another value missing, takes part in p(x, y) alone: what it lacks is drawn (completion.hpp). The
// mean of log p(y | x) is over the complete rows, which have mini-batches of their own; those of all rows, if all are
// complete. Its inputs are moved by an adversary (adversary.hpp). The gradient is conditioned as that of an RBM
// (centring.hpp), so that the sum of both is too.
//
// Unless the objective is generative, the machine is one that learns classes, of which the best state is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/batches.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/class_posterior.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/trainer/adversary.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/class_scores.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

/// p(y | x) of all rows of a data set, whose first values are x. Throws Stopped if the observer asks to stop.
Matrix<float> class_probabilities(const Rbm& model, const Dataset& data, const Context& context);

class ClassLearner : public Learner {
 public:
  /// For a machine that has been initialised, and rows that have its label units. It and the training rows must outlive
  /// the learner. UsageError if no row is complete but p(y | x) is to be learned.
  ClassLearner(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
               const Context& context);

  void learn(const UpdateStep& now, const Context& context) override;
  bool learns_classes() const override { return options_.objective != Objective::kGenerative; }
  std::optional<HeldOutLoss> held_out_loss(const Context& context) const override;
  /// Those of an RBM, but if the objective is discriminative; error, log_loss of some training rows; held_out_error,
  /// held_out_log_loss.
  Measures measure(const Context& context) const override;
  Measures vitals() const override;
  std::span<const float> parameters() const override;
  void set_parameters(std::span<const float> values, const Context& context) override;
  const Chains* chains() const override { return generative_ ? generative_->chains() : nullptr; }
  const Simulator* simulator() const override { return generative_ ? generative_->simulator() : nullptr; }
  LearnerState state() const override;
  void restore(LearnerState state) override;

 private:
  void find_gradient(std::uint64_t update, const Context& context);
  void ascend(StepSize size, const Context& context);
  ClassScores scores_of(const Dataset& rows, const Context& context) const;

  Rbm& model_;
  const Dataset& train_;
  TrainOptions options_;
  std::vector<int> labels_;              // of all rows; -1 if a row is not complete
  std::vector<std::uint32_t> complete_;  // rows
  Dataset watched_, held_out_;           // complete rows
  std::unique_ptr<RbmLearner> generative_;
  // What log p(y | x) needs, if it is learned.
  std::optional<Minibatches> batches_;  // of complete rows
  ClassPosterior posterior_;
  std::optional<SignedReach> adversary_;
  Matrix<float> inputs_, slopes_;
  std::vector<float> gradient_;
  Statistics ascent_;
  std::vector<float> velocity_;
  Gaps gaps_;
  std::vector<double> visible_offset_, hidden_offset_;  // without a generative part, which has its own
};

}  // namespace ergodic
