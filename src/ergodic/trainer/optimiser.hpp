// Stochastic gradient ascent with momentum, weight decay, and a rate that falls as training goes on.
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
  double l1 = 0.0;  ///< penalty l1 * sum |w| on the weights, not on the biases
  double l2 = 0.0;  ///< penalty l2/2 * sum w^2, likewise
};

/// velocity <- momentum velocity + gradient - decay;  parameters <- parameters + rate velocity.
void step(const Sgd& sgd, double rate, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context);

}  // namespace ergodic
