// A machine's own samples, to be held against data: drawn by chains that start far from it, as many states of each as
// are asked for, spread over the second half of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/correlations.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/run/mixing.hpp"
#include "ergodic/run/spec.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {

struct OwnSamplesOptions {
  std::uint64_t count = 1000;
  std::uint64_t sweeps = 1000;
  std::uint64_t draws = 10;
  bool operator==(const OwnSamplesOptions&) const = default;
};

/// Adds --count, --sweeps and --draws.
void add_own_samples_options(Spec& spec, OwnSamplesOptions& options);

struct OwnSamples {
  std::uint64_t samples = 0;     ///< all draws of all chains
  std::vector<PairSums> groups;  ///< of all draws, by groups of chains
  State last;                    ///< the visible states of all chains at the end
  std::vector<double> swapped;   ///< of tempering: how often each level swaps with the next
  MixingReport mixing;
};

/// By Gibbs sampling, and of neural energies as `sample` does; with stations of its training, by tempering along them.
/// Warns if the chains have not mixed. The sums are those of the pairs, which they refer to. Nothing if stopped before
/// the end.
std::optional<OwnSamples> draw_own_samples(const Machine& machine, std::span<const Parameters> stations,
                                           const OwnSamplesOptions& options, std::span<const UnitPair> pairs, Key key,
                                           const Context& context);

/// The pairs of units that are looked at: all, or a random choice of a million.
std::vector<UnitPair> pairs_of(const Layer& visible);

}  // namespace ergodic
