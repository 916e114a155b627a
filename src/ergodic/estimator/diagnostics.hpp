// Have Markov chains mixed, and how much do their draws know? From the trace of one number along several chains, by
// Vehtari, Gelman, Simpson, Carpenter and Buerkner (Bayesian Analysis 16, 2021).
//
// Every chain is cut into halves, so that a chain that still drifts disagrees with itself. R-hat compares the spread of
// all draws with the spread within a half; a number of effective draws (ESS) is the number of independent draws that
// would know the mean as well. Both are taken of ranks, which heavy tails cannot upset.
#pragma once

#include <cstddef>
#include <string>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

/// NaN stands for what a trace does not tell: all but the mean, if every draw is the same.
struct Diagnosis {
  double mean = 0.0;
  double standard_error = 0.0;        ///< of the mean, from the spread and the correlation of the draws
  double r_hat = 0.0;                 ///< 1 if the halves agree; of location or of scale, whichever is worse
  double ess_bulk = 0.0;              ///< effective draws for the middle of the distribution
  double ess_tail = 0.0;              ///< effective draws of its 5 % and 95 % quantiles, whichever has fewer
  double autocorrelation_time = 0.0;  ///< draws that know as much of the mean as a single independent one
};

/// Fewer draws than this have halves without a spread.
constexpr std::size_t kFewestDraws = 4;

/// A row of the trace is a chain, a column a draw. UsageError if there are too few draws, NumericError if one is not
/// finite. Takes time in proportion to the draws and to the lags over which they are correlated.
Diagnosis diagnose(MatrixView<const double> trace);

enum class Mixing { kYes, kNo, kUnknown };

struct Verdict {
  Mixing mixing = Mixing::kUnknown;
  std::string reason;  ///< in plain words; empty if the chains have mixed
};

/// The thresholds of the paper: R-hat below, both ESS above.
constexpr double kLargestRHat = 1.01;
constexpr double kFewestEffectiveDraws = 400.0;

/// Holds a diagnosis to the thresholds.
Verdict verdict_on(const Diagnosis& diagnosis);

}  // namespace ergodic
