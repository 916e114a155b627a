// Do two sets of states come from the same distribution? By their nearest neighbours, and by one number of each state.
//
// A state whose nearest neighbour is of its own set, rather than of the other one, tells the sets apart (Schilling
// 1986; as adversarial accuracy, Yale et al., Neurocomputing 416, 2020):
//   A_data = mean over data rows i of [ nearest sample is farther than the nearest other data row ],
// ties counting half, and A_samples the other way round. Both are 1/2 - 1/(4N) if the distributions are equal; near 1
// if the samples are far from the data, or the data has what no sample has; near 0 if the samples copy the data.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

struct NeighbourTest {
  Mean data;     ///< A_data: the share of data rows that are nearer to data
  Mean samples;  ///< A_samples: the share of samples that are nearer to samples
};

/// Fewer rows than this have no error worth the name.
inline constexpr std::size_t kFewestNeighbours = 10;

/// Tests two states of as many rows; UsageError unless there are kFewestNeighbours at least. Bits that differ are
/// counted; between real units the distance is Euclid's. The standard error is that of equal distributions, by which
/// rows are exchanged between the sets (docs/math.md), times 2 sqrt(A (1 - A)). Rows must be independent. Progress
/// counts rows of both sets, twice; nothing if stopped before the end.
std::optional<NeighbourTest> neighbour_test(const State& data, const State& samples, const Context& context);

/// Kolmogorov and Smirnov: the largest difference between the two cumulative distributions of a number.
struct DistributionGap {
  double distance = 0.0;
  double critical = 0.0;  ///< what independent numbers of the same distribution exceed in 1 % of cases
};
DistributionGap distribution_gap(std::span<const double> a, std::span<const double> b);

}  // namespace ergodic
