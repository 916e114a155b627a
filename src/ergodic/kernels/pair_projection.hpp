// Products of pair statistics with vectors, without the statistics: of how often each unit of x is on, weighted with
// the values of the units of y that are on with it; and the other way round.
#pragma once

#include <span>
#include <vector>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/kernels/pair_counts.hpp"

namespace ergodic {

class PairProjection {
 public:
  static constexpr int kMaxBits = 12;  ///< of the values, beside the sign

  /// One of the two layers.
  struct Units {
    std::span<const float> values;  ///< integers, whose sums are exact, whatever the order
    std::span<double> onto;         ///< what the values of the other layer are added to
  };

  /// x.onto(i) += sum over sides of weight * sum over j of #{rows r: x(r, i) and y(r, j) are on} y.values(j), and the
  /// same with x and y exchanged.
  void add(std::span<const WeightedPairs> sides, const Units& x, const Units& y, const Context& context);

 private:
  static constexpr std::size_t kLayers = 2;

  AlignedVector<std::int16_t> values_[kLayers];  // filled up to the end of a word, where no bit is on
  std::vector<std::int32_t> sums_;               // of the values that are on: [side][layer][part of the layer][row]
};

}  // namespace ergodic
