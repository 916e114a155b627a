// Negative phases: how the model's side of the gradient is found. Training methods differ only here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/exact.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/sampler/chains.hpp"

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
    chains_.layers = data.layers;
    chains_.sweep = update * steps_;
    for (std::size_t s = 0; s < steps_; ++s) step(kernel_, model, chains_, key, context);
    return &chains_;
  }

 private:
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
