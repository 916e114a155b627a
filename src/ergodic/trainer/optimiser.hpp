// Optimisers, and a rate that falls as training goes on.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/trainer/orthogonal.hpp"

namespace ergodic {

enum class Schedule {
  kConstant,
  kLinear,  ///< straight down to zero at the end of the run
  kCosine,  ///< half a cosine wave down to zero
};

/// The factor on the learning rate after `done` of `total` updates: 1 at the start.
double schedule_factor(Schedule schedule, std::uint64_t done, std::uint64_t total);

/// How far training has come, and how long its step is.
struct StepSize {
  std::uint64_t update = 0;
  double rate = 0.0;
};

/// velocity <- momentum velocity + gradient;  parameters <- parameters + rate velocity.
struct Sgd {
  static constexpr std::size_t kMemory = 1;  ///< numbers kept for each parameter
  double momentum = 0.0;

  /// A function of k and g: the change of parameter k by the gradient g, up to the rate, in the precision of g.
  auto changes(StepSize, std::span<float> velocity) const {
    return [momentum = momentum, velocity]<class Real>(std::size_t k, Real g) {
      const Real change = static_cast<Real>(momentum) * velocity[k] + g;
      velocity[k] = static_cast<float>(change);
      return change;
    };
  }
};

/// Steps in units of the gradient's own size (Kingma and Ba 2015): moving means m of the gradient and s of its square,
/// both corrected for their start at zero;  parameters <- parameters + rate m / (sqrt(s) + smallest).
struct Adam {
  static constexpr std::size_t kMemory = 2;
  double first = 0.9;     ///< share of m that is kept
  double second = 0.999;  ///< share of s that is kept
  double smallest = 1e-8;

  auto changes(StepSize size, std::span<float> velocity) const {
    const double known_mean = known_share(first, size.update), known_square = known_share(second, size.update);
    return [*this, known_mean, known_square, velocity]<class Real>(std::size_t k, Real g) {
      const auto real = [](double value) { return static_cast<Real>(value); };
      float &mean = velocity[k], &square = velocity[velocity.size() / 2 + k];
      mean = static_cast<float>(real(first) * mean + real(1.0 - first) * g);
      square = static_cast<float>(real(second) * square + real(1.0 - second) * g * g);
      return mean / real(known_mean) / (std::sqrt(square / real(known_square)) + real(smallest));
    };
  }

 private:
  /// What the weights of a moving mean that started at zero add up to after this update, counted from 0.
  static double known_share(double kept, std::uint64_t update);
};

/// Steps of the same length along all directions of a matrix of parameters (stochastic spectral descent, Carlson,
/// Cevher and Carin 2015; with momentum, Jordan and others 2024): the singular values of its velocity become one. A
/// vector is a matrix of one column, so that its step has length one.
struct Spectral {
  static constexpr std::size_t kMemory = 1;
  double momentum = 0.95;

  auto changes(StepSize size, std::span<float> velocity) const { return Sgd{momentum}.changes(size, velocity); }
  static void finish(MatrixView<float> changes, const Context& context) { orthogonalise(changes, context); }
};

/// The list: an optimiser is one struct and one entry here. One that looks at matrices has a function `finish` besides,
/// which makes the change of each parameter array of what `changes` found for its elements.
using Optimiser = std::variant<Sgd, Adam, Spectral>;

/// How many numbers it keeps from step to step.
std::size_t memory_of(const Optimiser& optimiser, std::size_t parameters);

/// Turns a gradient into the change of parameters of this layout, up to the rate.
void find_change(const Optimiser& optimiser, StepSize size, const Parameters& layout, std::span<float> gradient,
                 std::span<float> velocity, const Context& context);

/// One step; the velocity is what the optimiser keeps.
void step(const Optimiser& optimiser, StepSize size, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context);
/// The same in float.
void step(const Optimiser& optimiser, StepSize size, std::span<const float> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context);

}  // namespace ergodic
