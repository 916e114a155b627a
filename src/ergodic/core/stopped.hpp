// Stopped: the work was asked to stop, and has nothing to hand back.
#pragma once

#include "ergodic/core/error.hpp"

namespace ergodic {

/// Thrown where data is read or fetched, when the observer asks to stop. Computations that can hand back a part of
/// their result, or nothing, return that instead.
class Stopped : public Error {
 public:
  Stopped() : Error("stopped before the work began; nothing written") {}
};

}  // namespace ergodic
