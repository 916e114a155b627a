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

/// sum_k (l2 w + l1 sign w) offset_k over one row or column of weights.
double pull(const Decay& decay, float weight, double offset) {
  const double sign = static_cast<double>(weight > 0.0f) - static_cast<double>(weight < 0.0f);
  return (decay.l2 * weight + decay.l1 * sign) * offset;
}

/// One momentum step of a bias.
void step_bias(std::span<const double> gradient, const Sgd& sgd, double rate, std::span<float> velocity,
               std::span<float> bias) {
  for (std::size_t k = 0; k < bias.size(); ++k) {
    const double change = sgd.momentum * velocity[k] + gradient[k];
    velocity[k] = static_cast<float>(change);
    bias[k] = static_cast<float>(bias[k] + rate * change);
  }
}

}  // namespace

void SampledAscent::set_offsets(Layer& layer, std::span<const double> offsets, Levels levels) {
  // No sum over all units reaches the range of exact sums.
  const auto units_bits = static_cast<int>(std::bit_width(offsets.size()));
  layer.fraction_bits = std::min(kMaxFractionBits, kBitSumRange - units_bits);
  const double scale = std::ldexp(1.0, layer.fraction_bits);
  layer.offsets.resize(offsets.size());
  layer.bit_offsets.resize(offsets.size());
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    const double rounded = std::nearbyint(offsets[k] * scale);
    layer.offsets[k] = static_cast<std::int32_t>(rounded);
    layer.bit_offsets[k] = static_cast<float>((rounded / scale - levels.low) / levels.gap());
  }
}

void SampledAscent::compare(Layer& layer, std::size_t data_rows, std::size_t sample_rows, int other_fraction_bits) {
  const std::size_t units = layer.data.counts.size();
  layer.change.resize(units);
  layer.other_change.resize(units);
  const double data = static_cast<double>(data_rows), samples = static_cast<double>(sample_rows);
  const double unit = std::ldexp(1.0, -other_fraction_bits);
  for (std::size_t k = 0; k < units; ++k) {
    layer.change[k] = static_cast<float>(static_cast<double>(layer.data.counts[k]) / data -
                                         static_cast<double>(layer.samples.counts[k]) / samples);
    layer.other_change[k] = unit * (static_cast<double>(layer.data.other_values[k]) / data -
                                    static_cast<double>(layer.samples.other_values[k]) / samples);
  }
}

void SampledAscent::step(Rbm& model, const Chains& data, const Chains& samples, const Offsets& offsets,
                         const Decay& decay, const Sgd& sgd, double rate, std::span<float> velocity,
                         const Context& context) {
  const std::size_t n = units_of(model.visible()), m = units_of(model.hidden());
  const Levels visible_levels = levels_of(model.visible()), hidden_levels = levels_of(model.hidden());
  const double g = visible_levels.gap(), h = hidden_levels.gap();
  const auto sum_rows_of = [&](std::size_t block, const Chains& chains, Layer& layer, Sums& sums) {
    sums.row_values.resize(chains.count());
    sum_rows(chains.layers[block].bits(), layer.offsets, sums.row_values, context);
  };
  const auto sum_columns_of = [&](std::size_t block, const Chains& chains, const Sums& other, Sums& sums) {
    sums.counts.resize(units_of(model.layer(block)));
    sums.other_values.resize(sums.counts.size());
    sum_columns(chains.layers[block].bits(), other.row_values, sums.counts, sums.other_values, context);
  };

  set_offsets(visible_, offsets.visible, visible_levels);
  sum_rows_of(Rbm::kVisible, data, visible_, visible_.data);
  sum_rows_of(Rbm::kVisible, samples, visible_, visible_.samples);
  sum_columns_of(Rbm::kHidden, data, visible_.data, hidden_.data);
  sum_columns_of(Rbm::kHidden, samples, visible_.samples, hidden_.samples);
  const auto rows = static_cast<double>(data.count());
  for (std::size_t j = 0; j < m; ++j) {
    const double mean = hidden_levels.low + h * static_cast<double>(hidden_.data.counts[j]) / rows;
    offsets.hidden[j] += offsets.hidden_rate * (mean - offsets.hidden[j]);
  }
  set_offsets(hidden_, offsets.hidden, hidden_levels);
  sum_rows_of(Rbm::kHidden, data, hidden_, hidden_.data);
  sum_rows_of(Rbm::kHidden, samples, hidden_, hidden_.samples);
  sum_columns_of(Rbm::kVisible, data, hidden_.data, visible_.data);
  sum_columns_of(Rbm::kVisible, samples, hidden_.samples, visible_.samples);
  compare(visible_, data.count(), samples.count(), hidden_.fraction_bits);
  compare(hidden_, data.count(), samples.count(), visible_.fraction_bits);

  // The biases follow the weights so that the units' means stay: db = dx / g - dW lambda, with the offsets as values.
  const auto bias_gradient = [&](const Layer& own, const Layer& other, double gap) {
    const double unit = std::ldexp(1.0, -other.fraction_bits);
    double change_dot = 0.0, offset_dot = 0.0;
    for (std::size_t k = 0; k < other.offsets.size(); ++k) {
      change_dot += double{other.change[k]} * other.offsets[k];
      offset_dot += double{other.bit_offsets[k]} * other.offsets[k];
    }
    change_dot *= unit;
    offset_dot *= unit;
    std::vector<double> gradient(own.offsets.size());
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const double pairs = own.other_change[k] - own.bit_offsets[k] * change_dot - own.change[k] * offset_dot;
      gradient[k] = own.change[k] / gap - pairs / (g * h);
    }
    return gradient;
  };
  std::vector<double> visible_gradient = bias_gradient(visible_, hidden_, g);
  std::vector<double> hidden_gradient = bias_gradient(hidden_, visible_, h);
  const Decay scaled{decay.l1 / (g * h), decay.l2};
  if (decay.l1 != 0.0 || decay.l2 != 0.0) {
    const double visible_unit = std::ldexp(1.0, -visible_.fraction_bits);
    const double hidden_unit = std::ldexp(1.0, -hidden_.fraction_bits);
    for (std::size_t i = 0; i < n; ++i) {
      const std::span<const float> row = model.weights().row(i);
      for (std::size_t j = 0; j < m; ++j) {
        visible_gradient[i] += pull(scaled, row[j], hidden_unit * hidden_.offsets[j]);
        hidden_gradient[j] += pull(scaled, row[j], visible_unit * visible_.offsets[i]);
      }
    }
  }

  const std::span<float> weight_velocity = sgd.momentum != 0.0 ? velocity.first(n * m) : std::span<float>{};
  model.update_by_blocks(
      [&](Parameters& parameters, const auto& done) {
        const Ascent ascent{{parameters["weights"].data(), n, m},
                            weight_velocity,
                            visible_.bit_offsets,
                            visible_.change,
                            hidden_.bit_offsets,
                            hidden_.change,
                            static_cast<float>(1.0 / (g * h)),
                            static_cast<float>(rate),
                            static_cast<float>(sgd.momentum),
                            static_cast<float>(scaled.l1),
                            static_cast<float>(scaled.l2)};
        const auto side = [](const Chains& chains, double sign) {
          return WeightedPairs{&chains.layers[Rbm::kVisible].bits(), &chains.layers[Rbm::kHidden].bits(),
                               static_cast<float>(sign / static_cast<double>(chains.count()))};
        };
        const WeightedPairs sides[] = {side(data, 1.0), side(samples, -1.0)};
        counts_.run(
            sides,
            [&](std::size_t row, std::size_t column, MatrixView<const float> tile) {
              for (std::size_t r = 0; r < tile.rows(); r += Couplings::kBlock) {
                const std::size_t rows = std::min(Couplings::kBlock, tile.rows() - r);
                ascend(ascent, row + r, column, {tile.row(r).data(), rows, tile.cols()});
                done(row + r, column);
              }
            },
            context);
        step_bias(visible_gradient, sgd, rate, velocity.subspan(n * m, n), parameters["visible_bias"]);
        step_bias(hidden_gradient, sgd, rate, velocity.subspan(n * m + n, m), parameters["hidden_bias"]);
      },
      context);
}

}  // namespace ergodic
