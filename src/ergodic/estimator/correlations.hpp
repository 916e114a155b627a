// How far two sets of states agree in their means and in their connected correlations,
//   C_ij = <x_i x_j> - <x_i> <x_j>   between units of different sites:
// the figures by which machines of protein families are judged (Tubiana, Cocco and Monasson, eLife 2019).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

struct UnitPair {
  std::uint32_t first = 0, second = 0;
};

/// All pairs of units of different sites of a layer, or so many random ones of them if there are more.
std::vector<UnitPair> choose_pairs(const Layer& layer, std::size_t most, Key key);

/// Sums over rows: of the weights, of each unit, and of the product of each pair. Bits count as 0 and 1.
class PairSums {
 public:
  PairSums(std::size_t units, std::span<const UnitPair> pairs)
      : pairs_(pairs), units_(units), products_(pairs.size()) {}

  /// Adds rows [begin, end), one weight for each row of the state, or none: all 1.
  void add(const State& rows, std::size_t begin, std::size_t end, std::span<const double> weights,
           const Context& context);
  void add(const PairSums& other) { add(other, 1.0); }
  void subtract(const PairSums& other) { add(other, -1.0); }

  std::vector<double> means() const;
  std::vector<double> connected() const;  ///< C_ij for each pair

 private:
  void add(const PairSums& other, double sign);

  std::span<const UnitPair> pairs_;
  double total_ = 0.0;
  std::vector<double> units_, products_;
};

/// The sums over all rows of a state.
PairSums sums_of(const State& rows, std::span<const double> weights, std::span<const UnitPair> pairs,
                 const Context& context);

/// One number of the model against the same of the data, over units or pairs.
struct Agreement {
  std::size_t count = 0;
  double correlation = 0.0, correlation_error = 0.0;  ///< Pearson's; NaN if either does not vary
  double slope = 0.0, slope_error = 0.0;              ///< of the model's number over the data's
  double ceiling = 0.0;  ///< the highest correlation that sampling noise allows: that with infinitely many samples
};

struct Comparison {
  Agreement means, correlations;
};

/// Compares the data with samples that come in independent groups, at least two. Standard errors
/// are those of the samples, by leaving out a group at a time (jackknife); the data is taken as it is.
Comparison compare(std::span<const PairSums> samples, const PairSums& data);

}  // namespace ergodic
