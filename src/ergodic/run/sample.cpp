#include "ergodic/run/sample.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

/// Whether all chains are given the same.
bool same_given(const State& x, const Bits& fixed) {
  for (std::size_t r = 1; r < x.chains(); ++r) {
    for (std::size_t i = 0; i < fixed.cols(); ++i) {
      if (fixed.get(0, i) && x.value(r, i) != x.value(0, i)) return false;
    }
  }
  return true;
}

LowestEnergy summary_of(const Lowest& lowest) {
  LowestEnergy out{*std::ranges::min_element(lowest.energies), 0};
  const double rounding = 1e-9 * std::max(1.0, std::abs(out.energy));
  for (const double energy : lowest.energies) out.chains += energy <= out.energy + rounding ? 1 : 0;
  return out;
}

/// The states of lowest energy in place of samples.
void put_lowest(Samples& out, const Lowest& lowest, const Machine& machine, Chains& chains) {
  out.lowest = summary_of(lowest);
  require_finite(out.lowest->energy, "the lowest energy");
  chains.layers[0] = lowest.layers[0];
  out.draws.push_back(machine.visible_of(chains));
  out.energies.push_back(lowest.energies);
}

std::vector<SampledLevel> visible_levels(const Machine& machine, const Sampling& sampling) {
  std::vector<SampledLevel> out;
  for (SampledLevel& level : sampling.levels()) {
    out.push_back({level.beta, machine.visible_of({{std::move(level.first_layer)}})});
  }
  return out;
}

}  // namespace

Samples sample(const Machine& machine, const SamplingOptions& given, const SampleStart& start,
               const std::vector<WatchedNumber>& watched, Key key, const Context& context) {
  SamplingOptions options = given;
  if (start.fixed.rows() > 0) options.kernel.fixed = machine.mask_of(start.fixed);
  Chains chains =
      start.rows.chains() > 0 ? machine.start_at(start.rows, key, context) : machine.start(start.count, key, context);
  std::vector<WatchedNumber> numbers = machine.watched_numbers();
  numbers.insert(numbers.end(), watched.begin(), watched.end());
  const std::uint64_t sweeps = options.sweeps + (options.draws - 1) * options.every;
  MixingWatch watch(std::move(numbers), chains.count(), sweeps, machine.bounded_times(options));
  const std::unique_ptr<Sampling> sampling = machine.sampling(options, context);
  const bool judged = same_given(chains.layers[0], options.kernel.fixed) && !sampling->lowest();
  const bool alike = start.rows.chains() > 1 && all_alike(start.rows);
  Samples out;
  context.stage({"sampling", "sweeps"});
  while (chains.sweep < sweeps && !context.stop_requested()) {
    sampling->sweep(chains, key, context);
    if (judged) watch.look(chains, context);
    context.progress({chains.sweep, sweeps});
    const bool due = chains.sweep >= options.sweeps && (chains.sweep - options.sweeps) % options.every == 0;
    if (!due || sampling->lowest()) continue;
    out.draws.push_back(machine.visible_of(chains));
    out.energies.push_back(machine.energies(chains, context));
  }
  out.sweeps = chains.sweep;
  out.accepted = sampling->accepted();
  out.swapped = sampling->swapped();
  out.stopped = chains.sweep < sweeps;
  if (out.stopped) return out;
  if (const Lowest* lowest = sampling->lowest()) {
    put_lowest(out, *lowest, machine, chains);
  } else {
    out.mixing = judged ? watch.report(alike) : not_judged("each chain completes a different row");
    if (out.mixing->verdict.mixing == Mixing::kNo) context.warn(sentence(*out.mixing, options.sampler == kTempering));
  }
  out.visible = out.draws.back();
  require_finite(out.visible, "samples");
  out.levels = visible_levels(machine, *sampling);
  out.chains = std::move(chains);
  return out;
}

}  // namespace ergodic
