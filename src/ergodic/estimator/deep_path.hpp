// The straight path to a deep Boltzmann machine: that of the restricted machine that it is (rbm_path.hpp), on which the
// odd layers are summed out. Rows set the visible units alone; the hidden ones beside them are drawn given the row.
#pragma once

#include <memory>

#include "ergodic/estimator/path.hpp"
#include "ergodic/model/deep_boltzmann.hpp"

namespace ergodic {

/// The path from independent units with the means of these rows, and of the hidden units given them. Refers to the
/// machine.
std::unique_ptr<Path> path_to(const DeepBoltzmann& machine, const State& rows, Key key, const Context& context);

}  // namespace ergodic
