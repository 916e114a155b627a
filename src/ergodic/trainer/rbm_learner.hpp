// Learning of restricted Boltzmann machines.
//
// Samples of two-valued units and letters go the fast way, by counts of pairs (sampled_ascent.hpp), those of machines
// with real units by products of floats (real_gradient.hpp). Exact model terms go by statistics in double.
#pragma once

#include <memory>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/completion.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/negative_phase.hpp"
#include "ergodic/trainer/real_gradient.hpp"
#include "ergodic/trainer/sampled_ascent.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

/// Sets the parameters for the start: visible biases (and precisions) from the data, as if there were no couplings;
/// weights random with this standard deviation (as between {0,1} units; the same machine in +-1 units has smaller
/// ones).
void initialise(Rbm& model, const Dataset& data, double weight_scale, Key key, const Context& context);

class RbmLearner : public Learner {
 public:
  /// For a machine that has been initialised. It and the data must outlive the learner.
  RbmLearner(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
             const Context& context);

  void learn(const UpdateStep& now, const Context& context) override;
  Measures measure(const Context& context) const override;
  const Chains* chains() const override { return negative_->chains(); }
  const Simulator* simulator() const override { return &simulator_; }
  LearnerState state() const override;
  void restore(LearnerState state) override;

 private:
  void gather_batch(const UpdateStep& now, const Context& context);
  Statistics mean_statistics(const State& visible, const Moments& hidden, const Context& context) const;
  void ascend(const Statistics& model_term, StepSize size, const Context& context);
  void ascend_real(const Chains& samples, StepSize size, const Context& context);
  /// A step by a gradient in double or in float.
  template <class Gradient>
  void step_by(const Gradient& gradient, StepSize size, const Context& context);

  Rbm& model_;
  const Dataset& train_;
  TrainOptions options_;
  Key key_;
  SimulatorOf<Rbm, Gibbs> simulator_;
  std::unique_ptr<NegativePhase> negative_;
  SampledAscent ascent_;
  RealGradient real_gradient_;
  Matrix<float> hidden_means_;      // given the batch, of a machine with real units
  Chains data_;                     // the batch, with hidden states drawn given it
  std::vector<double> deviations_;  // of the data, if it is real
  Gaps gaps_;
  std::vector<double> visible_offset_;  // mu: the mean of the data
  std::vector<float> velocity_;
  std::vector<double> hidden_offset_;  // lambda: a moving mean of the hidden layer
  Completion completion_;              // of rows with missing values
  Bits known_;                         // in the batch, if some are
  struct Monitored {
    State rows;
    Bits known;  // without rows if all is known
  };
  static Monitored monitored(const Rbm& model, const Dataset& data, Key key);
  State shown(const Monitored& monitored, const Context& context) const;
  Monitored monitored_train_, monitored_held_out_;
};

/// The loop that trains a machine that has been initialised.
Trainer trainer_of(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                   const Context& context);

}  // namespace ergodic
