#include "ergodic/run/model_samples.hpp"

#include <algorithm>
#include <memory>

#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostPairs = 1000000;
constexpr std::size_t kGroups = 10;  // of chains, for the standard errors

/// Whether a sweep of the second half is one to draw from: so many of them, the last always.
bool due(std::uint64_t sweep, const ModelSamplesOptions& options) {
  const std::uint64_t half = options.sweeps - options.sweeps / 2, left = options.sweeps - sweep;
  const std::uint64_t every = std::max<std::uint64_t>(1, half / options.draws);
  return left % every == 0 && left / every < options.draws && left < half;
}

}  // namespace

const Spec<ModelSamplesOptions>& model_samples_spec() {
  static const Spec<ModelSamplesOptions> spec = [] {
    Spec<ModelSamplesOptions> out;
    out.group("Samples")
        .add("count", &ModelSamplesOptions::count, "how many chains")
        .range(kGroups, 1000000)
        .add("sweeps", &ModelSamplesOptions::sweeps, "sweeps of each chain, of which the first half is warm-up")
        .range(2, 1e12)
        .add("draws", &ModelSamplesOptions::draws,
             "states of each chain that are compared, spread over the second half")
        .range(1, 1000000);
    return out;
  }();
  return spec;
}

std::optional<ModelSamples> draw_model_samples(const Machine& machine, std::span<const Parameters> stations,
                                               const ModelSamplesOptions& options, std::span<const UnitPair> pairs,
                                               Key key, const Context& context) {
  SamplingOptions sampling;
  sampling.sweeps = options.sweeps;
  sampling.stations.assign(stations.begin(), stations.end());
  if (!stations.empty()) sampling.sampler = kTempering;
  Chains chains = machine.start(options.count, key, context);
  MixingWatch watch(machine.watched_numbers(), options.count, options.sweeps, machine.bounded_times(sampling));
  const std::unique_ptr<Sampling> sampler = machine.sampling(sampling, context);
  ModelSamples out;
  out.groups.assign(kGroups, PairSums(units_of(machine.visible()), pairs));
  while (chains.sweep < options.sweeps) {
    if (context.stop_requested()) return std::nullopt;
    sampler->sweep(chains, key, context);
    watch.look(chains, context);
    context.progress({chains.sweep, options.sweeps});
    if (!due(chains.sweep, options)) continue;
    const State states = machine.visible_of(chains);
    require_finite(states, "samples");
    for (std::size_t g = 0; g < kGroups; ++g) {
      out.groups[g].add(states, g * options.count / kGroups, (g + 1) * options.count / kGroups, {}, context);
    }
    out.samples += options.count;
  }
  out.last = machine.visible_of(chains);
  out.swapped = sampler->swapped();
  out.mixing = watch.report();
  if (out.mixing.verdict.mixing == Mixing::kNo) {
    context.warn(sentence(out.mixing, sampling.sampler == kTempering));
  }
  return out;
}

std::vector<UnitPair> pairs_of(const Layer& visible) { return choose_pairs(visible, kMostPairs, Key{}); }

}  // namespace ergodic
