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

/// The sum of log(1 + e^(to x)) - log(1 + e^(from x)). Small steps are taken in float, by the derivatives in their
/// middle, with a relative error below 1e-6 of what the terms change by. Errors of many steps do not add up.
double softplus_change(std::span<const double> x, double from, double to);

}  // namespace ergodic
