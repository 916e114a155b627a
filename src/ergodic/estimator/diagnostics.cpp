#include "ergodic/estimator/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/estimator/estimate.hpp"

namespace ergodic {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

void require_sound(MatrixView<const double> trace) {
  require(trace.rows() >= 1 && trace.cols() >= kFewestDraws,
          fmt::format("a diagnosis needs at least 1 chain of {} draws; found {} of {}", kFewestDraws, trace.rows(),
                      trace.cols()));
  for (std::size_t chain = 0; chain < trace.rows(); ++chain) {
    for (std::size_t draw = 0; draw < trace.cols(); ++draw) {
      if (std::isfinite(trace(chain, draw))) continue;
      throw NumericError(
          fmt::format("chain {}, draw {}: expected a finite number, found {}", chain, draw, trace(chain, draw)));
    }
  }
}

/// Each chain as two; the middle one of an odd number of draws is left out.
Matrix<double> halves(MatrixView<const double> trace) {
  const std::size_t draws = trace.cols() / 2;
  Matrix<double> out(2 * trace.rows(), draws);
  for (std::size_t chain = 0; chain < trace.rows(); ++chain) {
    const std::span<const double> whole = trace.row(chain);
    std::ranges::copy(whole.first(draws), out.row(2 * chain).begin());
    std::ranges::copy(whole.last(draws), out.row(2 * chain + 1).begin());
  }
  return out;
}

/// Each draw by its rank among all, equal ones sharing their average rank, as a quantile of the normal distribution
/// (Blom 1958).
Matrix<double> rank_normalised(const Matrix<double>& chains) {
  const std::span<const double> values = chains.elements();
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  Matrix<double> out(chains.rows(), chains.cols());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);  // of ranks begin + 1, ..., end
    const double z = normal_quantile((rank - 0.375) / (static_cast<double>(order.size()) + 0.25));
    for (std::size_t k = begin; k < end; ++k) out.elements()[order[k]] = z;
  }
  return out;
}

std::vector<double> sorted(const Matrix<double>& chains) {
  std::vector<double> values(chains.elements().begin(), chains.elements().end());
  std::ranges::sort(values);
  return values;
}

/// Distances from the median: chains that differ in scale alone differ in the location of these.
Matrix<double> folded(const Matrix<double>& chains) {
  const std::vector<double> values = sorted(chains);  // an even number, since chains were halved
  const double median = 0.5 * values[values.size() / 2 - 1] + 0.5 * values[values.size() / 2];
  Matrix<double> out(chains.rows(), chains.cols());
  std::ranges::transform(chains.elements(), out.elements().begin(), [&](double v) { return std::abs(v - median); });
  return out;
}

/// The variance within the chains, and that of all draws.
struct Spread {
  double within = 0.0;
  double total = 0.0;
};

Spread spread_of(const Matrix<double>& chains) {
  std::vector<double> means(chains.rows()), variances(chains.rows());
  for (std::size_t c = 0; c < chains.rows(); ++c) {
    means[c] = mean_of(chains.row(c));
    variances[c] = variance_of(chains.row(c));
  }
  const auto draws = static_cast<double>(chains.cols());
  const double within = mean_of(variances);
  return {within, (draws - 1.0) / draws * within + variance_of(means)};
}

/// NaN if nothing varies, infinity if each chain stays where it is and they differ: 0/0 and x/0.
double r_hat(const Matrix<double>& chains) {
  const Spread spread = spread_of(chains);
  return std::sqrt(spread.total / spread.within);
}

Matrix<double> centred(const Matrix<double>& chains) {
  Matrix<double> out = chains;
  for (std::size_t c = 0; c < chains.rows(); ++c) {
    const double mean = mean_of(chains.row(c));
    for (double& v : out.row(c)) v -= mean;
  }
  return out;
}

/// The mean over the chains; each sum is divided by all draws, so that far lags count less.
double autocovariance(const Matrix<double>& centred, std::size_t lag) {
  double sum = 0.0;
  for (std::size_t c = 0; c < centred.rows(); ++c) {
    const std::span<const double> x = centred.row(c);
    for (std::size_t t = lag; t < x.size(); ++t) sum += x[t - lag] * x[t];
  }
  return sum / static_cast<double>(centred.elements().size());
}

/// 1 + 2 (sum of the autocorrelations), in draws. The sums of neighbouring ones, at lags 2k and 2k + 1, are positive
/// and fall (Geyer 1992): the first that is not positive is noise and ends the sum, and none counts more than the one
/// before. The even lag at the end helps if chains alternate, as does the bound below, from the paper.
double autocorrelation_time(const Matrix<double>& chains) {
  const Spread spread = spread_of(chains);
  if (spread.total == 0.0) return kNoNumber;
  const Matrix<double> deviations = centred(chains);
  const auto correlation = [&](std::size_t lag) {
    return lag == 0 ? 1.0 : 1.0 - (spread.within - autocovariance(deviations, lag)) / spread.total;
  };
  double time = -1.0, least = std::numeric_limits<double>::infinity();
  for (std::size_t lag = 0; lag + 1 < chains.cols(); lag += 2) {
    const double even = correlation(lag), pair = even + correlation(lag + 1);
    if (pair <= 0.0) {
      time += std::max(even, 0.0);
      break;
    }
    least = std::min(least, pair);
    time += 2.0 * least;
  }
  const double log10_draws = portable_log(static_cast<double>(chains.elements().size())) / portable_log(10.0);
  return std::max(time, 1.0 / log10_draws);
}

double effective_draws(const Matrix<double>& chains) {
  return static_cast<double>(chains.elements().size()) / autocorrelation_time(chains);
}

/// Effective draws of being in the lower or in the upper twentieth of all draws, the fewer. With many equal draws one
/// of the two may hold all of them and tell nothing; only in a constant trace do both.
double tail_effective_draws(const Matrix<double>& chains) {
  const std::vector<double> values = sorted(chains);
  const std::size_t twentieth = (values.size() - 1) / 20;
  const double low = values[twentieth], high = values[values.size() - 1 - twentieth];
  Matrix<double> lower(chains.rows(), chains.cols()), upper(chains.rows(), chains.cols());
  for (std::size_t k = 0; k < values.size(); ++k) {
    lower.elements()[k] = chains.elements()[k] <= low ? 1.0 : 0.0;
    upper.elements()[k] = chains.elements()[k] >= high ? 1.0 : 0.0;
  }
  return std::fmin(effective_draws(lower), effective_draws(upper));  // of a number and NaN, the number
}

}  // namespace

Diagnosis diagnose(MatrixView<const double> trace) {
  require_sound(trace);
  const Matrix<double> chains = halves(trace);
  const Matrix<double> ranks = rank_normalised(chains);
  Diagnosis out;
  out.mean = mean_of(trace.elements());
  out.autocorrelation_time = autocorrelation_time(chains);
  const auto draws = static_cast<double>(trace.elements().size());
  out.standard_error = std::sqrt(variance_of(trace.elements()) * out.autocorrelation_time / draws);
  // Two values, half of the draws each, are equally far from their median: then only location is left.
  out.r_hat = std::fmax(r_hat(ranks), r_hat(rank_normalised(folded(chains))));
  out.ess_bulk = effective_draws(ranks);
  out.ess_tail = tail_effective_draws(chains);
  return out;
}

Verdict verdict_on(const Diagnosis& diagnosis) {
  if (std::isnan(diagnosis.r_hat)) return {Mixing::kUnknown, "every draw is the same"};
  std::vector<std::string> reasons;
  if (!(diagnosis.r_hat < kLargestRHat)) {
    reasons.push_back(
        fmt::format("the chains disagree (R-hat {:.3f}, should be below {})", diagnosis.r_hat, kLargestRHat));
  }
  const auto expect_many = [&](const char* what, const char* name, double found) {
    if (found > kFewestEffectiveDraws) return;
    reasons.push_back(fmt::format("{} ({} {:.0f}, should be above {})", what, name, found, kFewestEffectiveDraws));
  };
  expect_many("too few independent draws", "bulk ESS", diagnosis.ess_bulk);
  expect_many("too few independent draws of extremes", "tail ESS", diagnosis.ess_tail);
  if (reasons.empty()) return {Mixing::kYes, ""};
  return {Mixing::kNo, fmt::format("{}", fmt::join(reasons, ", "))};
}

}  // namespace ergodic
