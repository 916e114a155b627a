// Negative phases: how the model's side of the gradient is found. Training methods differ only here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/exact.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/sampler/population.hpp"
#include "ergodic/trainer/learner.hpp"

namespace ergodic {

/// The model's side: states that stand for its distribution, or its mean statistics themselves.
using ModelTerm = std::variant<const Chains*, Statistics>;

template <class Model>
class NegativePhase {
 public:
  virtual ~NegativePhase() = default;

  /// The model's side for an update; `data` holds its rows, with hidden states drawn given them. Chains in the result
  /// stay valid until the next call.
  virtual ModelTerm advance(const Model& model, const Chains& data, std::uint64_t update, Key key,
                            const Context& context) = 0;

  /// Called after the update's step has changed the model.
  virtual void follow(const Model&, std::uint64_t, Key, const Context&) {}

  /// What records say of it.
  virtual Measures measures() const { return {}; }

  /// The chains that live on between updates, for checkpoints; null if there are none.
  virtual Chains* chains() { return nullptr; }
};

/// Contrastive divergence (Hinton 2002): chains that start at the data in each update.
template <class Model, class Kernel>
class ContrastiveDivergence : public NegativePhase<Model> {
 public:
  ContrastiveDivergence(Kernel kernel, std::size_t steps) : kernel_(std::move(kernel)), steps_(steps) {}

  ModelTerm advance(const Model& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override {
    start_at(data);
    chains_.sweep = update * steps_;
    for (std::size_t s = 0; s < steps_; ++s) step(kernel_, model, chains_, key, context);
    return &chains_;
  }

 private:
  void start_at(const Chains& data) {
    if (chains_.count() != data.count()) {
      chains_.layers = data.layers;
      return;
    }
    // Gibbs sampling draws the first of several layers without a look at where it was, if no unit must stay.
    std::size_t first = 0;
    if constexpr (std::is_same_v<Kernel, Gibbs> && Model::kLayers > 1) first = kernel_.fixed.rows() == 0 ? 1 : 0;
    for (std::size_t block = first; block < Model::kLayers; ++block) chains_.layers[block] = data.layers[block];
  }

  Kernel kernel_;
  std::size_t steps_;
  Chains chains_;
};

/// Persistent contrastive divergence (Tieleman 2008): chains that go on from update to update.
template <class Model, class Kernel>
class PersistentChains : public NegativePhase<Model> {
 public:
  PersistentChains(Kernel kernel, std::size_t steps, Chains chains)
      : kernel_(std::move(kernel)), steps_(steps), chains_(std::move(chains)) {}

  ModelTerm advance(const Model& model, const Chains&, std::uint64_t, Key key, const Context& context) override {
    for (std::size_t s = 0; s < steps_; ++s) step(kernel_, model, chains_, key, context);
    return &chains_;
  }

  Chains* chains() override { return &chains_; }

 private:
  Kernel kernel_;
  std::size_t steps_;
  Chains chains_;
};

/// The energy that a chain's visible units, or its only layer, have.
inline std::vector<double> marginal_energies(const Rbm& model, const Chains& chains, const Context& context) {
  return model.free_energy(chains.layers[Rbm::kVisible], context);
}
template <class Model>
std::vector<double> marginal_energies(const Model& model, const Chains& chains, const Context& context) {
  return model.energy(chains.layers[0], context);
}

/// Persistent chains that die or multiply by the weight that each step gives them (Carbone, Hua, Coste and
/// Vanden-Eijnden 2023). So they stand for the machine also where it has modes between which no sweep leads.
template <class Model, class Kernel>
class Population : public PersistentChains<Model, Kernel> {
 public:
  using PersistentChains<Model, Kernel>::PersistentChains;

  ModelTerm advance(const Model& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override {
    const ModelTerm out = PersistentChains<Model, Kernel>::advance(model, data, update, key, context);
    energies_ = marginal_energies(model, *this->chains(), context);
    return out;
  }

  void follow(const Model& model, std::uint64_t update, Key key, const Context& context) override {
    Chains& chains = *this->chains();
    const std::vector<double> now = marginal_energies(model, chains, context);
    for (std::size_t r = 0; r < now.size(); ++r) energies_[r] -= now[r];
    effective_share_ = draw_by_weight(energies_, key.at(Purpose::kPopulation, update).uniform(0, 0), chains);
    for (std::size_t block = 1; block < Model::kLayers; ++block) {
      const Draw draw = key.at(Purpose::kPopulation, update, static_cast<std::uint8_t>(block));
      model.resample(block, chains.layers, draw, chains.first_chain, context);
    }
  }

  /// effective_share   of the chains, as the last step weighed them; far below 1 it was too large to be followed
  Measures measures() const override { return {{"effective_share", effective_share_}}; }

 private:
  std::vector<double> energies_;  // before the step
  double effective_share_ = 1.0;
};

/// The exact expectation, for machines whose states can be enumerated.
template <class Model>
class ExactEnumeration : public NegativePhase<Model> {
 public:
  ModelTerm advance(const Model& model, const Chains&, std::uint64_t, Key, const Context& context) override {
    return exact_statistics(model, context);
  }
};

/// Nothing, for an energy that is the negative log of a probability already.
template <class Model>
class Normalised : public NegativePhase<Model> {
 public:
  ModelTerm advance(const Model& model, const Chains&, std::uint64_t, Key, const Context&) override {
    return Statistics(model.parameters().values().size());
  }
};

}  // namespace ergodic
