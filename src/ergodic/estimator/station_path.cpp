#include "ergodic/estimator/station_path.hpp"

#include <array>

#include "ergodic/kernels/unit_words.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

std::vector<double> widened(std::span<const float> values) { return {values.begin(), values.end()}; }

constexpr std::size_t kWeighedTiles = 2;     // by one thread
constexpr std::size_t kTermsAtATime = 1024;  // some 16 KiB

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

namespace {

/// Calls f(terms) with some terms at a time of the sum over units and edges, whose factors are the changes of the
/// parameters. A bias couples its unit to one more, which is always high.
template <class F>
void for_changes(const Boltzmann& from, const Boltzmann& to, const F& f) {
  std::array<ProductTerm, kTermsAtATime> terms;
  std::size_t count = 0;
  const auto add = [&](std::size_t i, std::size_t j, double change) {
    if (change == 0.0) return;
    terms[count++] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), change};
    if (count == terms.size()) f(std::span<const ProductTerm>(terms)), count = 0;
  };
  const std::span<const float> bias_before = from.bias(), bias_after = to.bias();
  const std::span<const float> before = from.couplings(), after = to.couplings();
  const std::size_t units = bias_before.size();
  for (std::size_t i = 0; i < units; ++i) {
    add(i, units, double{bias_after[i]} - double{bias_before[i]});
    from.graph().for_later_neighbours(
        i, [&](std::size_t j, std::size_t e) { add(i, j, double{after[e]} - double{before[e]}); });
  }
  f(std::span<const ProductTerm>(terms).first(count));
}

}  // namespace

/// For two-valued units, the sum over edges of the change of the coupling, for some tiles of chains at once: each
/// change is made once for all of them.
void weigh_change(const Boltzmann& from, const Boltzmann& to, const Chains& chains, std::span<double> out,
                  const Context& context) {
  const State& x = chains.layers[0];
  if (!two_valued(from.units())) return subtract(from.energy(x, context), to.energy(x, context), out);
  context.for_blocks(x.chains(), kWeighedTiles * kTileChains, [&](std::size_t begin, std::size_t end) {
    thread_local std::array<UnitWords, kWeighedTiles> tiles;
    std::array<std::array<double, kTileChains>, kWeighedTiles> sums{};
    const std::size_t count = (end - begin + kTileChains - 1) / kTileChains;
    for (std::size_t t = 0; t < count; ++t) {
      tiles[t].resize(tile_units(x.units() + 1));
      load_bits(x.bits(), begin + t * kTileChains, 0, x.units(), tiles[t]);
      tiles[t][x.units()] = ~0u;
    }
    for_changes(from, to, [&](std::span<const ProductTerm> terms) {
      for (std::size_t t = 0; t < count; ++t) add_products(terms, tiles[t], x.levels(), sums[t]);
    });
    for (std::size_t r = begin; r < end; ++r) out[r] = sums[(r - begin) / kTileChains][(r - begin) % kTileChains];
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
