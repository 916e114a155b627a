// Learner: what a kind of machine makes of a mini-batch. The loop around it, trainer.hpp, is the same for all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// Named numbers about a machine.
using Measures = std::vector<std::pair<std::string, double>>;

/// What a learner remembers from update to update, beside the parameters.
struct LearnerState {
  std::vector<float> velocity;  ///< what the optimiser keeps
  std::vector<double>
      offsets;      ///< moving means of hidden layers, for centring; then the losses of the best state, and its age
  Chains chains;    ///< persistent chains; empty for methods without
  State completed;  ///< draws of what the data does not have; empty if it has all
  std::vector<float> best = {};     ///< the best parameters so far; empty if the last are taken
  std::vector<float> layers = {};   ///< parameters of layers that learn one by one before they are put together
  std::vector<float> phase = {};    ///< what the training method has beside its chains
  std::vector<float> average = {};  ///< the mean of the parameters, which the loop keeps; empty without one
};

/// How far from the truth a machine is on rows that it does not learn from; lower is better.
struct HeldOutLoss {
  std::string monitor;     ///< what it is made of
  double value = 0.0;      ///< the monitor, or minus it if more is better
  double tie_break = 0.0;  ///< between equal values
};

/// One update: which rows of the data it sees, and how long its step is.
struct UpdateStep {
  std::uint64_t update = 0;
  std::uint64_t epoch = 0;
  double rate = 0.0;
  std::span<const std::uint32_t> rows;
  double rate_factor = 1.0;  ///< in the rate already; for learners that have rates of their own
};

class Simulator;

class Learner {
 public:
  virtual ~Learner() = default;

  /// Moves the machine a step along the gradient of the log-likelihood of these rows.
  virtual void learn(const UpdateStep& now, const Context& context) = 0;

  /// The update from which on its parameters are those that all training leads to: the first of the last stage.
  virtual std::uint64_t last_stage() const { return 0; }

  /// Whether it learns to name classes. Of such a machine the best state is the result unless the options say
  /// otherwise, and it is judged each epoch; others with each record.
  virtual bool learns_classes() const { return false; }
  /// By what states of the machine can be told apart; nothing without held-out rows, or if there is no such number.
  virtual std::optional<HeldOutLoss> held_out_loss(const Context&) const { return std::nullopt; }

  /// The monitors: what the learning curve shows.
  virtual Measures measure(const Context& context) const = 0;
  /// Those of them that cost next to nothing, for a look at the machine between two records.
  virtual Measures vitals() const { return {}; }

  /// The parameters of the machine; and back, before restore().
  virtual std::span<const float> parameters() const = 0;
  virtual void set_parameters(std::span<const float> values, const Context& context) = 0;

  /// The persistent chains as they are now, and how they move; null if there are none.
  virtual const Chains* chains() const { return nullptr; }
  virtual const Simulator* simulator() const { return nullptr; }

  virtual LearnerState state() const = 0;
  /// A state of the shape that it has after so many updates, which may not be that of now.
  virtual LearnerState shape_at(std::uint64_t /*update*/) const { return state(); }
  /// Goes on from a saved state; the machine must have the parameters saved with it.
  virtual void restore(LearnerState state) = 0;
};

}  // namespace ergodic
