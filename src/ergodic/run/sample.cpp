#include "ergodic/run/sample.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

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

}  // namespace

Samples sample(const Machine& machine, const SamplingOptions& given, const SampleStart& start,
               const std::vector<WatchedNumber>& watched, Key key, const Context& context) {
  SamplingOptions options = given;
  if (start.fixed.rows() > 0) options.kernel.fixed = machine.mask_of(start.fixed);
  Chains chains =
      start.rows.chains() > 0 ? machine.start_at(start.rows, key, context) : machine.start(start.count, key, context);
  std::vector<WatchedNumber> numbers = machine.watched_numbers();
  numbers.insert(numbers.end(), watched.begin(), watched.end());
  MixingWatch watch(std::move(numbers), chains.count(), options.sweeps, machine.bounded_times(options));
  const std::unique_ptr<Sampling> sampling = machine.sampling(options, context);
  const bool judged = same_given(chains.layers[0], options.kernel.fixed) && !sampling->lowest();
  const bool alike = start.rows.chains() > 1 && all_alike(start.rows);
  context.stage({"sampling", "sweeps"});
  while (chains.sweep < options.sweeps && !context.stop_requested()) {
    sampling->sweep(chains, key, context);
    if (judged) watch.look(chains, context);
    context.progress({chains.sweep, options.sweeps});
  }
  Samples out;
  out.sweeps = chains.sweep;
  out.accepted = sampling->accepted();
  out.swapped = sampling->swapped();
  out.stopped = chains.sweep < options.sweeps;
  if (out.stopped) return out;
  if (const Lowest* lowest = sampling->lowest()) {
    out.lowest = summary_of(*lowest);
    chains.layers[0] = lowest->layers[0];
  } else {
    out.mixing = judged ? watch.report(alike) : not_judged("each chain completes a different row");
    if (out.mixing->verdict.mixing == Mixing::kNo) context.warn(sentence(*out.mixing, options.sampler == kTempering));
  }
  out.visible = machine.visible_of(chains);
  out.chains = std::move(chains);
  return out;
}

}  // namespace ergodic
