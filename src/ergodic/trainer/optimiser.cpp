#include "ergodic/trainer/optimiser.hpp"

#include <cassert>
#include <cmath>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kBlock = 16384;

template <class Real>
void step_in(const Optimiser& optimiser, StepSize size, std::span<const Real> gradient, std::span<float> velocity,
             Parameters& parameters, const Context& context) {
  assert(gradient.size() == parameters.values().size() && velocity.size() == memory_of(optimiser, gradient.size()));
  float* values = parameters.values().data();
  const auto rate = static_cast<Real>(size.rate);
  std::visit(
      [&](const auto& chosen) {
        const auto change = chosen.changes(size, velocity);
        context.for_blocks(gradient.size(), kBlock, [&](std::size_t begin, std::size_t end) {
          for (std::size_t k = begin; k < end; ++k) {
            values[k] = static_cast<float>(values[k] + rate * change(k, gradient[k]));
          }
        });
      },
      optimiser);
}

}  // namespace

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

double Adam::known_share(double kept, std::uint64_t update) {
  return 1.0 - portable_exp(static_cast<double>(update + 1) * portable_log(kept));
}

std::size_t memory_of(const Optimiser& optimiser, std::size_t parameters) {
  return parameters * std::visit([](const auto& chosen) { return chosen.kMemory; }, optimiser);
}

void step(const Optimiser& optimiser, StepSize size, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context) {
  step_in(optimiser, size, gradient, velocity, parameters, context);
}

void step(const Optimiser& optimiser, StepSize size, std::span<const float> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context) {
  step_in(optimiser, size, gradient, velocity, parameters, context);
}

}  // namespace ergodic
