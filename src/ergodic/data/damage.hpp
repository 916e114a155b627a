// Damage on purpose: what a memory is tested with.
#pragma once

#include "ergodic/core/bits.hpp"
#include "ergodic/core/random.hpp"

namespace ergodic {

/// The rows with a share of their bits flipped: as many in each row, the share rounded to whole bits, chosen at random.
Bits damaged(const Bits& rows, double share, const Draw& draw);

}  // namespace ergodic
