// Stochastic gradient ascent with momentum, and a rate that falls as training goes on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

struct Sgd {
  double momentum = 0.0;
};

/// velocity <- momentum velocity + gradient;  parameters <- parameters + rate velocity.
void step(const Sgd& sgd, double rate, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context);

}  // namespace ergodic
