#include "ergodic/model/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

void require_enumerable(const Rbm& rbm, std::size_t limit) {
  require(enumerated_units(rbm) <= limit,
          fmt::format("exact enumeration needs a layer of at most {} units, found {} visible and {} hidden", limit,
                      units_of(rbm.visible()), units_of(rbm.hidden())));
}

/// A {0,1} machine whose first layer is enumerated and whose second is summed in closed form:
///   Z = sum_s exp(s'bias) prod_i (1 + exp(field_i + s'W_i)).
struct Enumerable {
  Matrix<double> weights;  // [enumerated, summed]
  std::vector<double> bias;
  std::vector<double> field;
  double log_factor = 0.0;
};

Enumerable make_enumerable(const Rbm& rbm) {
  Rewritten r = rewrite(rbm, Bernoulli::kLevels, Bernoulli::kLevels);
  if (units_of(rbm.visible()) <= units_of(rbm.hidden())) {
    return {std::move(r.weights), std::move(r.visible_bias), std::move(r.hidden_bias), -r.energy_offset};
  }
  Matrix<double> transposed(r.weights.cols(), r.weights.rows());
  for (std::size_t i = 0; i < r.weights.rows(); ++i) {
    for (std::size_t j = 0; j < r.weights.cols(); ++j) transposed(j, i) = r.weights(i, j);
  }
  return {std::move(transposed), std::move(r.hidden_bias), std::move(r.visible_bias), -r.energy_offset};
}

/// A running sum of exponentials, kept relative to its largest term.
struct LogSum {
  double largest = -std::numeric_limits<double>::infinity();
  double scaled = 0.0;

  void add(double term) {
    if (term > largest) {
      scaled *= portable_exp(largest - term);
      largest = term;
    }
    scaled += portable_exp(term - largest);
  }
  double value() const { return scaled > 0.0 ? largest + portable_log(scaled) : largest; }
};

constexpr std::size_t kLanes = 8;

/// prod over the lanes' terms (1 + a_i b_i) as log: products are kept in [1, 2) with their exponents counted apart, so
/// one log serves a whole state. `stride` terms a lane may be multiplied before the product could overflow.
double log_product(std::span<const double> a, const double* b, std::size_t stride) {
  double mantissa[kLanes];
  std::int64_t exponent[kLanes] = {};
  std::fill(mantissa, mantissa + kLanes, 1.0);
  for (std::size_t i = 0; i < a.size();) {
    const std::size_t end = std::min(a.size(), i + stride * kLanes);
    for (; i < end; i += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) mantissa[l] *= 1.0 + a[i + l] * b[i + l];
    }
    for (std::size_t l = 0; l < kLanes; ++l) {
      const auto bits = std::bit_cast<std::uint64_t>(mantissa[l]);
      exponent[l] += static_cast<std::int64_t>(bits >> 52) - 1023;
      mantissa[l] = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
    }
  }
  double product = 1.0;
  std::int64_t shift = 0;
  for (std::size_t l = 0; l < kLanes; ++l) {
    product *= mantissa[l];
    shift += exponent[l];
  }
  return portable_log(product) + static_cast<double>(shift) * 0.6931471805599453;
}

/// Splits the enumerated units into low ones, whose factors exp(s'W) are tabled once, and high ones, whose factors are
/// made once for each of their patterns. A state is then one multiply, one add and one multiply for each summed unit.
class ProductEnumeration {
 public:
  static constexpr std::size_t kLowUnits = 6;

  explicit ProductEnumeration(const Enumerable& machine) : machine_(machine) {
    const std::size_t n = machine.bias.size();
    low_units_ = std::min(n, kLowUnits);
    padded_ = (machine.field.size() + kLanes - 1) / kLanes * kLanes;
    double largest = 0.0;
    for (std::size_t i = 0; i < machine.field.size(); ++i) {
      double reach = std::abs(machine.field[i]);
      for (std::size_t k = 0; k < n; ++k) reach += std::abs(machine.weights(k, i));
      largest = std::max(largest, reach);
    }
    constexpr double kRoom = 690.0;  // e^690 times the mantissa's 2 is still finite
    stride_ = static_cast<std::size_t>(std::min(1e6, kRoom / std::max(largest + 0.7, 1e-3)));
    low_factors_ = Matrix<double>(std::size_t{1} << low_units_, padded_);
    for (std::size_t s = 0; s < low_factors_.rows(); ++s) factors(s, 0, low_units_, {}, low_factors_.row(s));
  }

  /// False when a single factor could overflow; then each term needs its own logarithm.
  bool applies() const { return stride_ >= 1; }
  std::size_t high_patterns() const { return std::size_t{1} << (machine_.bias.size() - low_units_); }
  std::size_t low_patterns() const { return low_factors_.rows(); }

  /// The log of the sum of weights over all low patterns under one high pattern.
  double log_weight(std::size_t high) const {
    std::vector<double> scale(padded_);
    factors(high, low_units_, machine_.bias.size(), machine_.field, scale);
    LogSum sum;
    for (std::size_t low = 0; low < low_patterns(); ++low) {
      const std::size_t state = low | (high << low_units_);
      double bias = 0.0;
      for (std::size_t k = 0; k < machine_.bias.size(); ++k) bias += ((state >> k) & 1u) ? machine_.bias[k] : 0.0;
      sum.add(bias + log_product(scale, low_factors_.row(low).data(), stride_));
    }
    return sum.value();
  }

 private:
  /// exp(field + s'W) over units [first, last), padded with zeros, whose factor 1 + 0 changes nothing.
  void factors(std::size_t pattern, std::size_t first, std::size_t last, std::span<const double> field,
               std::span<double> out) const {
    for (std::size_t i = 0; i < machine_.field.size(); ++i) {
      double exponent = field.empty() ? 0.0 : field[i];
      for (std::size_t k = first; k < last; ++k) {
        if ((pattern >> (k - first)) & 1u) exponent += machine_.weights(k, i);
      }
      out[i] = portable_exp(exponent);
    }
  }

  const Enumerable& machine_;
  std::size_t low_units_ = 0;
  std::size_t padded_ = 0;
  std::size_t stride_ = 0;
  Matrix<double> low_factors_;
};

/// The plain sum, for weights so large that factors overflow: a softplus for each term.
double plain_log_weight(const Enumerable& machine, std::size_t first_state, std::size_t states) {
  LogSum sum;
  for (std::size_t s = first_state; s < first_state + states; ++s) {
    double log_weight = 0.0;
    std::vector<double> field = machine.field;
    for (std::size_t k = 0; k < machine.bias.size(); ++k) {
      if (!((s >> k) & 1u)) continue;
      log_weight += machine.bias[k];
      for (std::size_t i = 0; i < field.size(); ++i) field[i] += machine.weights(k, i);
    }
    for (const double f : field) log_weight += softplus(f);
    sum.add(log_weight);
  }
  return sum.value();
}

}  // namespace

std::size_t enumerated_units(const Rbm& rbm) { return std::min(units_of(rbm.visible()), units_of(rbm.hidden())); }

std::optional<double> exact_log_z(const Rbm& rbm, const Context& context) {
  require_enumerable(rbm, kMaxEnumeratedUnits);
  const Enumerable machine = make_enumerable(rbm);
  const ProductEnumeration fast(machine);
  const std::size_t blocks = fast.high_patterns();
  const std::size_t block_states = fast.low_patterns();
  constexpr std::size_t kSlab = 4096;  // blocks between two reports
  LogSum total;
  for (std::size_t slab = 0; slab < blocks; slab += kSlab) {
    if (context.stop_requested()) return std::nullopt;
    std::vector<double> partial(std::min(kSlab, blocks - slab));
    context.for_blocks(partial.size(), 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) {
        partial[b] = fast.applies() ? fast.log_weight(slab + b)
                                    : plain_log_weight(machine, (slab + b) * block_states, block_states);
      }
    });
    for (const double p : partial) total.add(p);
    context.progress({(slab + partial.size()) * block_states, blocks * block_states});
  }
  return total.value() + machine.log_factor;
}

Statistics exact_statistics(const Rbm& rbm, const Context& context) {
  require_enumerable(rbm, kMaxStatisticsUnits);
  const bool enumerate_visible = units_of(rbm.visible()) <= units_of(rbm.hidden());
  const std::size_t block = enumerate_visible ? Rbm::kVisible : Rbm::kHidden;
  const std::size_t other = enumerate_visible ? Rbm::kHidden : Rbm::kVisible;
  const std::size_t units = units_of(rbm.layer(block));
  const std::span<const float> bias = rbm.map_to(block).bias;
  constexpr std::size_t kChunk = 4096;  // states whose fields are held at once
  const std::size_t all = std::size_t{1} << units;
  const auto for_chunks = [&](const auto& body) {
    for (std::size_t first = 0; first < all; first += kChunk) {
      State states = rbm.make_state(block, std::min(kChunk, all - first));
      for (std::size_t s = 0; s < states.chains(); ++s) states.bits().row(s)[0] = first + s;
      body(first, states);
    }
  };

  // log weight of s = s'bias + log_sum of the other layer under the fields that s makes.
  std::vector<double> weights(all);
  LogSum total;
  for_chunks([&](std::size_t first, const State& states) {
    Matrix<double> fields(states.chains(), units_of(rbm.layer(other)));
    product(states, rbm.map_to(other), fields, context);
    for (std::size_t s = 0; s < states.chains(); ++s) {
      double weight = log_sum(rbm.layer(other), fields.row(s));
      for (std::size_t k = 0; k < units; ++k) weight += double{states.value(s, k)} * bias[k];
      weights[first + s] = weight;
      total.add(weight);
    }
  });
  const double log_z = total.value();
  for (double& w : weights) w = portable_exp(w - log_z);

  Statistics out(rbm.parameters().values().size());
  for_chunks([&](std::size_t first, const State& states) {
    const Matrix<float> means = rbm.conditional_means(other, states, context);
    const auto chunk_weights = std::span<const double>(weights).subspan(first, states.chains());
    if (enumerate_visible) {
      rbm.add_statistics(states, means, chunk_weights, out, context);
    } else {
      rbm.add_statistics(means, states, chunk_weights, out, context);
    }
  });
  return out;
}

}  // namespace ergodic
