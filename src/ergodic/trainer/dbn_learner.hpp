// Learning of deep belief networks (Hinton, Osindero and Teh 2006), one learner for all of it.
//
// Greedy stages: the updates are divided among the layers. In stage k the RBM of layers k and k + 1 learns, by
// RbmLearner as any RBM does, from features: rows drawn up through the layers below, which stay. Each row is drawn anew
// when its turn comes, a function of (seed, update, place in the batch), so nothing is kept for the whole data set. A
// stage has its own initial weights, rate, schedule and chains.
//
// Up-down: the last updates may refine all layers together, by wake-sleep (wake_sleep.hpp) with the RBM at the top in
// the middle of it.
//
// Twins: for a deep Boltzmann machine (dbm_learner.hpp) the visible layer and the highest one are two copies each,
// whose parameters are the same. Rows then stand beside themselves, and each update ends with the mean of both copies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/dbn.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "ergodic/trainer/train_options.hpp"
#include "ergodic/trainer/wake_sleep.hpp"

namespace ergodic {

struct DbnLearning {
  std::optional<double> weight_scale;  ///< of initial weights; nothing: first_weight_scale of each stage
  std::uint64_t up_down_updates = 0;   ///< the last of all updates
  double up_down_rate = 0.02;          ///< at their start
  bool twins = false;                  ///< whether the values and the highest layer are two tied copies each
};

/// Gives the first stage its parameters for the start; those of the others wait for their stage.
void initialise(Dbn& model, const Dataset& data, const DbnLearning& learning, Key key, const Context& context);

/// The key of the random numbers of a stage. The first has those of an RBM.
Key key_of_stage(Key key, std::size_t stage);

/// Rows of data drawn up to what stage k of a network takes, as a data set of bits. Row r draws the random numbers of
/// its place in `rows` at `step`. A network of twice as many values as the data has units sees rows beside themselves.
Dataset features_of(const Dbn& model, std::size_t stage, const Dataset& data, std::span<const std::uint32_t> rows,
                    Key key, std::uint64_t step, const Context& context);

class DbnLearner : public Learner {
 public:
  /// For a network that has been initialised; it and the data must outlive the learner. Rows have their labels as
  /// further units, if the network has a label.
  DbnLearner(Dbn& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options,
             const DbnLearning& learning, Key key, const Context& context);

  void learn(const UpdateStep& now, const Context& context) override;
  std::uint64_t last_stage() const override {
    return first_update(learning_.up_down_updates > 0 ? model_.depth() : model_.depth() - 1);
  }
  Measures measure(const Context& context) const override;
  Measures vitals() const override;
  std::span<const float> parameters() const override { return model_.parameters().values(); }
  void set_parameters(std::span<const float> values, const Context& context) override;
  /// Those of the RBM at the top, as soon as it learns.
  const Chains* chains() const override { return at_top() ? learner_->chains() : nullptr; }
  const Simulator* simulator() const override { return at_top() ? learner_->simulator() : nullptr; }
  LearnerState state() const override;
  void restore(LearnerState state) override;

  /// Updates [first_update(k), first_update(k + 1)) are those of stage k; the stage after the last layer is up-down.
  std::uint64_t first_update(std::size_t stage) const;
  std::size_t stage_of(std::uint64_t update) const;
  /// The learning rate at the start of this stage. Of greedy stages they are in the proportion of what the rule of RBMs
  /// says for their features, that of the first layer being the one that was asked for.
  double rate() const { return rate_; }

 private:
  /// Makes the learner of a stage. One that begins has its initial parameters, or goes on with the chains of the top.
  void enter(std::size_t stage, bool begins, const Context& context);
  /// The place among the RBMs of what the stage trains by RbmLearner.
  std::size_t trained() const { return std::min(stage_, model_.depth() - 1); }
  bool at_top() const { return trained() + 1 == model_.depth(); }
  bool up_down() const { return stage_ == model_.depth(); }
  /// The batch drawn up to what the stage takes.
  void gather(const UpdateStep& now, State& visible, const Context& context);
  void wake_and_sleep(const UpdateStep& now, double rate, const Context& context);

  Dbn& model_;
  const Dataset& train_;
  const Dataset& held_out_;
  TrainOptions options_;
  DbnLearning learning_;
  Key key_;
  double first_default_;  // what the rule of RBMs says for the first layer
  std::size_t stage_ = 0;
  double rate_ = 0.0;                    // of the stage, at its start
  Dataset shown_, shown_held_out_;       // features of some rows
  std::unique_ptr<RbmLearner> learner_;  // of the stage
  std::vector<State> layers_;            // of the batch: values, h_1, ...
};

}  // namespace ergodic
