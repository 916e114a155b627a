// The likelihood that units without couplings would have: what a machine must beat to have learned anything.
#pragma once

#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// The mean over rows of log p(x), in nats, if each unit (or site of letters) is independent of all others and has the
/// mean that it has in this data; real units are normal, with the deviations of this data. No mean is taken to be
/// closer to the end of its range than data of so many rows can tell.
/// Of rows with gaps, what is known counts: `known` has a bit for each unit of each row; without rows if there are
/// none.
double independent_log_likelihood(const Layer& visible, const Dataset& data, const State& rows, const Bits& known = {});

}  // namespace ergodic
