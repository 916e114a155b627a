// Training a machine on data in memory. A Fit can be run to the end, stepped, paused, looked at between updates, saved
// and continued.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/mixing.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/run/final_likelihood.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

struct TrainingData {
  Dataset train;
  Dataset held_out;  ///< rows for the monitors, which are not learned from; may be empty
};

/// Sets a share of the rows apart for the monitors.
TrainingData training_data(Dataset data, double held_out_share, Key key);

/// What is taken where the options say nothing, by the kind of machine and the data.
TrainDefaults train_defaults(const Machine& machine, const Dataset& data, const TrainOptions& options);

class Fit {
 public:
  /// The machine and the data must outlive this. What the options leave open is settled by the kind of machine and by
  /// the data.
  Fit(Machine& machine, const TrainingData& data, const TrainOptions& options, Key key, const Context& context);

  const Machine& machine() const { return machine_; }
  /// The options with every field filled in.
  const TrainOptions& options() const { return options_; }

  std::uint64_t updates_done() const { return trainer_ ? trainer_->updates_done() : 0; }
  std::uint64_t updates_total() const { return trainer_ ? trainer_->updates_total() : 0; }
  std::uint64_t updates_per_epoch() const { return trainer_ ? trainer_->updates_per_epoch() : 1; }
  /// A machine that is complete when it is made has nothing to learn, and is finished from the start.
  bool finished() const { return !trainer_ || trainer_->finished(); }
  const std::vector<Record>& records() const;
  const std::vector<Rescue>& rescues() const;
  /// At the end of a run that was asked for its best state; nothing in others.
  std::optional<KeptRecord> kept() const { return trainer_ ? trainer_->kept() : std::nullopt; }
  /// What was chosen at the end of a run that averages its parameters; nothing before, and of others.
  std::optional<AverageChoice> average() const { return trainer_ ? trainer_->average() : std::nullopt; }
  /// The learning rate at the start of the schedule, halved by each rescue.
  double learning_rate() const { return trainer_ ? trainer_->learning_rate() : 0.0; }
  /// Whether the machine is one to save, as far as is known.
  bool sound() const { return !trainer_ || trainer_->sound(); }
  /// The persistent chains as they are now; null if the method has none.
  const Chains* chains() const { return trainer_ ? trainer_->chains() : nullptr; }

  /// Called after each update.
  using Hook = std::function<void(const Fit& fit)>;
  /// Goes on to the end, for so many updates, or until the observer asks to stop. NumericError if training diverges.
  /// Whether it is finished.
  bool run(const Hook& after_update, const Context& context, std::uint64_t updates = ~std::uint64_t{0});

  /// All that a checkpoint needs beside the parameters of the machine; and back.
  TrainingState state() const;
  /// A state of the shape that it has after so many updates.
  TrainingState shape_at(std::uint64_t update) const;
  void restore(const Parameters& parameters, TrainingState state, const Context& context);

  /// Whether the persistent chains mix: they go on for a while, and the machine stays as it is. Warns if not. Nothing
  /// without chains, or if stopped.
  std::optional<MixingReport> mixing(const Context& context) const;

 private:
  Machine& machine_;
  Key key_;
  TrainOptions options_;
  std::optional<Trainer> trainer_;
};

struct FitResult {
  bool stopped = false;
  std::uint64_t updates = 0;
  double epochs = 0.0;
  Record last;  ///< the monitors at the last record
};

/// Trains to the end, or until the observer asks to stop.
FitResult fit(Machine& machine, const TrainingData& data, const TrainOptions& options, Key key, const Context& context,
              const Fit::Hook& after_update = {});

}  // namespace ergodic
