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
  constexpr std::size_t kBlock = 16384;
  for (const Slot& slot : parameters.slots()) {
    const bool decays = slot.name == "weights";
    const double l1 = decays ? sgd.l1 : 0.0, l2 = decays ? sgd.l2 : 0.0;
    float* values = parameters.values().data() + slot.offset;
    float* velocities = velocity.data() + slot.offset;
    const double* slopes = gradient.data() + slot.offset;
    context.for_blocks(slot.size, kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const double value = values[k];
        const double sign = static_cast<double>(value > 0.0) - static_cast<double>(value < 0.0);
        const double change = sgd.momentum * velocities[k] + slopes[k] - (l2 * value + l1 * sign);
        velocities[k] = static_cast<float>(change);
        values[k] = static_cast<float>(value + rate * change);
      }
    });
  }
}

}  // namespace ergodic
