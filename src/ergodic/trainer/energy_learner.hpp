// Learning of any energy that has derivatives by its parameters, with the model's side from any negative phase.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/sampler/metropolis.hpp"
#include "ergodic/trainer/completion.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/methods.hpp"
#include "ergodic/trainer/monitor.hpp"
#include "ergodic/trainer/negative_phase.hpp"
#include "ergodic/trainer/optimiser.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

struct EnergyLearning {
  Optimiser optimiser = Sgd{};
  /// What to make of the gradient before a step; empty: nothing.
  std::function<void(Statistics& gradient)> condition = {};
  /// Draws of missing values and of hidden units, for machines with conditionals.
  Completion completion = {};
  std::size_t completion_sweeps = 1;  ///< for each update
  /// The mean pseudo-log-likelihood of rows, which is a monitor too, of held-out rows if there are any; empty: none.
  std::function<double(const State& rows, const Context& context)> pseudo_log_likelihood = {};
};

template <TrainableModel Model>
class EnergyLearner : public Learner {
 public:
  /// The machine and the data must outlive the learner.
  EnergyLearner(Model& model, const Dataset& train, const Dataset& held_out, std::unique_ptr<Simulator> simulator,
                std::unique_ptr<NegativePhase> negative, EnergyLearning options, Key key)
      : model_(model),
        train_(train),
        simulator_(std::move(simulator)),
        negative_(std::move(negative)),
        options_(std::move(options)),
        key_(key),
        gradient_(model.parameters().values().size()),
        velocity_(memory_of(options_.optimiser, gradient_.size())),
        monitored_rows_(monitored_rows(train, affordable_rows(), key)) {
    const bool needed = options_.completion.needed();
    require(needed || (train.complete() && train.units() == units_of(first_layer(model))),
            "the machine has " + std::to_string(units_of(first_layer(model))) + " units, the data " +
                std::to_string(train.units()) + " with " + std::to_string(train.missing()) + " missing values");
    require(!needed || GibbsModel<Model>,
            "what is missing is drawn by Gibbs sampling, and this machine has no conditionals");
    data_.layers.resize(1);
    if (needed) return;
    monitored_train_ = state_of(first_layer(model), gather(train, monitored_rows_, key, 0));
    if (!held_out.complete()) return;
    const std::vector<std::uint32_t> rows = monitored_rows(held_out, affordable_rows(), key);
    if (!rows.empty()) monitored_held_out_ = state_of(first_layer(model), gather(held_out, rows, key, 0));
  }

  void learn(const UpdateStep& now, const Context& context) override {
    gather_batch(now, context);
    find_mean_statistics(data_.layers[0], gradient_, context);
    ModelTerm model_term = negative_->advance(*simulator_, data_, now.update, key_, context);
    if (auto* statistics = std::get_if<Statistics>(&model_term)) {
      model_term_ = std::move(*statistics);
    } else {
      find_mean_statistics(std::get<const Chains*>(model_term)->layers[0], model_term_, context);
    }
    for (std::size_t k = 0; k < model_term_.size(); ++k) gradient_[k] -= model_term_[k];
    if (options_.condition) options_.condition(gradient_);
    model_.update(
        [&](Parameters& p) {
          step(options_.optimiser, {now.update, now.rate}, gradient_, velocity_, p, context);
        },
        context);
    negative_->follow(*simulator_, now, key_, context);
  }

  /// energy_gap         mean E(held out) - mean E(training); it grows when the machine over-fits; if all is known
  /// energy_difference  mean E(training) - mean E(persistent chains); near 0 when the machine has learned the data
  /// weight_norm        root of the mean squared parameter, without biases
  Measures measure(const Context& context) const override {
    Measures out;
    const State rows = options_.completion.needed() ? completed_rows() : monitored_train_;
    const bool held_out = monitored_held_out_.chains() > 0;
    const double train = mean_energy(rows, context);
    if (held_out) out.emplace_back("energy_gap", mean_energy(monitored_held_out_, context) - train);
    if (const Chains* chains = negative_->chains()) {
      out.emplace_back("energy_difference", train - mean_energy(chains->layers[0], context));
    }
    std::ranges::move(negative_->measures(), std::back_inserter(out));
    std::ranges::move(vitals(), std::back_inserter(out));
    if (options_.pseudo_log_likelihood) {
      out.emplace_back(kPseudo, options_.pseudo_log_likelihood(held_out ? monitored_held_out_ : rows, context));
    }
    return out;
  }

  std::optional<HeldOutLoss> held_out_loss(const Context& context) const override {
    if (!options_.pseudo_log_likelihood || monitored_held_out_.chains() == 0) return std::nullopt;
    return HeldOutLoss{kPseudo, -options_.pseudo_log_likelihood(monitored_held_out_, context)};
  }

  Measures vitals() const override { return {{"weight_norm", weight_norm(model_.parameters())}}; }

  std::span<const float> parameters() const override { return std::as_const(model_).parameters().values(); }
  void set_parameters(std::span<const float> values, const Context& context) override {
    model_.update([&](Parameters& p) { std::ranges::copy(values, p.values().begin()); }, context);
  }

  const Chains* chains() const override { return negative_->chains(); }
  const Simulator* simulator() const override { return simulator_.get(); }

  LearnerState state() const override {
    LearnerState out{velocity_, {}, {}, options_.completion.draws()};
    negative_->put(out);
    return out;
  }
  void restore(LearnerState state) override {
    options_.completion.restore(std::move(state.completed));
    velocity_ = std::move(state.velocity);
    negative_->take(state);
  }

 private:
  static constexpr char kPseudo[] = "pseudo_log_likelihood";
  static constexpr std::size_t kMonitoredTerms = 200'000'000;  // of energies: large machines are measured on fewer rows

  std::size_t affordable_rows() const { return kMonitoredTerms / gradient_.size(); }

  void gather_batch(const UpdateStep& now, const Context& context) {
    if (!options_.completion.needed()) {
      data_.layers[0] = state_of(first_layer(model_), gather(train_, now.rows, key_, now.epoch));
      return;
    }
    if constexpr (GibbsModel<Model>) {
      data_.layers[0] = options_.completion.gather(now.rows, key_, now.epoch, known_);
      data_.sweep = now.update * options_.completion_sweeps;
      complete(model_, known_, options_.completion_sweeps, data_, key_, context);
      options_.completion.keep(now.rows, data_.layers[0]);
    }
  }

  /// The monitored rows of training data, with the draws of what is missing as they are now.
  State completed_rows() const {
    Bits known;
    return options_.completion.gather(monitored_rows_, key_, 0, known);
  }

  /// Summed over the rows with weight 1 and divided once: sums of bits are whole numbers, exact in any order.
  void find_mean_statistics(const State& x, Statistics& out, const Context& context) const {
    constexpr double kOne = 1.0;
    out.assign(gradient_.size(), 0.0);
    model_.add_statistics(x, {&kOne, 1}, out, context);
    for (double& sum : out) sum /= static_cast<double>(x.chains());
  }

  double mean_energy(const State& x, const Context& context) const {
    const std::vector<double> energies = model_.energy(x, context);
    return std::accumulate(energies.begin(), energies.end(), 0.0) / static_cast<double>(energies.size());
  }

  Model& model_;
  const Dataset& train_;
  std::unique_ptr<Simulator> simulator_;
  std::unique_ptr<NegativePhase> negative_;
  EnergyLearning options_;
  Key key_;
  Statistics gradient_, model_term_;
  std::vector<float> velocity_;
  std::vector<std::uint32_t> monitored_rows_;  // of training data
  State monitored_train_, monitored_held_out_;
  Chains data_;  // the batch
  Bits known_;   // in it, if not all is
};

/// The learner of an energy whose chains this kernel moves, by the method of the options.
template <TrainableModel Model, class Kernel>
std::unique_ptr<Learner> energy_learner(Model& model, Kernel kernel, const Dataset& train, const Dataset& held_out,
                                        const TrainOptions& options, EnergyLearning learning, Key key,
                                        const Context& context) {
  auto simulator = std::make_unique<SimulatorOf<Model, Kernel>>(model, std::move(kernel));
  auto negative = method_named(options.method).make(*simulator, settled(options, {}, train.rows()), key, context);
  return std::make_unique<EnergyLearner<Model>>(model, train, held_out, std::move(simulator), std::move(negative),
                                                std::move(learning), key);
}

/// The same by Gibbs sampling if the energy has conditionals, else by Metropolis sampling.
template <TrainableModel Model>
std::unique_ptr<Learner> energy_learner(Model& model, const Dataset& train, const Dataset& held_out,
                                        const TrainOptions& options, EnergyLearning learning, Key key,
                                        const Context& context) {
  using Kernel = std::conditional_t<GibbsModel<Model>, Gibbs, Metropolis>;
  return energy_learner(model, Kernel{}, train, held_out, options, std::move(learning), key, context);
}

/// The loop that trains an energy of one's own, by Adam. The model and the data must outlive it.
template <TrainableModel Model>
Trainer trainer_of(Model& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                   const Context& context) {
  return Trainer(energy_learner(model, train, held_out, options, EnergyLearning{Adam{}}, key, context), train, options,
                 key);
}

}  // namespace ergodic
