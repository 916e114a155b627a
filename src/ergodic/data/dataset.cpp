#include "ergodic/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/error.hpp"

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
      throw DataError(
          fmt::format("{}: column {} (counted from 0) has no known value; leave it out", data.name, i / letters));
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

constexpr std::uint8_t kWeightedStream = 1;  // of shuffling: stream 0 orders the rows of an epoch

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

/// The same without weights: in integers, so exact.
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

std::span<const std::byte> Dataset::bytes() const {
  if (const auto* bits = std::get_if<Bits>(&values)) return std::as_bytes(bits->words());
  return real() ? std::as_bytes(reals().elements()) : std::as_bytes(grey().elements());
}

std::size_t Dataset::missing() const {
  if (complete()) return 0;
  std::size_t on = 0;
  for (const std::uint64_t word : known.words()) on += static_cast<std::size_t>(std::popcount(word));
  return (rows() * units() - on) / std::max<std::size_t>(letters, 1);
}

void Dataset::set_missing(std::size_t row, std::size_t value) {
  if (complete()) {
    known = Bits(rows(), units());
    for (std::size_t r = 0; r < rows(); ++r) {
      for (std::size_t i = 0; i < units(); ++i) known.set(r, i, true);
    }
  }
  const std::size_t width = std::max<std::size_t>(letters, 1);
  for (std::size_t i = value * width; i < (value + 1) * width; ++i) known.set(row, i, false);
}

double Dataset::effective_rows() const {
  if (weights.empty()) return static_cast<double>(rows());
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

void draw_bits(std::span<const Grey> grey, const Draw& draw, std::uint32_t row, std::span<std::uint64_t> out) {
  std::fill(out.begin(), out.end(), 0);
  Words random{};
  for (std::uint32_t i = 0; i < grey.size(); ++i) {
    if (i % 4 == 0) random = draw.words(row, i / 4);
    const bool on = std::uint64_t{random[i % 4]} * kFullGrey < (std::uint64_t{grey[i]} << 32);
    out[i / Bits::kWordBits] |= std::uint64_t{on} << (i % Bits::kWordBits);
  }
}

Values gather(const Dataset& data, std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch) {
  if (data.real()) {
    Matrix<float> out(rows.size(), data.units());
    gather(data, rows, out);
    return out;
  }
  Bits out(rows.size(), data.units());
  gather(data, rows, key, epoch, out, Context{});
  return out;
}

void gather(const Dataset& data, std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch, Bits& out,
            const Context& context) {
  assert(out.rows() == rows.size() && out.cols() == data.units());
  constexpr std::size_t kRowsAtATime = 64;
  const Draw draw = key.at(Purpose::kBinarise, epoch);
  context.for_blocks(rows.size(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      if (data.dynamic()) {
        draw_bits(data.grey().row(rows[r]), draw, rows[r], out.row(r));
      } else {
        // Rows lie far apart: some are on their way into the cache while others are copied.
        constexpr std::size_t kAhead = 16;
        if (r + kAhead < rows.size()) {
          const auto later = data.bits().row(rows[r + kAhead]);
          for (std::size_t w = 0; w < later.size(); w += kCacheLine / sizeof(later[0])) __builtin_prefetch(&later[w]);
          __builtin_prefetch(&later.back());
        }
        const auto from = data.bits().row(rows[r]);
        std::copy(from.begin(), from.end(), out.row(r).begin());
      }
    }
  });
}

void gather(const Dataset& data, std::span<const std::uint32_t> rows, Matrix<float>& out) {
  assert(out.rows() == rows.size() && out.cols() == data.units());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto from = data.reals().row(rows[r]);
    std::copy(from.begin(), from.end(), out.row(r).begin());
  }
}

void gather_known(const Dataset& data, std::span<const std::uint32_t> rows, Bits& out) {
  assert(out.rows() == rows.size() && out.cols() == data.units());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (data.complete()) {
      for (std::size_t i = 0; i < data.units(); ++i) out.set(r, i, true);
    } else {
      std::ranges::copy(data.known.row(rows[r]), out.row(r).begin());
    }
  }
}

namespace {

DataValues chosen(const Dataset& data, std::span<const std::uint32_t> rows) {
  if (data.dynamic()) {
    Matrix<Grey> out(rows.size(), data.units());
    for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(data.grey().row(rows[r]), out.row(r).begin());
    return out;
  }
  return std::visit([](auto&& values) { return DataValues(std::move(values)); }, gather(data, rows, Key{}, 0));
}

}  // namespace

Dataset select(const Dataset& data, std::span<const std::uint32_t> rows) {
  Dataset out{data.name, chosen(data, rows), data.shape, {}, data.letters};
  if (!data.labels.empty()) {
    for (const std::uint32_t r : rows) out.labels.push_back(data.labels[r]);
  }
  if (!data.weights.empty()) {
    for (const std::uint32_t r : rows) out.weights.push_back(data.weights[r]);
  }
  if (!data.complete()) {
    out.known = Bits(rows.size(), data.units());
    gather_known(data, rows, out.known);
    if (out.missing() == 0) out.known = {};
  }
  return out;
}

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

namespace {

/// Makes the rows orthonormal, one after the other, and says how long each was beside those before it. Rows that were
/// nothing beside them become zero.
std::vector<double> orthonormalise(Matrix<double>& rows) {
  constexpr double kNothing = 1e-9;  // of the longest
  std::vector<double> lengths;
  double longest = 0.0;
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    const std::span<double> row = rows.row(k);
    for (std::size_t l = 0; l < k; ++l) {
      const double along = std::inner_product(row.begin(), row.end(), rows.row(l).begin(), 0.0);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] -= along * rows(l, i);
    }
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    longest = std::max(longest, length);
    for (double& value : row) value = length > kNothing * longest ? value / length : 0.0;
    lengths.push_back(length > kNothing * longest ? length : 0.0);
  }
  return lengths;
}

}  // namespace

Leading leading_directions(const Dataset& data, std::span<const double> deviations, std::size_t count) {
  constexpr std::size_t kRows = 1000, kIterations = 20;
  const std::size_t rows = std::min(kRows, data.rows()), units = data.units();
  const std::vector<double> means = unit_means(data), known = known_rows(data);
  const double all = data.effective_rows();
  Matrix<double> values(rows, units);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < units; ++i) {
      if (data.is_known(r, i)) values(r, i) = (data.reals()(r, i) - means[i]) / deviations[i] * (all / known[i]);
    }
  }
  // Orthogonal iteration, from directions that no data is likely to be orthogonal to.
  Leading out{Matrix<double>(std::min({count, units, rows}), units), {}};
  const Draw draw = Key{}.at(Purpose::kInitialWeights, 0, 1);
  for (std::size_t k = 0; k < out.directions.rows(); ++k) {
    for (std::size_t i = 0; i < units; ++i) {
      out.directions(k, i) = draw.normal(static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i));
    }
  }
  orthonormalise(out.directions);
  for (std::size_t iteration = 0; iteration < kIterations; ++iteration) {
    Matrix<double> next(out.directions.rows(), units);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::span<const double> row = values.row(r);
      for (std::size_t k = 0; k < next.rows(); ++k) {
        const double along = std::inner_product(row.begin(), row.end(), out.directions.row(k).begin(), 0.0);
        for (std::size_t i = 0; i < units; ++i) next(k, i) += along * row[i];
      }
    }
    out.directions = std::move(next);
    out.variances = orthonormalise(out.directions);
  }
  for (double& variance : out.variances) variance /= static_cast<double>(rows);
  return out;
}

std::vector<std::uint32_t> permutation(std::size_t count, const Draw& draw) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[draw.below(i, 0, static_cast<std::uint32_t>(i))]);
  }
  return order;
}

Dataset split_off(Dataset& data, std::size_t count, const Draw& draw) {
  assert(count <= data.rows());
  std::vector<std::uint32_t> order = permutation(data.rows(), draw);
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(order.begin(), cut);
  std::sort(cut, order.end());
  const std::span<const std::uint32_t> all(order);
  Dataset taken = select(data, all.first(count));
  data = select(data, all.subspan(count));
  return taken;
}

Minibatches::Minibatches(std::size_t rows, std::size_t batch, Key key, std::span<const double> weights)
    : rows_(rows), batch_(batch), key_(key), cumulative_(weights.size()) {
  assert(weights.empty() || weights.size() == rows);
  std::partial_sum(weights.begin(), weights.end(), cumulative_.begin());
}

std::span<const std::uint32_t> Minibatches::at(std::uint64_t update) {
  const std::size_t begin = static_cast<std::size_t>(update % per_epoch()) * batch_;
  const std::size_t count = std::min(batch_, rows_ - begin);
  const std::uint64_t epoch = epoch_of(update);
  if (epoch != order_epoch_) {
    order_ = order_of(epoch);
    order_epoch_ = epoch;
  }
  return std::span<const std::uint32_t>(order_).subspan(begin, count);
}

std::vector<std::uint32_t> Minibatches::order_of(std::uint64_t epoch) const {
  std::vector<std::uint32_t> out = permutation(rows_, key_.at(Purpose::kShuffle, epoch));
  if (cumulative_.empty()) return out;
  // Systematic sampling: points at equal distances, the first of them at random, on the line of all weights.
  const double shift = key_.at(Purpose::kShuffle, epoch, kWeightedStream).uniform(0, 0);
  for (std::uint32_t& k : out) {
    const double point = (k + shift) / static_cast<double>(rows_) * cumulative_.back();
    // The last row takes what is left, so that no rounding can lead beyond it.
    const auto row = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, point);
    k = static_cast<std::uint32_t>(row - cumulative_.begin());
  }
  return out;
}

}  // namespace ergodic
