// Estimate: a number with its error. Likelihoods come as a bracket.
#pragma once

#include <span>
#include <string>

namespace ergodic {

struct Estimate {
  double value = 0.0;
  double lower = 0.0;  ///< the bracket; equal to the value where it is exact
  double upper = 0.0;
  double standard_error = 0.0;
  std::string method;
};

struct Mean {
  double value = 0.0;
  double standard_error = 0.0;
};

/// The mean of independent numbers.
Mean mean_with_error(std::span<const double> values);

/// The mean as an offset from the first value: exact if all values are the same, so that these have no spread.
double mean_of(std::span<const double> values);
/// The variance of the distribution that these are independent draws of, at least two.
double variance_of(std::span<const double> values);

inline Estimate exactly(double value) { return {value, value, value, 0.0, "exact"}; }

}  // namespace ergodic
