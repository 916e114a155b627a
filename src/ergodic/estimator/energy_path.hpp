// The path to any energy: E_t(x) = (1 - t) E_0(x) + t E(x), from independent units with the energy E_0. Chains move by
// Metropolis sampling, with steps from small to as large as the base is wide, since it is not known how steep E is.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ergodic/estimator/path.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/metropolis.hpp"

namespace ergodic {

/// Independent units.
class Independent {
 public:
  /// Units with the means of these rows; real ones also with the deviations.
  Independent(const Layer& layer, const State& rows);

  const Layer& units() const { return layer_; }
  std::vector<double> energy(const State& x, const Context& context) const;
  double log_z() const;
  State draw(std::size_t count, const Draw& draw) const;
  /// Standard deviations of real units; empty for others.
  const std::vector<double>& deviations() const { return deviations_; }

 private:
  Precision precision() const { return {log_precisions_, deviations_}; }

  Layer layer_;
  std::vector<float> log_precisions_;
  std::vector<double> deviations_;
  std::vector<double> fields_;
};

/// Two energies of the same units at once, blended.
template <EnergyModel Model>
struct Blended {
  const Independent& base;
  const Model& machine;
  double t;

  decltype(auto) layers() const { return machine.layers(); }
  std::vector<double> energy(LayerStates x, const Context& context) const {
    std::vector<double> out = machine.energy(x, context);
    const std::vector<double> of_base = base.energy(x[0], context);
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = (1.0 - t) * of_base[r] + t * out[r];
    return out;
  }
};

/// The proposals of a sweep: of real units several, with noise from as wide as a base of these deviations down.
std::vector<Metropolis> metropolis_steps(const Independent& base);

template <EnergyModel Model>
class EnergyPath : public Path {
 public:
  EnergyPath(const Model& machine, const State& rows)
      : machine_(machine), base_(first_layer(machine), rows), steps_(metropolis_steps(base_)) {}

  double base_log_z() const override { return base_.log_z(); }
  Chains draw_base(std::size_t count, Key key, const Context&) override {
    Chains chains;
    chains.layers = {base_.draw(count, key.at(Purpose::kInitialChains))};
    return chains;
  }
  Chains start_at(const State& visible, Key, const Context&) override {
    Chains chains;
    chains.layers = {visible};
    return chains;
  }
  void sweep(double t, Chains& chains, Key key, const Context& context) override {
    for (const Metropolis& kernel : steps_) step(kernel, Blended<Model>{base_, machine_, t}, chains, key, context);
  }
  void weigh(double from, double to, const Chains& chains, std::span<double> out, const Context& context) override {
    const std::vector<double> before = base_.energy(chains.layers[0], context);
    const std::vector<double> after = machine_.energy(chains.layers[0], context);
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = (to - from) * (before[r] - after[r]);
  }

 private:
  Model machine_;  // a copy: what is given may be a view
  Independent base_;
  std::vector<Metropolis> steps_;
};

template <EnergyModel Model>
std::unique_ptr<Path> path_to(const Model& machine, const State& rows, const Context&) {
  return std::make_unique<EnergyPath<Model>>(machine, rows);
}

}  // namespace ergodic
