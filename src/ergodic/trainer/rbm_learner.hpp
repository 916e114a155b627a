// Learning of restricted Boltzmann machines.
//
// Samples of two-valued units and letters go the fast way, by counts of pairs (sampled_ascent.hpp), those of machines
// with real units by products of floats (real_gradient.hpp). Exact model terms go by statistics in double.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/trainer/centred_step.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/completion.hpp"
#include "ergodic/trainer/hidden_penalties.hpp"
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

/// Fills in the visible states of the batch of an update: rows that are not those of a data set as they are.
using BatchSource = std::function<void(const UpdateStep& now, State& visible, const Context& context)>;

class RbmLearner : public Learner {
 public:
  /// For a machine that has been initialised. It and the data must outlive the learner. With a source of batches the
  /// data has no part in the gradient, but shows what rows are like: for the offsets, and for the monitors.
  RbmLearner(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
             const Context& context, BatchSource source = {});

  void learn(const UpdateStep& now, const Context& context) override;
  /// Nothing if some of what the monitors see is drawn: the machine would be judged by its own draws.
  std::optional<HeldOutLoss> held_out_loss(const Context& context) const override;
  Measures measure(const Context& context) const override;
  Measures vitals() const override;
  std::span<const float> parameters() const override;
  void set_parameters(std::span<const float> values, const Context& context) override;
  const Chains* chains() const override { return negative_->chains(); }
  const Simulator* simulator() const override { return &simulator_; }
  LearnerState state() const override;
  void restore(LearnerState state) override;
  /// The offsets of centring as they are now, mu and lambda. Those of the visible units are not part of the state where
  /// they are means of the data.
  std::span<double> visible_offsets() { return visible_offset_; }
  std::span<const double> hidden_offsets() const { return hidden_offset_; }

 private:
  void gather_batch(const UpdateStep& now, const Context& context);
  Statistics mean_statistics(const State& visible, const Moments& hidden, const Context& context) const;
  /// The decay of this step, given what the hidden layer is on average.
  Decay decay_now(std::span<const double> hidden_means, const Context& context);
  std::span<const double> mean_of(const State& hidden);
  void ascend(const Statistics& model_term, StepSize size, const Context& context);
  void ascend_bits(const Chains& samples, StepSize size, const Context& context);
  void ascend_real(const Chains& samples, StepSize size, const Context& context);
  /// A step of any optimiser along the gradient that find(parameters, gradient) writes.
  template <class Find>
  void ascend_by_optimiser(StepSize size, const Find& find, const Context& context);
  void bound_precisions(Parameters& parameters) const;

  Rbm& model_;
  const Dataset& train_;
  TrainOptions options_;
  Key key_;
  BatchSource source_;  // if not the data itself
  SimulatorOf<Rbm, Gibbs> simulator_;
  std::unique_ptr<NegativePhase> negative_;
  Optimiser optimiser_;
  HiddenPenalties hidden_penalties_;
  SampledAscent ascent_;
  RealGradient real_gradient_;
  CentredStep centred_step_;            // of optimisers that are not fused with their gradient
  State hidden_means_{0, 0, {}};        // given the batch, if hidden units are real
  Chains data_;                         // the batch, with hidden states drawn given it
  std::vector<double> log_precisions_;  // of the data, if it is real
  Gaps gaps_;
  std::vector<double> visible_offset_;  // mu: the mean of the data; a moving one of units that data does not set
  std::vector<float> velocity_;
  std::vector<double> hidden_offset_;  // lambda: a moving mean of the hidden layer
  std::vector<double> hidden_means_of_batch_;
  Completion completion_;  // of missing values, and of units that data does not set
  Bits known_;             // in the batch, if some are
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
