// Learning of deep Boltzmann machines: layer by layer, then all layers together (Salakhutdinov and Hinton 2009).
//
// Layer by layer. A unit of a hidden layer has fields from below and from above, an RBM of two layers only one of them.
// So the RBM of the lowest layers has two copies of the visible layer, that of the highest two of the last hidden one,
// with the same parameters: they stand for what is missing. All are trained as those of a deep belief network are
// (dbn_learner.hpp, twins). Put together, with both copies of a layer being the same,
//   E(x_0, ..., x_L) = 1/2 sum over k of E_k:
// the weights of the lowest and of the highest RBM stay, those between are halved, and the bias of a hidden layer is
// the mean of what it has in the RBM below and in that above. With two hidden layers p(x_1) is then proportional to the
// geometric mean of what both RBMs make of x_1.
//
// All together, by RbmLearner, which is made when the layers are put together; their learner and parameters are given
// up then. Hidden layers of rows and of chains begin as draws up through the RBMs. Those of rows are chains, or drawn
// from what mean field makes of a row, the even layers; the odd ones are then drawn given these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/dbn.hpp"
#include "ergodic/model/deep_boltzmann.hpp"
#include "ergodic/trainer/dbn_learner.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

/// Where the hidden layers of rows come from.
enum class DataSide {
  kChains,     ///< a chain of each row, which sweeps move on whenever its turn comes (completion.hpp)
  kMeanField,  ///< draws of the factorial distribution that mean field finds, each time anew
};

template <>
struct Names<DataSide> {
  static constexpr std::array<Named<DataSide>, 2> kAll{
      {{DataSide::kChains, "chains", "a chain of each row, which goes on whenever the row has its turn"},
       {DataSide::kMeanField, "mean-field", "draws of a factorial distribution, found by mean field each time"}}};
};

struct DbmLearning {
  std::uint64_t layer_updates = 0;     ///< the first of all updates, which train the layers one by one
  std::optional<double> weight_scale;  ///< of their initial weights; nothing: first_weight_scale of each RBM
  DataSide data_side = DataSide::kChains;
};

/// Rows, and beside them draws of their even hidden layers by the probabilities of mean field.
Bits drawn_by_mean_field(const DeepBoltzmann& model, const Bits& rows, const LayerDraws& draws, const Context& context);

/// The learner of all layers together.
std::unique_ptr<RbmLearner> learner_of(DeepBoltzmann& model, const Dataset& train, const Dataset& held_out,
                                       const TrainOptions& options, DataSide data_side, Key key,
                                       const Context& context);

/// The RBMs of the layers of a machine, with copies of its lowest and highest layer, as the layers of a network.
Dbn twin_layers(const DeepBoltzmann& model);
/// Puts them together.
void join(const Dbn& layers, DeepBoltzmann& model, const Context& context);

class DbmLearner : public Learner {
 public:
  /// For a machine that has been initialised; it and the data must outlive the learner. UsageError unless there are
  /// updates of each layer, and not more than all.
  DbmLearner(DeepBoltzmann& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options,
             const DbmLearning& learning, Key key, const Context& context);

  void learn(const UpdateStep& now, const Context& context) override;
  std::uint64_t last_stage() const override { return learning_.layer_updates; }
  Measures measure(const Context& context) const override;
  Measures vitals() const override { return together_ ? together_->vitals() : single_->learner->vitals(); }
  /// Of the machine, which the single layers know nothing of; theirs are in the state.
  std::span<const float> parameters() const override { return std::as_const(model_).parameters().values(); }
  void set_parameters(std::span<const float> values, const Context& context) override;
  const Chains* chains() const override { return together_ ? together_->chains() : nullptr; }
  const Simulator* simulator() const override { return together_ ? together_->simulator() : nullptr; }
  LearnerState state() const override;
  LearnerState shape_at(std::uint64_t update) const override;
  void restore(LearnerState state) override;

 private:
  struct SingleLayers {
    Dbn model;
    std::unique_ptr<DbnLearner> learner;
    LearnerState state() const;
  };
  std::unique_ptr<SingleLayers> single_layers(const Context& context) const;
  std::unique_ptr<RbmLearner> all_layers(const Context& context) const;
  /// Ends the training of single layers.
  void begin_together(std::uint64_t epoch, const Context& context);
  /// Both blocks of the machine at these rows, drawn up through the layers.
  std::vector<State> drawn_up(std::span<const std::uint32_t> rows, std::uint64_t epoch, std::uint64_t first_chain,
                              const Context& context) const;

  DeepBoltzmann& model_;
  const Dataset& train_;
  const Dataset& held_out_;
  TrainOptions options_;
  DbmLearning learning_;
  Key key_;
  std::unique_ptr<SingleLayers> single_;  // first
  std::unique_ptr<RbmLearner> together_;  // then
};

}  // namespace ergodic
