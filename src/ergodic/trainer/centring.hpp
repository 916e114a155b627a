// The centred gradient (Montavon and Mueller 2012; Melchior, Fischer and Wiskott 2016): the gradient of the machine
//   E = -(x - mu)'W(v - lambda) - b'x - c'v
// expressed in the parameters of the plain one. With mu and lambda near the means of x and v, training no longer
// depends on whether a unit is mostly on or mostly off, and reaches a far better likelihood.
#pragma once

#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// Turns the plain gradient (data statistics minus model statistics) into the centred one, in place:
///   dW <- dW - mu dc' - db lambda',   db <- db - dW lambda,   dc <- dc - dW' mu.
void centre(const Rbm& model, std::span<const double> mu, std::span<const double> lambda, Statistics& gradient,
            const Context& context);

}  // namespace ergodic
