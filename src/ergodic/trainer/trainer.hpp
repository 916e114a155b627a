// Maximum likelihood by the one training loop there is:
//   gradient = <-dE/dtheta> over a mini-batch  -  <-dE/dtheta> over the model.
// The loop knows batches, rates, records and stopping; a Learner knows the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/batches.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

/// What changes during training beside the parameters: all that a checkpoint must add to them.
struct TrainingState {
  std::uint64_t update = 0;
  std::vector<Record> records;  ///< the learning curve so far
  LearnerState learner;
};

class Trainer {
 public:
  /// Starts a run of a learner on data that it knows.
  Trainer(std::unique_ptr<Learner> learner, const Dataset& train, const TrainOptions& options, Key key);

  /// Goes on from a saved state; the machine must have the parameters saved with it.
  void restore(TrainingState state);
  TrainingState state() const;
  /// A state of the shape that it has after so many updates.
  TrainingState shape_at(std::uint64_t update) const { return {update, {}, learner_->shape_at(update)}; }

  std::uint64_t updates_done() const { return update_; }
  std::uint64_t updates_total() const { return *options_.updates; }
  bool finished() const { return update_ == updates_total() || learner_->done(); }
  std::uint64_t updates_per_epoch() const { return batches_.per_epoch(); }
  const std::vector<Record>& records() const { return records_; }

  /// Trains to the end, or until the learner is done, for so many updates, or until the observer asks to stop. Calls
  /// after_update between updates, when state() and the machine are consistent. NumericError if the machine diverges.
  /// True if finished.
  bool run(const std::function<void()>& after_update, const Context& context,
           std::uint64_t updates = ~std::uint64_t{0});

  /// The persistent chains as they are now, and how they move; null if the method has none.
  const Chains* chains() const { return learner_->chains(); }
  const Simulator* simulator() const { return learner_->simulator(); }

 private:
  void record(const Context& context);

  std::unique_ptr<Learner> learner_;
  TrainOptions options_;
  Minibatches batches_;
  std::uint64_t update_ = 0;
  std::vector<Record> records_;
};

}  // namespace ergodic
