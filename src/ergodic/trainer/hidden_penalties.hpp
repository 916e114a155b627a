// Penalties that look at hidden units as a whole. They add to what pulls each weight alone (Decay of centring.hpp).
//
// L1 squared (Tubiana, Cocco and Monasson 2019), with w as between {0,1} units, N visible and M hidden ones:
//   X/2N sum_j (sum_i |w_ij|)^2,  so that the weights of unit j have an l1 of their own, X/N sum_i |w_ij|.
// It is strongest where a unit has many weights, and leaves a few large ones: hidden units see a part of the data each.
//
// Sparsity (Lee, Ekanadham and Ng 2008): the bias of each hidden unit grows by the difference between a target p and
// the share q of the rows in which it is on. That is the slope of -X KL(p, q) where all rows have the same field.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/trainer/centring.hpp"

namespace ergodic {

struct HiddenPenalty {
  double l1_squared = 0.0;
  double sparsity = 0.0;              ///< how strong the pull towards the target is
  std::optional<double> target = {};  ///< share of rows in which a hidden unit is to be on
};

class HiddenPenalties {
 public:
  HiddenPenalties() = default;
  /// UsageError if hidden units are to be on in a share of rows, and do not have two values.
  HiddenPenalties(const HiddenPenalty& options, const Rbm& model);

  /// Whether means of the hidden units are asked for.
  bool sparse() const { return options_.sparsity > 0.0; }
  /// What they pull by now. The means are those of the hidden units given the batch, in their own values. Valid until
  /// the next call.
  HiddenPull find(const Rbm& model, const Gaps& gaps, std::span<const double> hidden_means, const Context& context);

 private:
  HiddenPenalty options_;
  std::vector<double> l1_, bias_;
};

}  // namespace ergodic
