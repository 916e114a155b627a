// Products of pair statistics with a vector, without the statistics: of how often each unit of x is on, weighted with
// the values of the units of y that are on with it.
#pragma once

#include <span>
#include <vector>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

class PairProjection {
 public:
  static constexpr int kMaxBits = 12;  ///< of the values, beside the sign

  /// onto(i) += weight * sum over j of #{rows r: x(r, i) and y(r, j) are on} value(j). The values are integers, their
  /// sums exact, whatever the order.
  void add(const Bits& x, const Bits& y, double weight, std::span<const float> values, std::span<double> onto,
           const Context& context);

 private:
  AlignedVector<float> part_;       // some of the values, zeros to the end of a word
  std::vector<std::int32_t> sums_;  // of the values that are on, for each row
};

}  // namespace ergodic
