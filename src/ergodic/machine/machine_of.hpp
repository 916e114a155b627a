// MachineOf: a Machine from any model, by the concepts that the model meets (model/concepts.hpp).
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/estimator/energy_log_z.hpp"
#include "ergodic/estimator/energy_path.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/sampling.hpp"
#include "ergodic/trainer/energy_learner.hpp"

namespace ergodic {

template <EnergyModel Model>
class MachineOf : public Machine {
 public:
  explicit MachineOf(Model model) : model_(std::make_unique<Model>(std::move(model))) {}

  virtual const Model& model() const { return *model_; }
  Model& model() { return const_cast<Model&>(std::as_const(*this).model()); }

  Layer visible() const override { return visible_layer(model()); }
  std::vector<Layer> layers() const override {
    std::vector<Layer> out;
    for (const auto& layer : model().layers()) out.push_back(layer);
    return out;
  }
  const Parameters& parameters() const override {
    if constexpr (ParametricModel<Model>) {
      return model().parameters();
    } else {
      static const Parameters none;
      return none;
    }
  }
  void set_parameters(const Parameters& values, const Context& context) override {
    if constexpr (ParametricModel<Model>) model().update([&](Parameters& p) { p = values; }, context);
  }
  bool same_shape(const Machine& other) const override {
    return &kind() == &other.kind() && visible() == other.visible() && same_slots(parameters(), other.parameters());
  }

  Chains start(std::size_t count, Key key, const Context& context) const override {
    return independent_start(model(), count, key, context);
  }
  Chains start_at(State visible, Key key, const Context& context) const override {
    return start_at_visible(model(), std::move(visible), key, context);
  }
  State visible_of(const Chains& chains) const override { return visible_part(model(), chains.layers[0]); }
  Bits mask_of(const Bits& visible) const override {
    Bits out(visible.rows(), units_of(first_layer(model())));
    for (std::size_t r = 0; r < visible.rows(); ++r) {
      for_each_set(visible.row(r), [&](std::size_t unit) { out.set(r, unit, true); });
    }
    return out;
  }
  bool masks_by_chain() const override { return GibbsModel<Model>; }
  std::vector<double> energies(const Chains& chains, const Context& context) const override {
    return model().energy(chains.layers, context);
  }
  std::unique_ptr<Sampling> sampling(const SamplingOptions& options, const Context& context) const override {
    return make_sampling(options, model(), context);
  }
  /// They are by block Gibbs sampling of two layers.
  bool bounded_times(const SamplingOptions& options) const override {
    const bool plain = options.sampler != kTempering && options.sampler != kAnnealing && options.stations.empty();
    return plain && model().layers().size() == 2 &&
           plain_sampler(options, best_sampler<Model>(options)) == GibbsRow::kName;
  }
  std::vector<WatchedNumber> watched_numbers() const override { return ergodic::watched_numbers(model()); }

  std::optional<std::vector<double>> free_energies(const State& rows, const Context& context) const override {
    return with_visible_energy([&](const auto& energy) { return std::optional(energy.energy(rows, context)); });
  }
  double exact_bits() const override {
    return with_visible_energy([](const auto& energy) {
      const Layer layer = first_layer(energy);
      return exactly_summable(layer) && !real_valued(layer) ? log2_states(layer)
                                                            : std::numeric_limits<double>::infinity();
    });
  }
  std::optional<Estimate> exact_log_z(const Context& context) const override {
    return with_visible_energy([&](const auto& energy) { return ergodic::exact_log_z(energy, context); });
  }
  std::unique_ptr<Path> path(const State& rows, const std::vector<Parameters>&, const Context& context) const override {
    return with_visible_energy([&](const auto& energy) { return path_to(energy, rows, context); });
  }

  std::unique_ptr<Learner> learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                                   const Context& context) override {
    if constexpr (TrainableModel<Model>) {
      return energy_learner(model(), train, held_out, options, EnergyLearning{options.sgd}, key, context);
    } else {
      throw UsageError("a " + std::string(kind().title) + " has no parameters to be trained");
    }
  }

  Image picture(const Matrix<float>& values, PictureShape shape, const Context& context) const override {
    if (is_plane(visible())) {
      return with_visible_energy([&](const auto& energy) { return picture_of_plane(energy, values, context); });
    }
    return picture_of_values(values, visible(), shape);
  }
  std::vector<Picture> pictures(const Dataset& data, Key key, const Context& context) const override {
    return {picture_of_samples(*this, data.shape, key, context)};
  }

 protected:
  /// Without a model as yet, for a kind that makes it when it is asked for.
  MachineOf() = default;

  /// f(an energy of the visible units): the free energy if there are hidden ones to sum over.
  template <class F>
  auto with_visible_energy(const F& f) const {
    if constexpr (MarginalModel<Model>) {
      return f(VisibleMarginal<Model>{model()});
    } else {
      return f(model());
    }
  }

  mutable std::unique_ptr<Model> model_;
};

/// The model of a machine, if it is of this type; else null.
template <class Model>
const Model* model_in(const Machine& machine) {
  const auto* found = dynamic_cast<const MachineOf<Model>*>(&machine);
  return found ? &found->model() : nullptr;
}

}  // namespace ergodic
