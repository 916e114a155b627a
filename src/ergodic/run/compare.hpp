// How far a machine's own samples agree with data, in the means of its units and in their correlations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/estimator/correlations.hpp"
#include "ergodic/run/model_samples.hpp"

namespace ergodic {

struct ComparisonWithData {
  std::size_t rows = 0;
  double effective_rows = 0.0;
  bool stopped = false;       ///< then there is nothing below
  std::uint64_t samples = 0;  ///< all draws of all chains
  Comparison comparison;
  std::vector<double> data_means, sample_means;                ///< for each unit
  std::vector<double> data_correlations, sample_correlations;  ///< connected, of each pair of units looked at
  std::vector<double> swapped;  ///< by tempering, how often each level swaps with the next
  MixingReport mixing;
};

/// Runs chains that know nothing of the data, and compares states of their second half with it. Warns if the chains
/// have not mixed.
ComparisonWithData compare_with_data(const Machine& machine, std::span<const Parameters> stations, const Dataset& data,
                                     const ModelSamplesOptions& options, Key key, const Context& context);

}  // namespace ergodic
