// Annealed importance sampling (Neal 2001; for RBMs, Salakhutdinov and Murray 2008): log Z of machines that are too
// large to enumerate.
//
// Chains start as exact draws from a machine without couplings, whose visible units have the fields `base`, and whose Z
// is known. They go through machines between the two,
//   F_beta(x) = -x'(beta b + (1 - beta) base) - sum_j log_sum(beta (c + x W)_j),   0 = beta_0 < ... < beta_K = 1,
// and gather the weights exp(F_beta(x) - F_beta'(x)) on the way. Their mean is Z / Z_base without bias. Its logarithm
// is therefore too small on average, the more so the fewer temperatures there are: likelihoods made from it flatter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

struct AnnealingOptions {
  std::size_t chains = 100;
  std::size_t temperatures = 1000;  ///< K; the steps of beta are equal
};

struct AnnealedLogZ {
  double value = 0.0;
  double standard_error = 0.0;    ///< of the value, from the spread of the weights
  double effective_chains = 0.0;  ///< (sum of weights)^2 / sum of squares: few of many is a warning
};

/// `base` has a field for each visible unit. Progress counts temperatures; nothing if stopped before the end.
std::optional<AnnealedLogZ> annealed_log_z(const Rbm& model, std::span<const float> base,
                                           const AnnealingOptions& options, Key key, const Context& context);

}  // namespace ergodic
