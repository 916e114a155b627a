// The weights that chains gather on their way along a path, and what they say of log Z (sequential Monte Carlo; Del
// Moral, Doucet and Jasra 2006; population annealing, Hukushima and Iba 2003).
//
// Each step multiplies the weight of a chain. When the weights have become so uneven that fewer than half of the chains
// count, all are drawn anew by them and weigh the same again: what is then lost is the mean weight, a factor of the
// estimate. The product of these means is Z_1 / Z_0 without bias, however often chains are drawn anew (Del Moral 2004).
//
// Chains that come from the same one at the start are a family. Families are independent, up to what drawing anew lets
// them share, so the error comes from how the final weight is spread over them (Chan and Lai 2013; Lee and Whiteley
// 2018).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/random.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// What the weights of all chains of one direction say of log Z.
struct AnnealedSide {
  double value = 0.0;             ///< its mean is below log Z if forward, above if backward, by Jensen's inequality
  double standard_error = 0.0;    ///< of the value
  double effective_chains = 0.0;  ///< families that the value rests on: few of many is a warning
  double variance = 0.0;          ///< of the logarithms of the weights, added up wherever chains were drawn anew
};

class WeightedChains {
 public:
  explicit WeightedChains(std::size_t count);

  /// Adds to the logarithms of the weights.
  void add(std::span<const double> logs);
  /// Draws the chains anew if their weights are uneven. `draw` gives one number.
  void even_out(Chains& chains, const Draw& draw);

  /// The log of the product of all mean weights. NumericError if a weight is infinite or NaN.
  AnnealedSide found() const;

 private:
  double log_mean_ = 0.0;  // of the weights that are gone
  double variance_ = 0.0;  // of their logarithms
  std::vector<double> logs_;
  std::vector<std::size_t> families_;
};

}  // namespace ergodic
