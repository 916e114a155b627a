// How a machine's own samples compare with data: `ergodic evaluate --quality`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/correlations.hpp"
#include "ergodic/estimator/two_sample.hpp"
#include "ergodic/run/mixing.hpp"
#include "ergodic/run/own_samples.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {

struct Quality {
  std::size_t rows = 0;      ///< of data, against as many samples of chains of their own: for all but the moments
  NeighbourTest neighbours;  ///< which are nearer to their own kind
  Mean data_energy, sample_energy;
  DistributionGap energy_gap;  ///< of these energies: free ones, where there are hidden units
  /// Of as many training rows, where the data are others. A machine has learned these by heart if they lie far below.
  std::optional<Mean> training_energy;
  std::uint64_t samples = 0;  ///< for the moments, against all rows
  Comparison moments;
  std::vector<double> swapped;  ///< of tempering: how often each level swaps with the next
  MixingReport mixing;
};

/// DataError for fewer rows than a quality can be found of.
void require_enough_rows(const Dataset& data);

/// Of data with enough rows of values for the visible units, training rows if the data are others, and samples as
/// draw_own_samples has them. UsageError for too few chains. Nothing if stopped before the end.
std::optional<Quality> quality_of(const Machine& machine, std::span<const Parameters> stations, const Dataset& data,
                                  const std::optional<Dataset>& training, const OwnSamplesOptions& options, Key key,
                                  const Context& context);

std::string to_json(const Quality& quality);
std::string to_text(const Quality& quality);

}  // namespace ergodic
