#include "ergodic/trainer/optimiser.hpp"

#include <cassert>

#include "ergodic/core/elementary.hpp"

namespace ergodic {

double schedule_factor(Schedule schedule, std::uint64_t done, std::uint64_t total) {
  const double t = static_cast<double>(done) / static_cast<double>(total);
  switch (schedule) {
    case Schedule::kConstant:
      return 1.0;
    case Schedule::kLinear:
      return 1.0 - t;
    case Schedule::kCosine:
      return 0.5 * (1.0 + cos_pi(t));
  }
  return 1.0;
}

void step(const Sgd& sgd, double rate, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context) {
  assert(gradient.size() == velocity.size() && gradient.size() == parameters.values().size());
  float* values = parameters.values().data();
  constexpr std::size_t kBlock = 16384;
  context.for_blocks(gradient.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const double change = sgd.momentum * velocity[k] + gradient[k];
      velocity[k] = static_cast<float>(change);
      values[k] = static_cast<float>(values[k] + rate * change);
    }
  });
}

}  // namespace ergodic
