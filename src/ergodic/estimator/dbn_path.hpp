// The path of annealing of a deep belief network, which has the log Z of the RBM at its top: the path to that one. Rows
// of data are drawn up to it.
#pragma once

#include <memory>

#include "ergodic/core/context.hpp"
#include "ergodic/estimator/path.hpp"
#include "ergodic/model/dbn.hpp"

namespace ergodic {

/// From independent units with the means of what lies above these rows. Refers to the network.
std::unique_ptr<Path> path_to(const Dbn& model, const State& rows, const Context& context);

}  // namespace ergodic
