#include "ergodic/estimator/correlations.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>

namespace ergodic {
namespace {

constexpr std::size_t kPairsAtOnce = 4096;
constexpr std::uint8_t kPairStream = 1;  // of splitting: stream 0 sets rows apart

/// The site that each unit belongs to.
std::vector<Site> site_of_units(const Layer& layer) {
  std::vector<Site> out;
  for (const Site& site : sites(layer)) out.insert(out.end(), site.size, site);
  return out;
}

std::vector<UnitPair> all_pairs(const std::vector<Site>& site_of) {
  std::vector<UnitPair> out;
  for (std::size_t i = 0; i < site_of.size(); ++i) {
    for (std::size_t j = site_of[i].first + site_of[i].size; j < site_of.size(); ++j) {
      out.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
    }
  }
  return out;
}

/// Rows [begin, end) turned: a row of the result is a unit.
Bits turned(const Bits& bits, std::size_t begin, std::size_t end) {
  Bits out(bits.cols(), end - begin);
  for (std::size_t r = begin; r < end; ++r) {
    for_each_set(bits.row(r), [&](std::size_t unit) { out.set(unit, r - begin, true); });
  }
  return out;
}

Matrix<float> turned(const Matrix<float>& values, std::size_t begin, std::size_t end) {
  Matrix<float> out(values.cols(), end - begin);
  for (std::size_t r = begin; r < end; ++r) {
    for (std::size_t i = 0; i < values.cols(); ++i) out(i, r - begin) = values(r, i);
  }
  return out;
}

/// The sum of x y over rows, by weights if there are any.
double product(std::span<const std::uint64_t> x, std::span<const std::uint64_t> y, std::span<const double> weights) {
  double sum = 0.0;
  if (weights.empty()) {
    std::size_t both = 0;
    for (std::size_t w = 0; w < x.size(); ++w) both += static_cast<std::size_t>(std::popcount(x[w] & y[w]));
    return static_cast<double>(both);
  }
  for (std::size_t w = 0; w < x.size(); ++w) {
    const std::uint64_t both[] = {x[w] & y[w]};
    for_each_set(both, [&](std::size_t bit) { sum += weights[w * Bits::kWordBits + bit]; });
  }
  return sum;
}

double product(std::span<const float> x, std::span<const float> y, std::span<const double> weights) {
  double sum = 0.0;
  for (std::size_t r = 0; r < x.size(); ++r) sum += (weights.empty() ? 1.0 : weights[r]) * (double{x[r]} * y[r]);
  return sum;
}

double unit_sum(std::span<const std::uint64_t> x, std::span<const double> weights) { return product(x, x, weights); }

double unit_sum(std::span<const float> x, std::span<const double> weights) {
  double sum = 0.0;
  for (std::size_t r = 0; r < x.size(); ++r) sum += (weights.empty() ? 1.0 : weights[r]) * x[r];
  return sum;
}

struct Fit {
  double correlation = 0.0, slope = 0.0;
};

Fit fit(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0.0, mean_y = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) mean_x += x[k] / n, mean_y += y[k] / n;
  double xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double dx = x[k] - mean_x, dy = y[k] - mean_y;
    xx += dx * dx, xy += dx * dy, yy += dy * dy;
  }
  return {xy / std::sqrt(xx * yy), xy / xx};
}

using Numbers = std::function<std::vector<double>(const PairSums&)>;

/// The standard error of what was found once for each group that was left out.
double jackknife_error(const std::vector<Fit>& left_out, double Fit::*number) {
  const auto n = static_cast<double>(left_out.size());
  double mean = 0.0, squares = 0.0;
  for (const Fit& f : left_out) mean += f.*number / n;
  for (const Fit& f : left_out) squares += (f.*number - mean) * (f.*number - mean);
  return std::sqrt(squares * (n - 1.0) / n);
}

PairSums sum_of(std::span<const PairSums> groups) {
  PairSums out = groups.front();
  for (const PairSums& group : groups.subspan(1)) out.add(group);
  return out;
}

/// How well infinitely many samples would be correlated with these, from the correlation of one half with the other
/// (Spearman and Brown 1910).
double ceiling_of(std::span<const PairSums> groups, const Numbers& numbers) {
  const std::size_t half = groups.size() / 2;
  const double r = fit(numbers(sum_of(groups.first(half))), numbers(sum_of(groups.subspan(half)))).correlation;
  return std::sqrt(std::max(0.0, 2.0 * r / (1.0 + r)));
}

Agreement agreement(std::span<const PairSums> groups, const PairSums& data, const Numbers& numbers) {
  const std::vector<double> expected = numbers(data);
  const PairSums all = sum_of(groups);
  std::vector<Fit> left_out;
  for (const PairSums& group : groups) {
    PairSums others = all;
    others.subtract(group);
    left_out.push_back(fit(expected, numbers(others)));
  }
  const Fit whole = fit(expected, numbers(all));
  return {expected.size(),
          whole.correlation,
          jackknife_error(left_out, &Fit::correlation),
          whole.slope,
          jackknife_error(left_out, &Fit::slope),
          ceiling_of(groups, numbers)};
}

}  // namespace

std::vector<UnitPair> choose_pairs(const Layer& layer, std::size_t most, Key key) {
  const std::vector<Site> site_of = site_of_units(layer);
  double twice = 0.0;  // each pair, from both sides
  for (const Site& site : site_of) twice += static_cast<double>(site_of.size() - site.size);
  if (0.5 * twice <= static_cast<double>(most)) return all_pairs(site_of);
  std::vector<UnitPair> out(most);
  const Draw draw = key.at(Purpose::kSplit, 0, kPairStream);
  for (std::uint32_t k = 0; k < most; ++k) {
    const std::size_t i = draw.below(site_of.size(), k, 0);
    const Site& own = site_of[i];
    std::size_t j = draw.below(site_of.size() - own.size, k, 1);
    if (j >= own.first) j += own.size;  // not of the same site
    out[k] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
  }
  return out;
}

void PairSums::add(const State& rows, std::size_t begin, std::size_t end, std::span<const double> weights,
                   const Context& context) {
  assert(rows.units() == units_.size() && end <= rows.chains());
  if (!weights.empty()) weights = weights.subspan(begin, end - begin);
  const auto add_columns = [&](const auto& columns) {
    for (std::size_t i = 0; i < units_.size(); ++i) units_[i] += unit_sum(columns.row(i), weights);
    context.for_blocks(pairs_.size(), kPairsAtOnce, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        products_[k] += product(columns.row(pairs_[k].first), columns.row(pairs_[k].second), weights);
      }
    });
  };
  if (rows.real()) {
    add_columns(turned(rows.reals(), begin, end));
  } else {
    add_columns(turned(rows.bits(), begin, end));
  }
  for (std::size_t r = 0; r < end - begin; ++r) total_ += weights.empty() ? 1.0 : weights[r];
}

void PairSums::add(const PairSums& other, double sign) {
  assert(other.products_.size() == products_.size());
  total_ += sign * other.total_;
  for (std::size_t i = 0; i < units_.size(); ++i) units_[i] += sign * other.units_[i];
  for (std::size_t k = 0; k < products_.size(); ++k) products_[k] += sign * other.products_[k];
}

std::vector<double> PairSums::means() const {
  std::vector<double> out = units_;
  for (double& mean : out) mean /= total_;
  return out;
}

std::vector<double> PairSums::connected() const {
  std::vector<double> out(pairs_.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto [i, j] = pairs_[k];
    out[k] = products_[k] / total_ - units_[i] / total_ * (units_[j] / total_);
  }
  return out;
}

PairSums sums_of(const State& rows, std::span<const double> weights, std::span<const UnitPair> pairs,
                 const Context& context) {
  PairSums out(rows.units(), pairs);
  out.add(rows, 0, rows.chains(), weights, context);
  return out;
}

Comparison compare(std::span<const PairSums> samples, const PairSums& data) {
  assert(samples.size() >= 2);
  return {agreement(samples, data, &PairSums::means), agreement(samples, data, &PairSums::connected)};
}

}  // namespace ergodic
