#include "ergodic/run/own_samples.hpp"

#include <algorithm>
#include <memory>
#include <variant>

#include "ergodic/run/sampling.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostPairs = 1000000;
constexpr std::size_t kGroups = 10;  // of chains, for the standard errors

/// Whether a sweep of the second half is one to draw from: so many of them, the last always.
bool due(std::uint64_t sweep, const OwnSamplesOptions& options) {
  const std::uint64_t half = options.sweeps - options.sweeps / 2, left = options.sweeps - sweep;
  const std::uint64_t every = std::max<std::uint64_t>(1, half / options.draws);
  return left % every == 0 && left / every < options.draws && left < half;
}

State visible_states(const Boltzmann& machine, const Chains& chains) { return machine.visible_part(chains.layers[0]); }
template <class Model>
const State& visible_states(const Model&, const Chains& chains) {
  return chains.layers[0];
}

template <class Model>
std::optional<OwnSamples> drawn(const Model& machine, std::span<const Parameters> stations,
                                const OwnSamplesOptions& options, std::span<const UnitPair> pairs, Key key,
                                const Context& context) {
  Chains chains = far_start(machine, options.count, key, context);
  const bool bounded = chains.layers.size() == 2 && stations.empty();  // block Gibbs sampling of two layers
  MixingWatch watch(watched_numbers(machine), options.count, options.sweeps, bounded);
  SamplingOptions sampling;
  sampling.sweeps = options.sweeps;
  sampling.stations.assign(stations.begin(), stations.end());
  if (!stations.empty()) sampling.sampler = SamplerKind::kTempering;
  const std::unique_ptr<Sampling> sampler = make_sampling(sampling, machine, context);
  OwnSamples out;
  out.groups.assign(kGroups, PairSums(visible_states(machine, chains).units(), pairs));
  while (chains.sweep < options.sweeps) {
    if (context.stop_requested()) return std::nullopt;
    sampler->sweep(chains, key, context);
    watch.look(chains, context);
    context.progress({chains.sweep, options.sweeps});
    if (!due(chains.sweep, options)) continue;
    const State& states = visible_states(machine, chains);
    for (std::size_t g = 0; g < kGroups; ++g) {
      out.groups[g].add(states, g * options.count / kGroups, (g + 1) * options.count / kGroups, {}, context);
    }
    out.samples += options.count;
  }
  out.last = visible_states(machine, chains);
  out.swapped = sampler->swapped();
  out.mixing = watch.report();
  if (out.mixing.verdict.mixing == Mixing::kNo) context.warn(sentence(out.mixing));
  return out;
}

}  // namespace

void add_own_samples_options(Spec& spec, OwnSamplesOptions& options) {
  spec.count("count", options.count, kGroups, 1000000, "how many chains")
      .count("sweeps", options.sweeps, 2, 1000000000000, "sweeps of each chain, of which the first half is warm-up")
      .count("draws", options.draws, 1, 1000000, "states of each chain that are compared, spread over the second half");
}

std::optional<OwnSamples> draw_own_samples(const Machine& machine, std::span<const Parameters> stations,
                                           const OwnSamplesOptions& options, std::span<const UnitPair> pairs, Key key,
                                           const Context& context) {
  return std::visit([&](const auto& model) { return drawn(model, stations, options, pairs, key, context); }, machine);
}

std::vector<UnitPair> pairs_of(const Layer& visible) { return choose_pairs(visible, kMostPairs, Key{}); }

}  // namespace ergodic
