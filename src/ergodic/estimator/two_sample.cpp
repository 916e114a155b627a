#include "ergodic/estimator/two_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/core/matrix.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 8;           // for one thread
constexpr std::size_t kRowsAtOnce = 512;          // between two reports
constexpr double kCritical = 1.6276236115189503;  // sqrt(log(200) / 2): 1 % of the limiting distribution (Smirnov 1948)

double squared_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::size_t out = 0;
  for (std::size_t w = 0; w < a.size(); ++w) out += static_cast<std::size_t>(std::popcount(a[w] ^ b[w]));
  return static_cast<double>(out);
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double out = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) out += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return out;
}

/// One set after the other.
State pooled(const State& a, const State& b) {
  State out = a.real() ? State(Matrix<float>(2 * a.chains(), a.units())) : State(2 * a.chains(), a.units(), a.levels());
  for (std::size_t r = 0; r < a.chains(); ++r) {
    out.set_row(r, a, r);
    out.set_row(a.chains() + r, b, r);
  }
  return out;
}

/// The rows of both sets, of as many each, and which of all are the nearest ones of each.
class Neighbours {
 public:
  Neighbours(const State& data, const State& samples)
      : all_(pooled(data, samples)), half_(data.chains()), rows_(all_.chains()) {}

  std::size_t rows() const { return rows_.size(); }

  /// Finds the nearest rows of a row.
  void find(std::size_t row) {
    Row out;
    double own = std::numeric_limits<double>::infinity(), other = own;
    for_distances(row, [&](std::size_t r, double distance) {
      double& nearest = (r < half_) == (row < half_) ? own : other;
      nearest = std::min(nearest, distance);
      if (distance < out.nearest) out.nearest = distance, out.ties = 0.0;
      if (distance == out.nearest) out.ties += 1.0;
    });
    out.near_own = own < other ? 1.0 : own == other ? 0.5 : 0.0;
    rows_[row] = out;
  }

  /// Counts whose nearest a row is, after all nearest rows are known.
  void count(std::size_t row) {
    Row& here = rows_[row];
    for_distances(row, [&](std::size_t r, double distance) {
      const Row& there = rows_[r];
      const double from = distance == there.nearest ? 1.0 / there.ties : 0.0;
      const double to = distance == here.nearest ? 1.0 / here.ties : 0.0;
      here.wanted += from;
      here.pairs += (from + to) * (from + to);
    });
  }

  /// The mean over a set: the one that begins with this row.
  Mean share(std::size_t first) const {
    const auto n = static_cast<double>(half_);
    double sum = 0.0, squares = 0.0;
    for (std::size_t r = 0; r < half_; ++r) sum += rows_[first + r].near_own;
    for (const Row& row : rows_) squares += (row.wanted - 1.0) * (row.wanted - 1.0) + 0.5 * row.pairs;
    const double share = sum / n;
    return {share, std::sqrt(4.0 * share * (1.0 - share) * squares / 16.0) / n};
  }

 private:
  struct Row {
    double nearest = std::numeric_limits<double>::infinity();
    double ties = 0.0;      // how many rows are nearest
    double near_own = 0.0;  // 1 if they are of the own set, 0 if of the other, 1/2 if of both
    double wanted = 0.0;    // the sum of w_rs over rows r of which this, s, is nearest: 1 / ties of r
    double pairs = 0.0;     // the sum of (w_rs + w_sr)^2
  };

  /// Calls f(other row, squared distance) for all others in ascending order.
  template <class F>
  void for_distances(std::size_t row, const F& f) const {
    const auto visit = [&](const auto& rows) {
      for (std::size_t r = 0; r < rows.rows(); ++r) {
        if (r != row) f(r, squared_distance(rows.row(row), rows.row(r)));
      }
    };
    if (all_.real()) {
      visit(all_.reals());
    } else {
      visit(all_.bits());
    }
  }

  State all_;
  std::size_t half_;
  std::vector<Row> rows_;
};

}  // namespace

std::optional<NeighbourTest> neighbour_test(const State& data, const State& samples, const Context& context) {
  require(
      data.chains() >= kFewestNeighbours && samples.chains() == data.chains() && samples.units() == data.units(),
      fmt::format("two sets of as many rows and units are compared, of {} rows at least; found {} rows of {} and {} "
                  "rows of {}",
                  kFewestNeighbours, data.chains(), data.units(), samples.chains(), samples.units()));
  Neighbours all(data, samples);
  std::size_t done = 0;
  for (const auto visit : {&Neighbours::find, &Neighbours::count}) {
    for (std::size_t first = 0; first < all.rows(); first += kRowsAtOnce) {
      if (context.stop_requested()) return std::nullopt;
      const std::size_t count = std::min(kRowsAtOnce, all.rows() - first);
      context.for_blocks(count, kRowsAtATime, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = first + begin; r < first + end; ++r) (all.*visit)(r);
      });
      context.progress({done += count, 2 * all.rows()});
    }
  }
  return NeighbourTest{all.share(0), all.share(data.chains())};
}

DistributionGap distribution_gap(std::span<const double> a, std::span<const double> b) {
  std::vector<double> x(a.begin(), a.end()), y(b.begin(), b.end());
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  const auto n = static_cast<double>(x.size()), m = static_cast<double>(y.size());
  double distance = 0.0;
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    const double value = std::min(x[i], y[j]);
    while (i < x.size() && x[i] == value) ++i;  // equal numbers are one step of both
    while (j < y.size() && y[j] == value) ++j;
    distance = std::max(distance, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  return {distance, kCritical * std::sqrt((n + m) / (n * m))};
}

}  // namespace ergodic
