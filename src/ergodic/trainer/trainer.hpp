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
#include "ergodic/trainer/conditioning.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

enum class Method { kCd, kPcd, kPopulation, kExact, kPseudo };

struct TrainOptions {
  Method method = Method::kPcd;
  std::size_t steps = 1;
  std::size_t chains = 100;
  std::size_t batch = 100;
  std::uint64_t epochs = 20;
  double learning_rate = 0.05;
  Schedule schedule = Schedule::kLinear;
  Sgd sgd;
  Decay decay;
  bool centred = true;
  double least_noise = 0.25;  ///< of real visible units, as a share of the deviations of the data
  double initial_weight_scale = 0.01;
  std::uint64_t record_every = 1;  ///< epochs between two records
};

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

  std::uint64_t updates_done() const { return update_; }
  std::uint64_t updates_total() const { return batches_.per_epoch() * options_.epochs; }
  std::uint64_t updates_per_epoch() const { return batches_.per_epoch(); }
  const std::vector<Record>& records() const { return records_; }

  /// Trains to the end, or until the observer asks to stop. Calls after_update between updates, when state() and the
  /// machine are consistent. NumericError if the machine diverges. True if finished.
  bool run(const std::function<void()>& after_update, const Context& context);

 private:
  void record(const Context& context);

  std::unique_ptr<Learner> learner_;
  TrainOptions options_;
  Minibatches batches_;
  std::uint64_t update_ = 0;
  std::vector<Record> records_;
};

}  // namespace ergodic
