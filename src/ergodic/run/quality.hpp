// How a machine's own samples compare with data, beyond the moments: nearest neighbours and energies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/correlations.hpp"
#include "ergodic/estimator/two_sample.hpp"
#include "ergodic/run/model_samples.hpp"

namespace ergodic {

struct Quality {
  bool stopped = false;      ///< then there is nothing below
  std::size_t rows = 0;      ///< rows of data, against as many samples of chains of their own: for all but the moments
  NeighbourTest neighbours;  ///< which are nearer to their own kind
  Mean data_energy, sample_energy;
  DistributionGap energy_gap;  ///< between these energies: free ones, where there are hidden units
  /// Energies of as many training rows, where the data are others. A machine that has learned these by heart has them
  /// far below.
  std::optional<Mean> training_energy;
  std::uint64_t samples = 0;  ///< for the moments, against all rows
  Comparison moments;
  std::vector<double> swapped;  ///< by tempering, how often each level swaps with the next
  MixingReport mixing;

  /// The mean energy of the data minus that of the training rows.
  Mean free_energy_gap() const;
};

/// DataError for fewer rows than a quality can be found of.
void require_enough_rows(const Dataset& data);

/// What a machine is judged by.
struct QualityRows {
  const Dataset& data;
  const Dataset* training = nullptr;  ///< the rows that it was trained on, if the data are others
};

/// The quality of a machine by data that fits it, and samples as draw_model_samples has them.
Quality quality_of(const Machine& machine, std::span<const Parameters> stations, const QualityRows& judges,
                   const ModelSamplesOptions& options, Key key, const Context& context);

}  // namespace ergodic
