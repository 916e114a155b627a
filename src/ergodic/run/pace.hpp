// How fast training is here: a time turned into a number of updates, by a short trial.
#pragma once

#include <cstdint>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/run/fit.hpp"

namespace ergodic {

/// How many updates of training with these options take about so many seconds here, records included; at least one. A
/// trial learns for a twentieth of the time, up to three seconds: at places all over the run, since the layers of a
/// deep machine take turns, and with steps of next to nothing, so that nothing diverges. The machine is afterwards as
/// it was. Throws Stopped if the observer asks to stop.
std::uint64_t updates_within(double seconds, Machine& machine, const TrainingData& data, TrainOptions options, Key key,
                             const Context& context, const Clock& clock = steady_seconds);

}  // namespace ergodic
