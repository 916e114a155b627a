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
  const std::span<float> values = parameters.values();
  const Slot& weights = parameters.slot("weights");
  constexpr std::size_t kBlock = 16384;
  context.for_blocks(values.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const bool decays = k - weights.offset < weights.size;
      const double value = values[k];
      const double sign = value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
      const double decay = decays ? sgd.l2 * value + sgd.l1 * sign : 0.0;
      const double change = sgd.momentum * velocity[k] + gradient[k] - decay;
      velocity[k] = static_cast<float>(change);
      values[k] = static_cast<float>(value + rate * change);
    }
  });
}

}  // namespace ergodic
