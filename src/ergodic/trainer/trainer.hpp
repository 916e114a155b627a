// Maximum likelihood by the one training loop there is:
//   gradient = <-dE/dtheta> over a mini-batch  -  <-dE/dtheta> over the model.
// The loop knows batches, rates, records and stopping; a Learner knows the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/batches.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/trainer/averaging.hpp"
#include "ergodic/trainer/best_parameters.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

/// Once that a run diverged, went back to its last good state, and on with half the learning rate.
struct Rescue {
  std::uint64_t diverged_after = 0;  ///< updates
  std::uint64_t back_to = 0;         ///< the update of the good state
};

/// The record whose state was kept as the best, and the monitor that says so.
struct KeptRecord {
  std::string monitor;
  Record record;
};

/// A state that a run can go back to.
struct GoodState {
  std::uint64_t update = 0;
  std::vector<float> parameters;
  LearnerState learner;
};

/// What changes during training beside the parameters: all that a checkpoint must add to them.
struct TrainingState {
  std::uint64_t update = 0;
  std::vector<Record> records;  ///< the learning curve so far
  LearnerState learner;
  std::vector<Rescue> rescues = {};
  std::optional<GoodState> good = {};  ///< the last; only where TrainOptions::rescue asks for it
};

class Trainer {
 public:
  /// Starts a run of a learner on data that it knows. UsageError if the best state is asked for, and nothing says which
  /// it is.
  Trainer(std::unique_ptr<Learner> learner, const Dataset& train, const TrainOptions& options, Key key);

  /// Goes on from a saved state; the machine must have the parameters saved with it.
  void restore(TrainingState state);
  TrainingState state() const;
  /// A state of the shape that it has after so many updates.
  TrainingState shape_at(std::uint64_t update) const {
    return {update, {}, with_best(learner_->shape_at(update)), {}, good_};
  }

  std::uint64_t updates_done() const { return update_; }
  std::uint64_t updates_total() const { return *options_.updates; }
  bool finished() const { return update_ == updates_total() || out_of_patience(); }
  /// Whether so many states were no better than the best that the run ends, or ended, before its last update.
  bool out_of_patience() const { return options_.patience > 0 && best_->age() >= options_.patience; }
  std::uint64_t updates_per_epoch() const { return batches_.per_epoch(); }
  const std::vector<Record>& records() const { return records_; }
  const std::vector<Rescue>& rescues() const { return rescues_; }
  /// At the end of a run that was asked for its best state; nothing in others.
  std::optional<KeptRecord> kept() const;
  /// What was chosen at the end of a run that averages its parameters; nothing before, or if it ended in another
  /// process.
  const std::optional<AverageChoice>& average() const { return average_; }
  /// The learning rate at the start of the schedule, halved by each rescue.
  double learning_rate() const { return *options_.learning_rate * rate_factor(); }
  /// Whether the machine is one to save: not on its way to be called diverged at the next look.
  bool sound() const { return fault().empty(); }

  /// Trains to the end, until patience is over, for so many updates, or until the observer asks to stop. Calls
  /// after_update between updates, when state() and the machine are consistent. If the machine diverges, which is seen
  /// within an epoch or ten updates, it is rescued if the options say so; else NumericError. True if finished.
  bool run(const std::function<void()>& after_update, const Context& context,
           std::uint64_t updates = ~std::uint64_t{0});

  /// The persistent chains as they are now, and how they move; null if the method has none.
  const Chains* chains() const { return learner_->chains(); }
  const Simulator* simulator() const { return learner_->simulator(); }

 private:
  double rate_factor() const;
  /// The state of the learner with what the loop keeps besides: the best parameters, and the mean.
  LearnerState with_best(LearnerState state) const;
  void restore_learner(LearnerState state);
  void begin(const Context& context);
  void judge(const Context& context);
  void advance(const Context& context);
  void record(const Context& context);
  Record vitals() const;
  /// What is wrong with the machine as it is now; empty if nothing is.
  std::string fault() const;
  void choose(const Context& context);
  void keep_good_state();
  void go_back(const Context& context);
  void rescue(std::string_view reason, const Context& context);

  std::unique_ptr<Learner> learner_;
  TrainOptions options_;
  Minibatches batches_;
  std::uint64_t update_ = 0;
  std::vector<Record> records_;
  std::vector<Rescue> rescues_;
  std::optional<BestParameters> best_;  // if they are kept
  std::string judged_by_;               // a likelihood; empty of classes
  std::optional<GoodState> good_;
  RunningMean mean_;
  std::optional<AverageChoice> average_;
};

}  // namespace ergodic
