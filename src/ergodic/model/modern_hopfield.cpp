#include "ergodic/model/modern_hopfield.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr double kStill = 0x1p-20;  // a unit that moves less has arrived

double dot(std::span<const float> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The weights softmax(beta X'x), and the log of the sum that normalises them.
struct Attention {
  std::vector<double> weights;
  double log_sum;
};

Attention attention(const Matrix<float>& patterns, double beta, std::span<const double> x) {
  std::vector<double> weights(patterns.rows());
  for (std::size_t p = 0; p < weights.size(); ++p) weights[p] = beta * dot(patterns.row(p), x);
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0.0;
  for (double& weight : weights) sum += weight = portable_exp(weight - largest);
  for (double& weight : weights) weight /= sum;
  return {std::move(weights), largest + portable_log(sum)};
}

std::vector<double> wide(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

std::optional<std::string> flaw_in_patterns(MatrixView<const float> patterns, float beta) {
  if (patterns.rows() == 0 || patterns.cols() == 0) {
    return fmt::format("patterns: expected at least one pattern of one unit, found {} x {}", patterns.rows(),
                       patterns.cols());
  }
  for (std::size_t p = 0; p < patterns.rows(); ++p) {
    for (std::size_t i = 0; i < patterns.cols(); ++i) {
      if (std::isfinite(patterns(p, i))) continue;
      return fmt::format("patterns: element ({}, {}) is {}, expected a finite number", p, i, patterns(p, i));
    }
  }
  if (!(beta > 0.0f) || !std::isfinite(beta)) {
    return fmt::format("beta: expected a finite number above zero, found {}", beta);
  }
  return std::nullopt;
}

ModernHopfield::ModernHopfield(Matrix<float> patterns, float beta) : patterns_(std::move(patterns)), beta_(beta) {
  if (const auto flaw = flaw_in_patterns(patterns_, beta_)) throw UsageError(*flaw);
  for (std::size_t p = 0; p < patterns_.rows(); ++p) {
    const std::vector<double> pattern = wide(std::as_const(patterns_).row(p));
    longest_squared_ = std::max(longest_squared_, dot(std::as_const(patterns_).row(p), pattern));
  }
}

double ModernHopfield::energy_from(double log_sum, std::span<const double> x) const {
  double squares = 0.0;
  for (const double value : x) squares += value * value;
  const double log_count = portable_log(static_cast<double>(patterns_.rows()));
  return (log_count - log_sum) / beta_ + 0.5 * (squares + longest_squared_);
}

double ModernHopfield::energy(std::span<const double> x) const {
  return energy_from(attention(patterns_, beta_, x).log_sum, x);
}

double ModernHopfield::update(std::span<double> x) const {
  assert(x.size() == units());
  const Attention found = attention(patterns_, beta_, x);
  const double before = energy_from(found.log_sum, x);
  std::fill(x.begin(), x.end(), 0.0);
  for (std::size_t p = 0; p < patterns_.rows(); ++p) {
    const std::span<const float> pattern = patterns_.row(p);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += found.weights[p] * pattern[i];
  }
  return before;
}

ModernRecalled recall(const ModernHopfield& network, MatrixView<const float> rows, std::uint64_t sweeps,
                      const Context& context) {
  assert(rows.cols() == network.units());
  ModernRecalled out{Matrix<float>(rows.rows(), rows.cols()), std::vector<RecallPath>(rows.rows())};
  context.for_blocks(rows.rows(), 1, [&](std::size_t r, std::size_t) {
    std::vector<double> x = wide(rows.row(r)), before(x.size());
    RecallPath& path = out.paths[r];
    for (std::uint64_t s = 0; s < sweeps && path.ending == Ending::kLimit; ++s) {
      before = x;
      path.energies.push_back(network.update(x));
      double largest = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - before[i]));
      if (largest <= kStill) path.ending = Ending::kAtRest;
    }
    path.energies.push_back(network.energy(x));
    for (std::size_t i = 0; i < x.size(); ++i) out.rows(r, i) = static_cast<float>(x[i]);
  });
  return out;
}

std::size_t count_stable(const ModernHopfield& network, MatrixView<const float> rows, const Context& context) {
  const ModernRecalled after = recall(network, rows, 1, context);
  std::size_t stable = 0;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    bool same = true;
    for (std::size_t i = 0; i < rows.cols(); ++i) same = same && (after.rows(r, i) > 0.0f) == (rows(r, i) > 0.0f);
    stable += same ? 1 : 0;
  }
  return stable;
}

}  // namespace ergodic
