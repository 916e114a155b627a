// Sums of the logarithms that free energies are made of: the same bits on every instruction set.
//
// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), and many of the latter need one logarithm, that of their product. Term k
// goes into partial sum and product k mod 8, and the eight are added up in one order, so the length of a vector does
// not matter.
#pragma once

#include <span>

namespace ergodic {

/// The sum of log(1 + e^x).
double sum_softplus(std::span<const double> x);

/// The sum of log(e^x + e^-x).
double sum_log_cosh(std::span<const double> x);

}  // namespace ergodic
