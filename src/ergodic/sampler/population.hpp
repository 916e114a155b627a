// Chains by weight (Hukushima and Iba 2003: population annealing). When a machine changes, chains of the old one stand
// for the new one if each counts exp(E_old - E_new); drawn anew by these weights, they count alike again.
#pragma once

#include <cstddef>
#include <span>

#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// Draws as many chains as there are, each as often as its share of the weights says, rounded up or down (systematic
/// sampling, by one uniform number). Those that stay keep their rows, and the rows of the others become copies, which
/// take the families of their chains along, if there are such. Returns the effective share, (mean weight)^2 / mean
/// squared weight. NumericError if a weight is NaN.
double draw_by_weight(std::span<const double> log_weights, double uniform, Chains& chains,
                      std::span<std::size_t> families = {});

}  // namespace ergodic
