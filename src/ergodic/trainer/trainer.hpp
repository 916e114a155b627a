// Maximum likelihood by the one training loop there is:
//   gradient = <-dE/dtheta> over a mini-batch  -  <-dE/dtheta> over the model,
// where a NegativePhase supplies the second average.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/trainer/conditioning.hpp"
#include "ergodic/trainer/negative_phase.hpp"
#include "ergodic/trainer/optimiser.hpp"
#include "ergodic/trainer/sampled_ascent.hpp"

namespace ergodic {

enum class Method { kCd, kPcd, kExact };

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
  std::vector<float> velocity;
  std::vector<double> hidden_offset;  ///< moving mean of the hidden layer, the lambda of centring
  Chains chains;                      ///< persistent chains; empty for methods without
  std::vector<Record> records;        ///< the learning curve so far
};

/// Sets the parameters for the start: visible biases (and precisions) from the data, as if there were no couplings;
/// weights random with this standard deviation (as between {0,1} units; the same machine in +-1 units has smaller
/// ones).
void initialise(Rbm& model, const Dataset& data, double weight_scale, Key key, const Context& context);

class Trainer {
 public:
  /// Starts a run on a machine that has been initialised. The data sets must outlive the trainer.
  Trainer(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
          const Context& context);

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
  void update(const Context& context);
  Statistics statistics_of(const Chains& samples, const Context& context) const;
  void ascend(const Statistics& model_term, double rate, const Context& context);
  void record(const Context& context);

  Rbm& model_;
  const Dataset& train_;
  TrainOptions options_;
  Key key_;
  Minibatches batches_;
  std::unique_ptr<NegativePhase> negative_;
  SampledAscent ascent_;
  Chains data_;                     // the batch, with hidden states drawn given it
  std::vector<double> deviations_;  // of the data, if it is real
  Gaps gaps_;
  std::vector<double> visible_offset_;  // mu: the mean of the data
  std::uint64_t update_ = 0;
  std::vector<float> velocity_;
  std::vector<double> hidden_offset_;
  State monitored_train_, monitored_held_out_;
  std::vector<Record> records_;
};

}  // namespace ergodic
