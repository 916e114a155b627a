#include "ergodic/estimator/station_path.hpp"

#include <array>

#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

std::vector<double> widened(std::span<const float> values) { return {values.begin(), values.end()}; }

constexpr std::size_t kChainsAtATime = 16;

void subtract(const std::vector<double>& a, const std::vector<double>& b, std::span<double> out) {
  for (std::size_t r = 0; r < out.size(); ++r) out[r] = a[r] - b[r];
}

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

void weigh_change(const Rbm& from, const Rbm& to, const Chains& chains, std::span<double> out, const Context& context) {
  subtract(from.free_energy(chains.layers[Rbm::kVisible], context),
           to.free_energy(chains.layers[Rbm::kVisible], context), out);
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

/// Of two-valued units the sum over edges of the change of the coupling, for some chains at once: each change is made
/// once for all of them.
void weigh_change(const Boltzmann& from, const Boltzmann& to, const Chains& chains, std::span<double> out,
                  const Context& context) {
  const State& x = chains.layers[0];
  if (!two_valued(from.units())) return subtract(from.energy(x, context), to.energy(x, context), out);
  const Graph& graph = from.graph();
  context.for_blocks(x.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
    using Lane = std::array<double, kChainsAtATime>;
    std::vector<Lane> values(x.units());
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t r = begin; r < end; ++r) values[i][r - begin] = x.value(r, i);
    }
    Lane sums{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      Lane fields;
      fields.fill(double{to.bias()[i]} - double{from.bias()[i]});
      graph.for_later_neighbours(i, [&, a = from.couplings(), b = to.couplings()](std::size_t j, std::size_t e) {
        const double change = double{b[e]} - double{a[e]};
        for (std::size_t c = 0; c < kChainsAtATime; ++c) fields[c] += change * values[j][c];
      });
      for (std::size_t c = 0; c < kChainsAtATime; ++c) sums[c] += values[i][c] * fields[c];
    }
    std::copy_n(sums.begin(), end - begin, out.begin() + static_cast<std::ptrdiff_t>(begin));
  });
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
