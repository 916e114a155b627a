#include "ergodic/model/exact_rbm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/model/all_states.hpp"

namespace ergodic {
namespace {

void require_enumerable(const Rbm& rbm, double limit) {
  require(enumerated_bits(rbm) <= limit,
          fmt::format("exact enumeration needs a layer of at most {:.0f} two-valued units (a letter counts as the "
                      "logarithm of their number), found {} {} visible and {} {} hidden",
                      limit, units_of(rbm.visible()), name_of(rbm.visible()), units_of(rbm.hidden()),
                      name_of(rbm.hidden())));
}

std::size_t enumerated_block(const Rbm& rbm) {
  return log2_states(rbm.visible()) <= log2_states(rbm.hidden()) ? Rbm::kVisible : Rbm::kHidden;
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

// Eight products at once, two to a register: enough to hide the latency of multiplication.
constexpr std::size_t kPairs = 4;
constexpr std::size_t kLanes = 2 * kPairs;
using Pair [[gnu::vector_size(2 * sizeof(double))]] = double;
using PairBits [[gnu::vector_size(2 * sizeof(double))]] = std::int64_t;

/// The log of the product of all (1 + a_i b_i). Each lane keeps its product's mantissa in [1, 2) and counts exponents
/// apart, so one log serves a whole state. `stride` terms may be multiplied before a product could overflow.
double log_product(std::span<const double> a, const double* b, std::size_t stride) {
  constexpr std::int64_t kMantissa = 0x000FFFFFFFFFFFFF, kOne = 0x3FF0000000000000;
  Pair products[kPairs];
  for (Pair& product : products) product = Pair{} + 1.0;
  PairBits exponents{};
  for (std::size_t i = 0; i < a.size();) {
    const std::size_t end = std::min(a.size(), i + stride * kLanes);
    for (; i < end; i += kLanes) {
      for (std::size_t p = 0; p < kPairs; ++p) {
        Pair x, y;
        std::memcpy(&x, a.data() + i + 2 * p, sizeof x);
        std::memcpy(&y, b + i + 2 * p, sizeof y);
        products[p] *= 1.0 + x * y;
      }
    }
    for (Pair& product : products) {
      PairBits bits;
      std::memcpy(&bits, &product, sizeof bits);
      exponents += (bits >> 52) - 1023;
      bits = (bits & kMantissa) | kOne;
      std::memcpy(&product, &bits, sizeof bits);
    }
  }
  Pair mantissa = Pair{} + 1.0;
  for (const Pair& product : products) mantissa *= product;
  return portable_log(mantissa[0] * mantissa[1]) +
         static_cast<double>(exponents[0] + exponents[1]) * 0.6931471805599453;
}

/// Splits the enumerated units into high, middle and low ones. The factors exp(s'W) of low and of middle patterns are
/// tabled once, those of a high pattern are made when its block comes. A state is then one multiply, one add and one
/// multiply for each summed unit.
class ProductEnumeration {
 public:
  explicit ProductEnumeration(const Enumerable& machine)
      : machine_(machine),
        units_(machine.bias.size()),
        padded_((machine.field.size() + kLanes - 1) / kLanes * kLanes),
        stride_(safe_stride(machine)),
        low_(table(0, std::min(units_, kTabledUnits))),
        middle_(table(low_.last, std::min(units_, low_.last + kTabledUnits))) {}

  /// False when a single factor could overflow; then each term needs its own logarithm.
  bool applies() const { return stride_ >= 1; }
  std::size_t blocks() const { return std::size_t{1} << (units_ - middle_.last); }
  std::size_t states_in_block() const { return low_.bias.size() * middle_.bias.size(); }

  /// The log of the sum of weights over all middle and low patterns under one high pattern.
  double log_weight(std::size_t high) const {
    std::vector<double> high_factors(padded_), factors(padded_);
    fill_factors(high, middle_.last, units_, machine_.field, high_factors);
    LogSum sum;
    for (std::size_t m = 0; m < middle_.bias.size(); ++m) {
      const double* middle = middle_.factors.row(m).data();
      for (std::size_t i = 0; i < padded_; ++i) factors[i] = high_factors[i] * middle[i];
      for (std::size_t l = 0; l < low_.bias.size(); ++l) {
        sum.add(middle_.bias[m] + low_.bias[l] + log_product(factors, low_.factors.row(l).data(), stride_));
      }
    }
    return sum.value() + bias_of(high, middle_.last, units_);
  }

 private:
  static constexpr std::size_t kTabledUnits = 6;  // 64 rows of factors stay in the second-level cache

  /// For each pattern of units [first, last): its factors, and its part of s'bias.
  struct Table {
    std::size_t last;
    Matrix<double> factors;
    std::vector<double> bias;
  };

  /// How many factors may be multiplied before the product could overflow.
  static std::size_t safe_stride(const Enumerable& machine) {
    double largest = 0.0;
    for (std::size_t i = 0; i < machine.field.size(); ++i) {
      double reach = std::abs(machine.field[i]);
      for (std::size_t k = 0; k < machine.bias.size(); ++k) reach += std::abs(machine.weights(k, i));
      largest = std::max(largest, reach);
    }
    constexpr double kRoom = 690.0;  // e^690 times the mantissa's 2 is still finite
    return static_cast<std::size_t>(std::min(1e6, kRoom / (largest + 0.7)));
  }

  Table table(std::size_t first, std::size_t last) const {
    Table out{last, Matrix<double>(std::size_t{1} << (last - first), padded_), {}};
    for (std::size_t s = 0; s < out.factors.rows(); ++s) {
      fill_factors(s, first, last, {}, out.factors.row(s));
      out.bias.push_back(bias_of(s, first, last));
    }
    return out;
  }

  double bias_of(std::size_t pattern, std::size_t first, std::size_t last) const {
    double sum = 0.0;
    for (std::size_t k = first; k < last; ++k) sum += ((pattern >> (k - first)) & 1u) ? machine_.bias[k] : 0.0;
    return sum;
  }

  /// exp(field + s'W) over units [first, last). The padding stays zero: its factor 1 + 0 changes nothing.
  void fill_factors(std::size_t pattern, std::size_t first, std::size_t last, std::span<const double> field,
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
  std::size_t units_;
  std::size_t padded_;
  std::size_t stride_;
  Table low_;
  Table middle_;
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

/// All states of the layer that has fewer, a chunk at a time.
class Enumeration {
 public:
  static constexpr std::size_t kChunk = 4096;  // states whose fields are held at once

  explicit Enumeration(const Rbm& rbm)
      : rbm_(rbm),
        block_(enumerated_block(rbm)),
        other_(block_ == Rbm::kVisible ? Rbm::kHidden : Rbm::kVisible),
        all_(rbm.layer(block_)) {}

  std::size_t block() const { return block_; }
  std::size_t other() const { return other_; }
  std::size_t count() const { return all_.count(); }
  std::size_t chunk_at(std::size_t first) const { return std::min(kChunk, count() - first); }

  /// States [first, first + chunk_at(first)).
  State states_from(std::size_t first) const { return all_.states(first, chunk_at(first)); }

  /// The log weight of each: s'bias + log_sum of the other layer under the fields that s makes.
  std::vector<double> log_weights(const State& states, const Context& context) const {
    const std::span<const float> bias = rbm_.map_to(block_).bias;
    std::vector<double> out(states.chains());
    for_fields(states, rbm_.map_to(other_), context, [&](std::size_t s, std::span<const double> fields) {
      double weight = log_sum(rbm_.layer(other_), {fields, rbm_.precision(other_)});
      for (std::size_t k = 0; k < bias.size(); ++k) weight += double{states.value(s, k)} * bias[k];
      out[s] = weight;
    });
    return out;
  }

 private:
  const Rbm& rbm_;
  std::size_t block_, other_;
  AllStates all_;
};

std::optional<double> log_z_of_any(const Rbm& rbm, const Context& context) {
  const Enumeration all(rbm);
  LogSum total;
  for (std::size_t first = 0; first < all.count(); first += Enumeration::kChunk) {
    if (context.stop_requested()) return std::nullopt;
    for (const double weight : all.log_weights(all.states_from(first), context)) total.add(weight);
    context.progress({first + all.chunk_at(first), all.count()});
  }
  return total.value();
}

std::optional<double> log_z_of_two_valued(const Rbm& rbm, const Context& context) {
  const Enumerable machine = make_enumerable(rbm);
  const ProductEnumeration fast(machine);
  const std::size_t blocks = fast.blocks();
  const std::size_t block_states = fast.states_in_block();
  constexpr std::size_t kSlab = 64;  // blocks between two reports
  LogSum total;
  for (std::size_t slab = 0; slab < blocks; slab += kSlab) {
    if (context.stop_requested()) return std::nullopt;
    std::vector<double> partial(std::min(kSlab, blocks - slab));
    context.for_blocks(partial.size(), 1, [&](std::size_t begin, std::size_t end) {
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

bool both_two_valued(const Rbm& rbm) { return two_valued(rbm.visible()) && two_valued(rbm.hidden()); }

}  // namespace

double enumerated_bits(const Rbm& rbm) { return std::min(log2_states(rbm.visible()), log2_states(rbm.hidden())); }
double most_enumerated_bits(const Rbm& rbm) { return both_two_valued(rbm) ? 30.0 : 22.0; }

std::optional<double> exact_log_z(const Rbm& rbm, const Context& context) {
  require_enumerable(rbm, most_enumerated_bits(rbm));
  return both_two_valued(rbm) ? log_z_of_two_valued(rbm, context) : log_z_of_any(rbm, context);
}

void require_exact_statistics(const Rbm& rbm) { require_enumerable(rbm, kMaxStatisticsBits); }

Statistics exact_statistics(const Rbm& rbm, const Context& context) {
  require_exact_statistics(rbm);
  const Enumeration all(rbm);
  std::vector<double> weights;
  weights.reserve(all.count());
  LogSum total;
  for (std::size_t first = 0; first < all.count(); first += Enumeration::kChunk) {
    for (const double weight : all.log_weights(all.states_from(first), context)) {
      weights.push_back(weight);
      total.add(weight);
    }
  }
  const double log_z = total.value();
  for (double& w : weights) w = portable_exp(w - log_z);

  Statistics out(rbm.parameters().values().size());
  for (std::size_t first = 0; first < all.count(); first += Enumeration::kChunk) {
    const State states = all.states_from(first);
    const auto chunk_weights = std::span<const double>(weights).subspan(first, states.chains());
    const Moments other = rbm.conditional_moments(all.other(), states, context);
    rbm.add_statistics(all.block(), states, other, chunk_weights, out, context);
  }
  return out;
}

}  // namespace ergodic
