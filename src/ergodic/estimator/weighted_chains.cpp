#include "ergodic/estimator/weighted_chains.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/sampler/population.hpp"

namespace ergodic {
namespace {

constexpr double kUneven = 0.5;  // effective share of the chains below which they are drawn anew

/// Weights as shares of the largest, which is factored out.
struct Scaled {
  double log_largest;
  std::vector<double> weights;
  double sum = 0.0;

  explicit Scaled(std::span<const double> logs) : log_largest(*std::ranges::max_element(logs)) {
    double all = 0.0;
    for (const double log : logs) {
      weights.push_back(portable_exp(log - log_largest));
      sum += weights.back();
      all += log;
    }
    if (!std::isfinite(all)) {  // a weight of zero, too, says that an energy is infinite
      throw NumericError("the weights of annealing are not finite: an energy on the way is infinite, or not a number");
    }
  }
  double log_mean() const { return log_largest + portable_log(sum / static_cast<double>(weights.size())); }
};

double sum_of_squares(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

}  // namespace

WeightedChains::WeightedChains(std::size_t count) : logs_(count), families_(count) {
  std::iota(families_.begin(), families_.end(), std::size_t{0});
}

void WeightedChains::add(std::span<const double> logs) {
  for (std::size_t r = 0; r < logs_.size(); ++r) logs_[r] += logs[r];
}

void WeightedChains::even_out(Chains& chains, const Draw& draw) {
  const Scaled now(logs_);
  const double effective = now.sum * now.sum / sum_of_squares(now.weights);
  if (effective >= kUneven * static_cast<double>(logs_.size())) return;
  log_mean_ += now.log_mean();
  variance_ += variance_of(logs_);
  draw_by_weight(logs_, draw.uniform(0, 0), chains, families_);
  std::ranges::fill(logs_, 0.0);
}

AnnealedSide WeightedChains::found() const {
  const Scaled now(logs_);
  std::vector<double> of_family(logs_.size());
  for (std::size_t r = 0; r < logs_.size(); ++r) of_family[families_[r]] += now.weights[r];
  const double squares = sum_of_squares(of_family), all = now.sum * now.sum;
  const auto count = static_cast<double>(logs_.size());
  // How far the weights of families are spread about their mean, as a share of it.
  const double spread = std::max(squares / all * count - 1.0, 0.0);
  return {log_mean_ + now.log_mean(), std::sqrt(spread / (count - 1.0)), all / squares, variance_ + variance_of(logs_)};
}

}  // namespace ergodic
