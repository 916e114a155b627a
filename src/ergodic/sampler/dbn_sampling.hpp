// Sampling of deep belief networks.
//
// From the top down: chains of the RBM at the top, by any sampler there is for RBMs, from which the layers below are
// drawn after each sweep. Labels that stay are units of the top that stay.
//
// Where values of a row stay, what lies above them must be inferred. In each sweep the hidden layers as they are and a
// few draws of them by recognition are weighed, and one of these is chosen by its weight, which leaves p(h | x) where
// it is (Andrieu, Doucet and Holenstein 2010). Then the label and the values that may change are drawn given the hidden
// layers. Recognition that is far off makes such chains slow, but not wrong.
#pragma once

#include <memory>

#include "ergodic/core/context.hpp"
#include "ergodic/model/dbn.hpp"
#include "ergodic/sampler/sampling.hpp"

namespace ergodic {

/// Chains have the layers of the network, the visible one first. Refers to the network. UsageError for annealing, and
/// for other samplers than gibbs where values stay.
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Dbn& model, const Context& context);

}  // namespace ergodic
