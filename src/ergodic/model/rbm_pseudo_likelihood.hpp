// The pseudo-likelihood of an RBM (Besag 1975), a cheap stand-in for the likelihood:
//   sum over sites i of log p(x_i | x without i),
// a site being a visible unit, or the units that together say one letter. It needs no Z, and says less.
#pragma once

#include <cstdint>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// The pseudo-log-likelihood of each row. Estimated from a few sites, evenly spaced from a random first one; exact if
/// there are few rows and sites. Not for real units.
std::vector<double> pseudo_log_likelihood(const Rbm& model, const State& rows, Key key, std::uint64_t step,
                                          const Context& context);

}  // namespace ergodic
