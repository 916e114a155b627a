#include "ergodic/trainer/sampled_ascent.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "ergodic/kernels/ascent.hpp"
#include "ergodic/kernels/bit_sums.hpp"

namespace ergodic {
namespace {

constexpr int kMaxFractionBits = 16;

double dot(std::span<const float> a, std::span<const std::int32_t> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += double{a[k]} * b[k];
  return sum;
}

WeightedPairs side(const Chains& chains, double sign) {
  return {&chains.layers[Rbm::kVisible].bits(), &chains.layers[Rbm::kHidden].bits(),
          static_cast<float>(sign / static_cast<double>(chains.count()))};
}

void step_bias(std::span<const double> gradient, const Sgd& sgd, double rate, std::span<float> velocity,
               std::span<float> bias) {
  for (std::size_t k = 0; k < bias.size(); ++k) {
    const double change = sgd.momentum * velocity[k] + gradient[k];
    velocity[k] = static_cast<float>(change);
    bias[k] = static_cast<float>(bias[k] + rate * change);
  }
}

}  // namespace

void SampledAscent::Units::set_offsets(std::span<const double> values, Levels levels) {
  // So coarse that no sum over all units leaves the range of exact sums.
  fraction_bits = std::min(kMaxFractionBits, kBitSumRange - static_cast<int>(std::bit_width(values.size())));
  const double scale = std::ldexp(1.0, fraction_bits);
  offsets.resize(values.size());
  bit_offsets.resize(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double rounded = std::nearbyint(values[k] * scale);
    offsets[k] = static_cast<std::int32_t>(rounded);
    bit_offsets[k] = static_cast<float>((rounded / scale - levels.low) / levels.gap());
  }
}

void SampledAscent::Units::compare(std::size_t data_rows, std::size_t sample_rows, int other_fraction_bits) {
  change.resize(data.counts.size());
  other_change.resize(data.counts.size());
  const double of_data = static_cast<double>(data_rows), of_samples = static_cast<double>(sample_rows);
  const double unit = std::ldexp(1.0, -other_fraction_bits);
  for (std::size_t k = 0; k < change.size(); ++k) {
    change[k] = static_cast<float>(static_cast<double>(data.counts[k]) / of_data -
                                   static_cast<double>(samples.counts[k]) / of_samples);
    other_change[k] = unit * (static_cast<double>(data.other_values[k]) / of_data -
                              static_cast<double>(samples.other_values[k]) / of_samples);
  }
}

void SampledAscent::sum_over_rows(std::size_t block, const Chains& data, const Chains& samples,
                                  const Context& context) {
  const auto sum = [&](const Chains& chains, Sums& sums) {
    sums.row_values.resize(chains.count());
    sum_rows(chains.layers[block].bits(), units(block).offsets, sums.row_values, context);
  };
  sum(data, units(block).data);
  sum(samples, units(block).samples);
}

void SampledAscent::sum_over_columns(std::size_t block, const Chains& data, const Chains& samples,
                                     const Context& context) {
  const Units& other = units(block == Rbm::kVisible ? Rbm::kHidden : Rbm::kVisible);
  const auto sum = [&](const Chains& chains, const Sums& other_sums, Sums& sums) {
    sums.counts.resize(chains.layers[block].units());
    sums.other_values.resize(sums.counts.size());
    sum_columns(chains.layers[block].bits(), other_sums.row_values, sums.counts, sums.other_values, context);
  };
  sum(data, other.data, units(block).data);
  sum(samples, other.samples, units(block).samples);
}

/// The pull of the weights towards zero changes the biases with them.
void SampledAscent::add_decay(const Rbm& model, const Decay& decay) {
  const double visible_unit = std::ldexp(1.0, -visible_.fraction_bits);
  const double hidden_unit = std::ldexp(1.0, -hidden_.fraction_bits);
  for (std::size_t i = 0; i < model.weights().rows(); ++i) {
    const std::span<const float> row = model.weights().row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double sign = static_cast<double>(row[j] > 0.0f) - static_cast<double>(row[j] < 0.0f);
      const double pull = decay.l2 * row[j] + decay.l1 * sign;
      visible_.gradient[i] += pull * hidden_unit * hidden_.offsets[j];
      hidden_.gradient[j] += pull * visible_unit * visible_.offsets[i];
    }
  }
}

void SampledAscent::step(Rbm& model, const Chains& data, const Chains& samples, const Offsets& offsets,
                         const Decay& decay, const Sgd& sgd, double rate, std::span<float> velocity,
                         const Context& context) {
  const std::size_t n = units_of(model.visible()), m = units_of(model.hidden());
  const Levels visible_levels = levels_of(model.visible()), hidden_levels = levels_of(model.hidden());
  const double g = visible_levels.gap(), h = hidden_levels.gap();
  const Decay scaled{decay.l1 / (g * h), decay.l2};
  {
    const Timed timed(context.profile, Stage::kBias);
    visible_.set_offsets(offsets.visible, visible_levels);
    sum_over_rows(Rbm::kVisible, data, samples, context);
    sum_over_columns(Rbm::kHidden, data, samples, context);
    for (std::size_t j = 0; j < m; ++j) {
      const double share = static_cast<double>(hidden_.data.counts[j]) / static_cast<double>(data.count());
      offsets.hidden[j] += offsets.hidden_rate * (hidden_levels.low + h * share - offsets.hidden[j]);
    }
    hidden_.set_offsets(offsets.hidden, hidden_levels);
    sum_over_rows(Rbm::kHidden, data, samples, context);
    sum_over_columns(Rbm::kVisible, data, samples, context);
    visible_.compare(data.count(), samples.count(), hidden_.fraction_bits);
    hidden_.compare(data.count(), samples.count(), visible_.fraction_bits);

    // db = dx / g - dW lambda, lambda being a value: the biases follow the weights so that the units' means stay.
    const auto find_gradient = [&](Units& own, const Units& other, double gap) {
      const double unit = std::ldexp(1.0, -other.fraction_bits);
      const double change = unit * dot(other.change, other.offsets),
                   offset = unit * dot(other.bit_offsets, other.offsets);
      own.gradient.resize(own.offsets.size());
      for (std::size_t k = 0; k < own.gradient.size(); ++k) {
        const double pairs = own.other_change[k] - own.bit_offsets[k] * change - own.change[k] * offset;
        own.gradient[k] = own.change[k] / gap - pairs / (g * h);
      }
    };
    find_gradient(visible_, hidden_, g);
    find_gradient(hidden_, visible_, h);
    if (scaled.l1 != 0.0 || scaled.l2 != 0.0) add_decay(model, scaled);
  }

  const auto edit = [&](Parameters& parameters, const auto& done) {
    Ascent ascent{.weights = {parameters["weights"].data(), n, m},
                  .row_offset = visible_.bit_offsets,
                  .row_change = visible_.change,
                  .column_offset = hidden_.bit_offsets,
                  .column_change = hidden_.change,
                  .scale = static_cast<float>(1.0 / (g * h)),
                  .rate = static_cast<float>(rate),
                  .momentum = static_cast<float>(sgd.momentum),
                  .l1 = static_cast<float>(scaled.l1),
                  .l2 = static_cast<float>(scaled.l2)};
    if (sgd.momentum != 0.0) ascent.velocity = velocity.first(n * m);
    const auto step_tile = [&](std::size_t row, std::size_t column, MatrixView<const float> tile) {
      for (std::size_t r = 0; r < tile.rows(); r += Couplings::kBlock) {
        const std::size_t rows = std::min(Couplings::kBlock, tile.rows() - r);
        {
          const Timed timed(context.profile, Stage::kStep);
          ascend(ascent, row + r, column, {tile.row(r).data(), rows, tile.cols()});
        }
        const Timed timed(context.profile, Stage::kRenew);
        done(row + r, column);
      }
    };
    const WeightedPairs sides[] = {side(data, 1.0), side(samples, -1.0)};
    pair_counts_.run(sides, step_tile, context);
    step_bias(visible_.gradient, sgd, rate, velocity.subspan(n * m, n), parameters["visible_bias"]);
    step_bias(hidden_.gradient, sgd, rate, velocity.subspan(n * m + n, m), parameters["hidden_bias"]);
  };
  model.update_by_blocks(edit, context);
}

}  // namespace ergodic
