// Negative phases: how the model's side of the gradient is found. Training methods differ only here.
//
// A phase sees the model through a Simulator: one virtual call for each sweep or batch, never for each unit. So a
// method is one file and one row (methods.hpp), for every model there is or will be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/learner.hpp"

namespace ergodic {

/// What a negative phase may ask of the model that learns.
class Simulator {
 public:
  virtual ~Simulator() = default;

  /// Chains that know nothing of data.
  virtual Chains start(std::size_t count, Key key, const Context& context) const = 0;
  virtual void sweep(Chains& chains, Key key, const Context& context) const = 0;
  /// A sweep draws the layers before this one without reading them.
  virtual std::size_t first_layer_read() const = 0;
  /// marginal_energy of each chain (model/concepts.hpp).
  virtual std::vector<double> marginal_energies(const Chains& chains, const Context& context) const = 0;
  /// Draws all layers but the first given it, with the random numbers of Purpose::kPopulation at `step`.
  virtual void redraw_hidden(Chains& chains, std::uint64_t step, Key key, const Context& context) const = 0;
  /// UsageError if the states are too many to be enumerated.
  virtual void require_enumerable() const = 0;
  /// The model's expectation of the statistics, by enumeration.
  virtual Statistics expected_statistics(const Context& context) const = 0;
};

/// A model whose chains are moved by this kernel. Holds a reference to the model.
template <class Model, class Kernel>
class SimulatorOf final : public Simulator {
 public:
  SimulatorOf(const Model& model, Kernel kernel) : model_(model), kernel_(std::move(kernel)) {}

  Chains start(std::size_t count, Key key, const Context& context) const override {
    return independent_start(model_, count, key, context);
  }
  void sweep(Chains& chains, Key key, const Context& context) const override {
    step(kernel_, model_, chains, key, context);
  }
  /// Gibbs sampling draws the first of several layers without a look at where it was, unless some units must stay.
  std::size_t first_layer_read() const override {
    if constexpr (std::is_same_v<Kernel, Gibbs>) return model_.layers().size() > 1 && kernel_.fixed.rows() == 0 ? 1 : 0;
    return 0;
  }
  std::vector<double> marginal_energies(const Chains& chains, const Context& context) const override {
    return marginal_energy(model_, chains.layers, context);
  }
  void redraw_hidden(Chains& chains, std::uint64_t step, Key key, const Context& context) const override {
    if constexpr (GibbsModel<Model>) {
      for (std::size_t block = 1; block < chains.layers.size(); ++block) {
        const Draw draw = key.at(Purpose::kPopulation, step, static_cast<std::uint8_t>(block));
        model_.resample(block, chains.layers, draw, chains.first_chain, context);
      }
    }
  }
  void require_enumerable() const override {
    if constexpr (requires { require_exact_statistics(model_); }) {
      require_exact_statistics(model_);
    } else {
      throw UsageError("exact gradients need a sum over all states, which this machine does not have; take pcd or cd");
    }
  }
  Statistics expected_statistics(const Context& context) const override {
    require_enumerable();
    if constexpr (requires { exact_statistics(model_, context); }) return exact_statistics(model_, context);
    return {};
  }

 private:
  const Model& model_;
  Kernel kernel_;
};

/// The model's side: states that stand for its distribution, or its mean statistics themselves, without elements if the
/// gradient has no such side.
using ModelTerm = std::variant<const Chains*, Statistics>;

class NegativePhase {
 public:
  virtual ~NegativePhase() = default;

  /// The model's side for an update; `data` holds its rows, with hidden states drawn given them. Chains in the result
  /// stay valid until the next call.
  virtual ModelTerm advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                            const Context& context) = 0;

  /// Called after the update's step has changed the model.
  virtual void follow(const Simulator&, std::uint64_t, Key, const Context&) {}

  /// What records say of it.
  virtual Measures measures() const { return {}; }

  /// The chains that live on between updates, for checkpoints; null if there are none.
  virtual Chains* chains() { return nullptr; }
};

}  // namespace ergodic
