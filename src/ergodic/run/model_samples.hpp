// A machine's own samples, to be compared with data: drawn by chains that know nothing of it, as many states of each as
// are asked for, spread over the second half of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/correlations.hpp"
#include "ergodic/estimator/mixing.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/option/spec.hpp"

namespace ergodic {

struct ModelSamplesOptions {
  std::uint64_t count = 1000;
  std::uint64_t sweeps = 1000;
  std::uint64_t draws = 10;
  bool operator==(const ModelSamplesOptions&) const = default;
};

/// --count, --sweeps and --draws, without a group.
const Spec<ModelSamplesOptions>& model_samples_spec();

struct ModelSamples {
  std::uint64_t samples = 0;     ///< all draws of all chains
  std::vector<PairSums> groups;  ///< sums over all draws, by groups of chains
  State last;                    ///< the visible states of all chains at the end
  std::vector<double> swapped;   ///< by tempering, how often each level swaps with the next
  MixingReport mixing;
};

/// Draws by the default sampler of the machine; with snapshots of its training, by tempering along them. Warns if the
/// chains have not mixed. The sums are those of the pairs, which they refer to. Nothing if stopped before the end.
std::optional<ModelSamples> draw_model_samples(const Machine& machine, std::span<const Parameters> stations,
                                               const ModelSamplesOptions& options, std::span<const UnitPair> pairs,
                                               Key key, const Context& context);

/// The pairs of units that are looked at: all, or a random choice of a million.
std::vector<UnitPair> pairs_of(const Layer& visible);

}  // namespace ergodic
