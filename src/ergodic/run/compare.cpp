#include "ergodic/run/compare.hpp"

#include "ergodic/machine/rows.hpp"

namespace ergodic {

ComparisonWithData compare_with_data(const Machine& machine, std::span<const Parameters> stations, const Dataset& data,
                                     const ModelSamplesOptions& options, Key key, const Context& context) {
  require_fit(machine.visible(), data);
  require_complete(data);
  const std::vector<UnitPair> pairs = pairs_of(machine.visible());
  const PairSums expected = sums_of(all_rows(machine.visible(), data, key), data.weights, pairs, context);
  context.stage({"sampling", "sweeps"});
  const std::optional<ModelSamples> own = draw_model_samples(machine, stations, options, pairs, key, context);
  ComparisonWithData out;
  out.rows = data.rows();
  out.effective_rows = data.effective_rows();
  out.stopped = !own;
  if (!own) return out;
  PairSums all = own->groups.front();
  for (const PairSums& group : std::span(own->groups).subspan(1)) all.add(group);
  out.samples = own->samples;
  out.comparison = compare(own->groups, expected);
  out.data_means = expected.means();
  out.sample_means = all.means();
  out.data_correlations = expected.connected();
  out.sample_correlations = all.connected();
  out.swapped = own->swapped;
  out.mixing = own->mixing;
  return out;
}

}  // namespace ergodic
