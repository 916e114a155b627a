#include "ergodic/data/moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/core/leading_directions.hpp"

namespace ergodic {
namespace {

/// The sum of the weights of the rows in which each unit is known.
std::vector<double> known_rows(const Dataset& data) {
  if (data.complete()) return std::vector<double>(data.units(), data.effective_rows());
  std::vector<double> out(data.units());
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const double weight = data.weights.empty() ? 1.0 : data.weights[r];
    for_each_set(data.known.row(r), [&](std::size_t i) { out[i] += weight; });
  }
  return out;
}

/// The mean of value(row, unit) over the rows in which the unit is known, by their weights, for each unit.
template <class F>
std::vector<double> mean_of_known(const Dataset& data, const F& value) {
  std::vector<double> out(data.units());
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const double weight = data.weights.empty() ? 1.0 : data.weights[r];
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (data.is_known(r, i)) out[i] += weight * value(r, i);
    }
  }
  const std::vector<double> total = known_rows(data);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (total[i] == 0.0) {
      const std::size_t letters = std::max<std::size_t>(data.letters, 1);
      throw DataError(fmt::format("{}: {} has no known value; leave it out", data.name, data.column_text(i / letters)));
    }
    out[i] /= total[i];
  }
  return out;
}

/// The mean over all rows of real data of f(unit, value minus the unit's mean), for each unit.
template <class F>
std::vector<double> mean_about_means(const Dataset& data, const F& f) {
  const std::vector<double> means = unit_means(data);
  return mean_of_known(data, [&](std::size_t r, std::size_t i) { return f(i, data.reals()(r, i) - means[i]); });
}

/// Sums over all rows of each bit times the row's weight (of each share of full grey, for dynamic data).
std::vector<double> weighted_sums(const Dataset& data) {
  std::vector<double> sums(data.units());
  for (std::size_t r = 0; r < data.rows(); ++r) {
    if (!data.dynamic()) {
      for_each_set(data.bits().row(r), [&](std::size_t i) { sums[i] += data.weights[r]; });
      continue;
    }
    const std::span<const Grey> grey = data.grey().row(r);
    for (std::size_t i = 0; i < grey.size(); ++i) sums[i] += data.weights[r] * (grey[i] / double{kFullGrey});
  }
  return sums;
}

/// Sums over all rows of each grey level, a bit that is on being full grey: in integers, so exact.
std::vector<std::uint64_t> grey_sums(const Dataset& data) {
  std::vector<std::uint64_t> sums(data.units());
  for (std::size_t r = 0; r < data.rows(); ++r) {
    if (!data.dynamic()) {
      for_each_set(data.bits().row(r), [&](std::size_t i) { sums[i] += kFullGrey; });
      continue;
    }
    const std::span<const Grey> grey = data.grey().row(r);
    for (std::size_t i = 0; i < grey.size(); ++i) sums[i] += grey[i];
  }
  return sums;
}

}  // namespace

std::vector<double> unit_means(const Dataset& data) {
  if (data.real()) return mean_of_known(data, [&](std::size_t r, std::size_t i) { return data.reals()(r, i); });
  if (!data.complete()) {
    return mean_of_known(data, [&](std::size_t r, std::size_t i) {
      return data.dynamic() ? data.grey()(r, i) / double{kFullGrey} : (data.bits().get(r, i) ? 1.0 : 0.0);
    });
  }
  if (!data.weights.empty()) {
    std::vector<double> means = weighted_sums(data);
    const double total = data.effective_rows();
    for (double& mean : means) mean /= total;
    return means;
  }
  const std::vector<std::uint64_t> sums = grey_sums(data);
  std::vector<double> means(data.units());
  const double total = static_cast<double>(data.rows()) * kFullGrey;
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = static_cast<double>(sums[i]) / total;
  return means;
}

std::vector<double> unit_deviations(const Dataset& data) {
  const std::vector<double> variances =
      mean_about_means(data, [](std::size_t, double difference) { return difference * difference; });
  double total = 0.0;
  for (const double variance : variances) total += variance;
  const double mean = total / static_cast<double>(data.units());
  constexpr double kLeastShare = 0.01;  // of the mean variance
  std::vector<double> out(data.units());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = mean > 0.0 ? std::sqrt(std::max(variances[i], kLeastShare * mean)) : 1.0;
  }
  return out;
}

std::vector<double> unit_kurtoses(const Dataset& data, std::span<const double> deviations) {
  return mean_about_means(data, [&](std::size_t i, double difference) {
    const double square = difference * difference / (deviations[i] * deviations[i]);
    return square * square;
  });
}

double shared_covariance(const Dataset& data) {
  constexpr double kProducts = 1e8;
  const std::size_t units = data.units();
  const auto affordable = static_cast<std::size_t>(std::sqrt(kProducts / static_cast<double>(units)));
  const std::size_t rows = std::min(data.rows(), std::clamp<std::size_t>(affordable, 100, 1000));
  const std::vector<double> means = unit_means(data);
  Matrix<float> values(rows, units);
  std::vector<double> variances(units);
  for (std::size_t k = 0; k < rows; ++k) {
    const std::size_t r = k * data.rows() / rows;
    for (std::size_t i = 0; i < units; ++i) {
      if (!data.is_known(r, i)) continue;
      const double value = data.dynamic() ? data.grey()(r, i) / double{kFullGrey} : (data.bits().get(r, i) ? 1.0 : 0.0);
      values(k, i) = static_cast<float>(value - means[i]);
      variances[i] += double{values(k, i)} * values(k, i) / static_cast<double>(rows);
    }
  }
  // The squares of X'X add up to those of XX', which is smaller.
  double squares = 0.0;
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const double product = std::inner_product(values.row(k).begin(), values.row(k).end(), values.row(l).begin(), 0.0);
      squares += (l < k ? 2.0 : 1.0) * product * product;
    }
  }
  squares /= static_cast<double>(rows) * static_cast<double>(rows);
  const double total = std::accumulate(variances.begin(), variances.end(), 0.0);
  if (rows < data.rows()) squares -= total * total / static_cast<double>(rows);
  for (const double variance : variances) squares -= variance * variance;
  return std::sqrt(std::max(squares, 0.0) / static_cast<double>(units));
}

PrincipalDirections principal_directions(const Dataset& data, std::span<const double> deviations, std::size_t count) {
  constexpr std::size_t kRows = 1000;
  const std::size_t rows = std::min(kRows, data.rows()), units = data.units();
  const std::vector<double> means = unit_means(data), known = known_rows(data);
  const double all = data.effective_rows();
  Matrix<double> values(rows, units);
  for (std::size_t k = 0; k < rows; ++k) {
    const std::size_t r = k * data.rows() / rows;  // from all parts of a file that may be in some order
    for (std::size_t i = 0; i < units; ++i) {
      if (data.is_known(r, i)) values(k, i) = (data.reals()(r, i) - means[i]) / deviations[i] * (all / known[i]);
    }
  }
  LeadingDirections found =
      leading_directions(units, std::min(count, rows), [&](const Matrix<double>& directions, Matrix<double>& out) {
        for (std::size_t r = 0; r < rows; ++r) {
          const std::span<const double> row = values.row(r);
          for (std::size_t k = 0; k < directions.rows(); ++k) {
            const double along = std::inner_product(row.begin(), row.end(), directions.row(k).begin(), 0.0);
            for (std::size_t i = 0; i < units; ++i) out(k, i) += along * row[i];
          }
        }
      });
  PrincipalDirections out{std::move(found.directions), std::move(found.stretches)};
  for (double& variance : out.variances) variance /= static_cast<double>(rows);
  return out;
}

}  // namespace ergodic
