// A step of any optimiser along a conditioned gradient (centring.hpp).
//
// The biases of the plain machine follow its weights, so that the units' means stay. An optimiser that does not just
// multiply its gradient would undo that. So it sees the parameters of the centred machine,
//   W,   b + W lambda,   c + W' mu,
// and its change of these is brought back: db <- db - dW lambda, dc <- dc - dW' mu. For Sgd that is the same.
#pragma once

#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

class CentredStep {
 public:
  /// The gradient of so many parameters of the plain machine, to be filled in before a step.
  std::span<float> gradient(std::size_t parameters);

  /// Steps the parameters of a restricted Boltzmann machine, mu and lambda being its offsets.
  void step(const Optimiser& optimiser, StepSize size, std::span<const double> mu, std::span<const double> lambda,
            std::span<float> velocity, Parameters& parameters, const Context& context);

 private:
  void shift_biases(float sign, const Parameters& layout, const Context& context);

  std::vector<float> gradient_, mu_, lambda_;
};

}  // namespace ergodic
