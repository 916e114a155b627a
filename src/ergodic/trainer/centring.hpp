// The conditioned gradient: what makes the same learning rate good for any units and any data.
//
// Centring (Montavon and Mueller 2012; Melchior, Fischer and Wiskott 2016): the gradient is taken in the machine
//   E = -(x - mu)'W(v - lambda) - b'x - c'v
// and expressed in the parameters of the plain one. With mu and lambda near the means of x and v, training no longer
// depends on whether a unit is mostly on or mostly off, and reaches a far better likelihood.
//
// Weight decay pulls the weights of that machine to zero, while its biases, and with them the units' means, stay.
//
// Units: a +-1 unit is a {0,1} unit with a gap of 2 and all parameters rewritten. Each slot's step is divided by the
// square of its units' gaps, so that both learn exactly alike. Real units have gaps in proportion to the standard
// deviations of the data, so that it does not matter in what units they were measured. Steps along the leading
// principal directions are shortened by the variance there; otherwise those directions would limit the learning rate
// for all others.
//
// Precision (Cho, Ilin and Raiko 2011): where the precision of a real visible unit changes, its bias and weights change
// in proportion, so that its mean given the hidden layer stays; what is learned is the noise alone. Units that are
// seldom far out, and then very far, take shorter steps: else one such row would undo what all others say. The scale of
// real hidden units is free, so their precision stays as it is.
#pragma once

#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// What penalties on hidden units as a whole come to at this step (hidden_penalties.hpp).
struct HiddenPull {
  std::span<const double> l1 = {};    ///< of the weights of each unit, beside that of all; empty: none
  std::span<const double> bias = {};  ///< what is added to the gradient of its bias; empty: none
};

struct Decay {
  double l1 = 0.0;  ///< penalty l1 * sum |w|, w as between {0,1} units
  double l2 = 0.0;  ///< penalty l2/2 * sum w^2
  HiddenPull hidden = {};

  bool pulls_weights() const { return l1 != 0.0 || l2 != 0.0 || !hidden.l1.empty(); }
  /// The l1 of the weights of a hidden unit.
  double l1_of(std::size_t unit) const { return hidden.l1.empty() ? l1 : l1 + hidden.l1[unit]; }
};

/// The gap of the units of a layer, as far as it does not depend on data.
double gap_of(const Layer& layer);

/// The gap of each unit.
struct Gaps {
  std::vector<double> visible, hidden;
  std::vector<double> precision;  ///< share of a full step that the log precision of a real visible unit takes
  Matrix<double> directions;      ///< of real visible units in terms of their gaps, along which steps are shorter
  std::vector<double> shortened;  ///< by this share of them
};
/// The gaps of a machine, given the data that it will learn if its visible units are real.
Gaps gaps_of(const Rbm& model, const Dataset& data);

/// Turns the plain gradient (data statistics minus model statistics) into the conditioned one, in place, with gaps g of
/// the visible and h of the hidden units:
///   dW <- (dW - mu dc' - db lambda') / (g h)^2 - l2 W - l1 sign(W) / (g h),
///   db <- db / g^2 - dW lambda,   dc <- dc / h^2 - dW' mu + that of a hidden pull,
/// where with directions u each step d of a column of W, or of b, has lost s u (u' g d) / g before decay;
/// and, with z the log of a visible unit's precision,
///   dz <- dz + b db + W dW' (those of the plain gradient),   db <- db + b dz,   dW <- dW + W dz.
void condition(const Rbm& model, const Gaps& gaps, std::span<const double> mu, std::span<const double> lambda,
               const Decay& decay, Statistics& gradient, const Context& context);

}  // namespace ergodic
