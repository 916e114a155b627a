#include "ergodic/estimator/station_path.hpp"

#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

std::vector<double> widened(std::span<const float> values) { return {values.begin(), values.end()}; }

void set(std::span<float> target, float value) { std::fill(target.begin(), target.end(), value); }

}  // namespace

// ---- Restricted machines

Chains empty_chains(const Rbm& machine, std::size_t count) {
  Chains out;
  out.layers = {machine.make_state(Rbm::kVisible, count), machine.make_state(Rbm::kHidden, count)};
  return out;
}

Chains chains_at(const Rbm& machine, const State& visible, Key, const Context&) {
  Chains out = empty_chains(machine, visible.chains());
  out.layers[Rbm::kVisible] = visible;
  return out;
}

std::vector<double> log_weights(const Rbm& machine, const Chains& chains, const Context& context) {
  std::vector<double> out = machine.free_energy(chains.layers[Rbm::kVisible], context);
  for (double& energy : out) energy = -energy;
  return out;
}

/// Hidden units first: only then is what it does to the visible ones a sweep of this machine, wherever they come from.
void weighted_sweep(const Rbm& machine, Chains& chains, Key key, const Context& context) {
  for (const std::size_t block : {Rbm::kHidden, Rbm::kVisible}) {
    const Draw draw = key.at(Purpose::kGibbs, chains.sweep, static_cast<std::uint8_t>(block));
    machine.resample(block, chains.layers, draw, chains.first_chain, context);
  }
  ++chains.sweep;
}

double uncoupled_log_z(const Rbm& machine) {
  const auto of_layer = [&](std::size_t block, std::span<const float> bias) {
    return log_sum(machine.layer(block), {widened(bias), machine.precision(block)});
  };
  return of_layer(Rbm::kVisible, machine.visible_bias()) + of_layer(Rbm::kHidden, machine.hidden_bias());
}

Parameters uncoupled(const Rbm& machine, const State& rows) {
  Parameters out = machine.parameters();
  set(out["weights"], 0.0f);
  set(out["hidden_bias"], 0.0f);
  std::ranges::copy(base_fields(machine.visible(), rows, machine.precision(Rbm::kVisible)),
                    out["visible_bias"].begin());
  return out;
}

// ---- Machines on a graph, whose hidden units are units like the others

Chains empty_chains(const Boltzmann& machine, std::size_t count) {
  Chains out;
  out.layers = {machine.make_state(count)};
  return out;
}

Chains chains_at(const Boltzmann& machine, const State& visible, Key key, const Context& context) {
  Chains out = empty_chains(machine, visible.chains());
  Bits fixed(1, units_of(machine.units()));
  for (std::size_t i = 0; i < visible.units(); ++i) fixed.set(0, i, true);
  for (std::size_t r = 0; r < visible.chains(); ++r) {
    for (std::size_t i = 0; i < visible.units(); ++i) out.layers[0].bits().set(r, i, visible.bits().get(r, i));
  }
  if (machine.hidden() > 0) step(Gibbs{fixed}, machine, out, key, context);
  return out;
}

std::vector<double> log_weights(const Boltzmann& machine, const Chains& chains, const Context& context) {
  std::vector<double> out = machine.energy(chains.layers[0], context);
  for (double& energy : out) energy = -energy;
  return out;
}

void weighted_sweep(const Boltzmann& machine, Chains& chains, Key key, const Context& context) {
  step(Gibbs{}, machine, chains, key, context);
}

double uncoupled_log_z(const Boltzmann& machine) { return log_sum(machine.units(), {widened(machine.bias())}); }

Parameters uncoupled(const Boltzmann& machine, const State& rows) {
  Parameters out = machine.parameters();
  set(out.values(), 0.0f);
  std::ranges::copy(base_fields(machine.visible_layer(), rows, {}), out["bias"].begin());
  return out;
}

std::unique_ptr<Path> path_to(const Boltzmann& machine, const State& rows, const Context& context) {
  return path_through(machine, {}, rows, context);
}

}  // namespace ergodic
