// Learning of any energy that has derivatives by its parameters, with the model's side from any negative phase.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/negative_phase.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

struct EnergyLearning {
  Optimiser optimiser = Sgd{};
  /// What to make of the gradient before a step; empty: nothing.
  std::function<void(Statistics& gradient)> condition = {};
  /// Monitors beside those of every energy; empty: none.
  std::function<Measures(const Context& context)> monitors = {};
};

template <TrainableModel Model>
class EnergyLearner : public Learner {
 public:
  /// The machine and the data must outlive the learner.
  EnergyLearner(Model& model, const Dataset& train, const Dataset& held_out,
                std::unique_ptr<NegativePhase<Model>> negative, EnergyLearning options, Key key)
      : model_(model),
        train_(train),
        negative_(std::move(negative)),
        options_(std::move(options)),
        key_(key),
        gradient_(model.parameters().values().size()),
        velocity_(memory_of(options_.optimiser, gradient_.size())),
        monitored_train_(monitored_rows(train)),
        monitored_held_out_(monitored_rows(held_out)) {
    require(train.units() == units_of(model.units()),
            fmt::format("the machine has {} units, the data {}", units_of(model.units()), train.units()));
    data_.layers.resize(1);
  }

  void learn(const Turn& turn, const Context& context) override {
    data_.layers[0] = state_of(model_.units(), gather(train_, turn.rows, key_, turn.epoch));
    std::ranges::fill(gradient_, 0.0);
    add_mean_statistics(data_.layers[0], 1.0, context);
    const ModelTerm model_term = negative_->advance(model_, data_, turn.update, key_, context);
    if (const auto* statistics = std::get_if<Statistics>(&model_term)) {
      for (std::size_t k = 0; k < gradient_.size(); ++k) gradient_[k] -= (*statistics)[k];
    } else {
      add_mean_statistics(std::get<const Chains*>(model_term)->layers[0], -1.0, context);
    }
    if (options_.condition) options_.condition(gradient_);
    model_.update(
        [&](Parameters& p) {
          step(options_.optimiser, {turn.update, turn.rate}, gradient_, velocity_, p, context);
        },
        context);
  }

  /// energy_gap         mean E(held out) - mean E(training); it grows when the machine over-fits
  /// energy_difference  mean E(training) - mean E(persistent chains); near 0 when the machine has learned the data
  Measures measure(const Context& context) const override {
    Measures out;
    const double train = mean_energy(monitored_train_, context);
    if (monitored_held_out_.chains() > 0) {
      out.emplace_back("energy_gap", mean_energy(monitored_held_out_, context) - train);
    }
    if (const Chains* chains = negative_->chains()) {
      out.emplace_back("energy_difference", train - mean_energy(chains->layers[0], context));
    }
    if (options_.monitors) std::ranges::move(options_.monitors(context), std::back_inserter(out));
    return out;
  }

  LearnerState state() const override { return {velocity_, {}, negative_->chains() ? *negative_->chains() : Chains{}}; }
  void restore(LearnerState state) override {
    velocity_ = std::move(state.velocity);
    if (Chains* chains = negative_->chains()) *chains = std::move(state.chains);
  }

 private:
  static constexpr std::size_t kMonitoredRows = 1000;

  State monitored_rows(const Dataset& data) const {
    std::vector<std::uint32_t> rows = permutation(data.rows(), key_.at(Purpose::kMonitor));
    rows.resize(std::min(rows.size(), kMonitoredRows));
    return rows.empty() ? State() : state_of(model_.units(), gather(data, rows, key_, 0));
  }

  void add_mean_statistics(const State& x, double sign, const Context& context) {
    const double weight = sign / static_cast<double>(x.chains());
    model_.add_statistics(x, {&weight, 1}, gradient_, context);
  }

  double mean_energy(const State& x, const Context& context) const {
    const std::vector<double> energies = model_.energy(x, context);
    return std::accumulate(energies.begin(), energies.end(), 0.0) / static_cast<double>(energies.size());
  }

  Model& model_;
  const Dataset& train_;
  std::unique_ptr<NegativePhase<Model>> negative_;
  EnergyLearning options_;
  Key key_;
  Statistics gradient_;
  std::vector<float> velocity_;
  State monitored_train_, monitored_held_out_;
  Chains data_;  // the batch
};

}  // namespace ergodic
