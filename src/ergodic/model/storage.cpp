#include "ergodic/model/storage.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowBlock = 16;  // rows of couplings that a thread takes at once

/// Rounding leaves about 1e-15 of a pattern that depends on others; of a random one less than this is left once in
/// 1e8 times.
constexpr double kDependent = 1e-8;
/// Elements of a projection below this are zeros that rounding has moved.
constexpr double kZero = 1e-12;

/// Rows and columns exchanged: a row for each unit.
Bits transposed(const Bits& bits) {
  Bits out(bits.cols(), bits.rows());
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    for_each_set(bits.row(r), [&](std::size_t i) { out.set(i, r, true); });
  }
  return out;
}

/// The sum of products of two rows of +-1, which is as many as agree minus as many as differ.
double agreement(const Bits& bits, std::size_t a, std::size_t b) {
  std::size_t differing = 0;
  for (std::size_t w = 0; w < bits.row(a).size(); ++w) {
    differing += static_cast<std::size_t>(std::popcount(bits.row(a)[w] ^ bits.row(b)[w]));
  }
  return static_cast<double>(bits.cols()) - 2.0 * static_cast<double>(differing);
}

/// The values of a row.
std::vector<double> values_of(const State& rows, std::size_t row) {
  std::vector<double> out(rows.units());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = rows.value(row, i);
  return out;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Matrix<double> hebb(const State& patterns, const Context& context) {
  const std::size_t n = patterns.units();
  const Bits units = transposed(patterns.bits());
  Matrix<double> w(n, n);
  context.for_blocks(n, kRowBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = 0; j < n; ++j) w(i, j) = i == j ? 0.0 : agreement(units, i, j) / static_cast<double>(n);
    }
  });
  return w;
}

/// W_ij += (p_i p_j - p_i h_ji - h_ij p_j) / N, where h_ij = sum of W_ik p_k over k other than i and j: the field of i
/// without the part of j. Both products are added first, so that W_ij and W_ji have the same bits.
void add_storkey(const std::vector<double>& p, Matrix<double>& w, const Context& context) {
  const std::size_t n = p.size();
  std::vector<double> h(n);
  context.for_blocks(n, kRowBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) h[i] = dot(w.row(i), p);
  });
  context.for_blocks(n, kRowBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<double> row = w.row(i);
      for (std::size_t j = 0; j < n; ++j) {
        const double explained = p[i] * (h[j] - row[j] * p[i]) + (h[i] - row[j] * p[j]) * p[j];
        row[j] += (p[i] * p[j] - explained) / static_cast<double>(n);
      }
      row[i] = 0.0;
    }
  });
}

std::optional<Matrix<double>> storkey(const State& patterns, const Context& context) {
  Matrix<double> w(patterns.units(), patterns.units());
  for (std::size_t m = 0; m < patterns.chains(); ++m) {
    if (context.stop_requested()) return std::nullopt;
    add_storkey(values_of(patterns, m), w, context);
    context.progress({m + 1, patterns.chains()});
  }
  return w;
}

/// Takes off r what lies along the first `count` rows of an orthonormal basis.
void remove_projection(const Matrix<double>& basis, std::size_t count, std::vector<double>& r, const Context& context) {
  std::vector<double> along(count);
  context.for_blocks(count, kRowBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) along[k] = dot(basis.row(k), r);
  });
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= along[k] * basis(k, i);
  }
}

/// The projection Q'Q, with Q the patterns made orthonormal one after the other. To project twice is enough for
/// rounding errors not to grow (Giraud, Langou and Rozloznik 2005), which inverting the patterns' overlaps is not.
std::optional<Matrix<double>> pseudo_inverse(const State& patterns, const Context& context) {
  const std::size_t n = patterns.units();
  Matrix<double> basis(std::min(patterns.chains(), n), n);
  std::size_t rank = 0;
  for (std::size_t m = 0; m < patterns.chains() && rank < n; ++m) {
    if (context.stop_requested()) return std::nullopt;
    std::vector<double> r = values_of(patterns, m);
    for (int pass = 0; pass < 2; ++pass) remove_projection(basis, rank, r, context);
    const double length = std::sqrt(dot(r, r));
    context.progress({m + 1, patterns.chains()});
    if (length <= kDependent * std::sqrt(static_cast<double>(n))) continue;
    for (std::size_t i = 0; i < n; ++i) basis(rank, i) = r[i] / length;
    ++rank;
  }
  Matrix<double> w(n, n);
  context.for_blocks(n, kRowBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < rank; ++k) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t j = 0; j < n; ++j) w(i, j) += basis(k, i) * basis(k, j);
      }
    }
    for (std::size_t i = begin; i < end; ++i) w(i, i) = 0.0;
  });
  for (double& element : w.elements()) {
    if (std::abs(element) < kZero) element = 0.0;
  }
  return w;
}

std::optional<Matrix<double>> couplings_for(StorageRule rule, const State& patterns, const Context& context) {
  switch (rule) {
    case StorageRule::kStorkey:
      return storkey(patterns, context);
    case StorageRule::kPseudoInverse:
      return pseudo_inverse(patterns, context);
    default:
      return hebb(patterns, context);
  }
}

/// The patterns with one more unit, which is always +1.
State with_constant_unit(const State& patterns) {
  State out(patterns.chains(), patterns.units() + 1, patterns.levels());
  for (std::size_t m = 0; m < patterns.chains(); ++m) {
    for_each_set(patterns.bits().row(m), [&](std::size_t i) { out.bits().set(m, i, true); });
    out.bits().set(m, patterns.units(), true);
  }
  return out;
}

}  // namespace

std::optional<Hopfield> store(const Storage& storage, const State& patterns, const Context& context) {
  require(patterns.chains() > 0 && patterns.units() > 0, "a Hopfield network needs at least one pattern of one unit");
  const std::size_t n = patterns.units();
  const auto w = couplings_for(storage.rule, storage.bias ? with_constant_unit(patterns) : patterns, context);
  if (!w) return std::nullopt;
  Matrix<float> couplings(n, n);
  std::vector<float> bias(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) couplings(i, j) = static_cast<float>((*w)(i, j));
    if (storage.bias) bias[i] = static_cast<float>((*w)(i, n));
  }
  return Hopfield(std::move(couplings), std::move(bias));
}

double capacity_of(StorageRule rule, std::size_t units) {
  const auto n = static_cast<double>(units);
  switch (rule) {
    case StorageRule::kStorkey:
      return 1.0 / std::sqrt(2.0 * portable_log(std::max(n, 2.0)));
    case StorageRule::kPseudoInverse:
      return 1.0 - 1.0 / n;
    default:
      return 0.138;
  }
}

}  // namespace ergodic
