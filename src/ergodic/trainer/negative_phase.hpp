// Negative phases: how the model's side of the gradient is found. Training methods differ only here.
//
// A phase sees the model through a Simulator: one virtual call for each sweep or batch, never for each unit. So a
// method is one file and one row (methods.hpp), for every model there is or will be. One that moves chains by other
// parameters than those that learn asks for a Twin.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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

class Twin;

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

  virtual std::span<const float> parameters() const = 0;
  /// A model of its own with the same parameters. UsageError if the model cannot be copied.
  virtual std::unique_ptr<Twin> twin() const = 0;
  /// The joint energy of all layers, of each chain.
  virtual std::vector<double> energies(LayerStates x, const Context& context) const = 0;
  /// Whether energies are known to be linear in the parameters, so that a model half way has their mean.
  virtual bool linear() const = 0;
};

/// A model like the one that learns, with parameters of its own.
class Twin {
 public:
  virtual ~Twin() = default;
  virtual const Simulator& simulator() const = 0;
  /// Changes the parameters through edit(values).
  virtual void update(const std::function<void(std::span<float>)>& edit, const Context& context) = 0;
};

template <class Model, class Kernel>
class TwinOf;

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
  std::span<const float> parameters() const override { return model_.parameters().values(); }
  std::unique_ptr<Twin> twin() const override {
    // A model that refers to another one cannot be assigned to; its copy would be no model of its own.
    if constexpr (std::copyable<Model>) {
      return std::make_unique<TwinOf<Model, Kernel>>(model_, kernel_);
    } else {
      throw UsageError("this training method needs copies of the machine, which cannot be made; take pcd or cd");
    }
  }
  std::vector<double> energies(LayerStates x, const Context& context) const override {
    return model_.energy(x, context);
  }
  bool linear() const override {
    if constexpr (requires { model_.linear(); }) return model_.linear();
    return false;
  }

 private:
  const Model& model_;
  Kernel kernel_;
};

template <class Model, class Kernel>
class TwinOf final : public Twin {
 public:
  TwinOf(const Model& model, const Kernel& kernel) : model_(model), simulator_(model_, kernel) {}

  const Simulator& simulator() const override { return simulator_; }
  void update(const std::function<void(std::span<float>)>& edit, const Context& context) override {
    model_.update([&](Parameters& p) { edit(p.values()); }, context);
  }

 private:
  Model model_;
  SimulatorOf<Model, Kernel> simulator_;
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
  virtual void follow(const Simulator&, const UpdateStep& /*done*/, Key, const Context&) {}

  /// What records say of it.
  virtual Measures measures() const { return {}; }

  /// The chains that live on between updates; null if there are none. The first layers are those of the model.
  virtual Chains* chains() { return nullptr; }
  /// The numbers that live on beside them.
  virtual std::span<float> memory() { return {}; }

  /// Both, for checkpoints.
  void put(LearnerState& state);
  /// Chains of the model alone start all that there are. DataError if the state is that of another method or machine.
  void take(LearnerState& state);
};

}  // namespace ergodic
