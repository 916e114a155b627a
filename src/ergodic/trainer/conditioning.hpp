// The conditioned gradient: what makes the same learning rate good for any units and any data.
//
// Centring (Montavon and Mueller 2012; Melchior, Fischer and Wiskott 2016): the gradient is taken in the machine
//   E = -(x - mu)'W(v - lambda) - b'x - c'v
// and expressed in the parameters of the plain one. With mu and lambda near the means of x and v, training no longer
// depends on whether a unit is mostly on or mostly off, and reaches a far better likelihood.
//
// Units: a +-1 unit is a {0,1} unit with a gap of 2 and all parameters rewritten. Each slot's step is divided by the
// square of its units' gaps, so that both learn exactly alike.
#pragma once

#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// Turns the plain gradient (data statistics minus model statistics) into the conditioned one, in place, with gaps g of
/// the visible and h of the hidden units:
///   dW <- (dW - mu dc' - db lambda') / (g h)^2,   db <- db / g^2 - dW lambda,   dc <- dc / h^2 - dW' mu.
void condition(const Rbm& model, std::span<const double> mu, std::span<const double> lambda, Statistics& gradient,
               const Context& context);

}  // namespace ergodic
