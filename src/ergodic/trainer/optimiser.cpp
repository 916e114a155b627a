#include "ergodic/trainer/optimiser.hpp"

#include <cassert>
#include <cmath>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kBlock = 16384;

/// What the weights of a moving mean that started at zero add up to after this update, counted from 0.
double known_share(double kept, std::uint64_t update) {
  return 1.0 - portable_exp(static_cast<double>(update + 1) * portable_log(kept));
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

std::size_t memory_of(const Optimiser& optimiser, std::size_t parameters) {
  return std::holds_alternative<Adam>(optimiser) ? 2 * parameters : parameters;
}

void step(const Optimiser& optimiser, Pace pace, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context) {
  assert(gradient.size() == parameters.values().size() && velocity.size() == memory_of(optimiser, gradient.size()));
  float* values = parameters.values().data();
  const auto for_parameters = [&](const auto& move) {
    context.for_blocks(gradient.size(), kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) values[k] = static_cast<float>(values[k] + pace.rate * move(k));
    });
  };
  if (const auto* sgd = std::get_if<Sgd>(&optimiser)) {
    return for_parameters([&](std::size_t k) {
      const double change = sgd->momentum * velocity[k] + gradient[k];
      velocity[k] = static_cast<float>(change);
      return change;
    });
  }
  const Adam& adam = std::get<Adam>(optimiser);
  const std::span<float> squares = velocity.subspan(gradient.size());
  const double first = known_share(adam.first, pace.update), second = known_share(adam.second, pace.update);
  for_parameters([&](std::size_t k) {
    const double g = gradient[k];
    velocity[k] = static_cast<float>(adam.first * velocity[k] + (1.0 - adam.first) * g);
    squares[k] = static_cast<float>(adam.second * squares[k] + (1.0 - adam.second) * g * g);
    return velocity[k] / first / (std::sqrt(squares[k] / second) + adam.smallest);
  });
}

}  // namespace ergodic
