// Stochastic gradient ascent, and a rate that falls as training goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "ergodic/core/context.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

enum class Schedule {
  kConstant,
  kLinear,  ///< straight down to zero at the end of the run
  kCosine,  ///< half a cosine wave down to zero
};

/// The factor on the learning rate after `done` of `total` updates: 1 at the start.
double schedule_factor(Schedule schedule, std::uint64_t done, std::uint64_t total);

/// How far training has come, and how long its step is.
struct Pace {
  std::uint64_t update = 0;
  double rate = 0.0;
};

/// velocity <- momentum velocity + gradient;  parameters <- parameters + rate velocity.
struct Sgd {
  double momentum = 0.0;
};

/// Steps in units of the gradient's own size (Kingma and Ba 2015): moving means m of the gradient and s of its square,
/// both corrected for their start at zero;  parameters <- parameters + rate m / (sqrt(s) + smallest).
struct Adam {
  double first = 0.9;     ///< share of m that is kept
  double second = 0.999;  ///< share of s that is kept
  double smallest = 1e-8;
};

using Optimiser = std::variant<Sgd, Adam>;

/// How many numbers it keeps from step to step.
std::size_t memory_of(const Optimiser& optimiser, std::size_t parameters);

/// One step; the velocity is what the optimiser keeps.
void step(const Optimiser& optimiser, Pace pace, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context);

}  // namespace ergodic
