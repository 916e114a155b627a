#include "ergodic/trainer/sampled_ascent.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

#include "ergodic/kernels/ascent.hpp"
#include "ergodic/kernels/bit_counts.hpp"

namespace ergodic {
namespace {

/// Fraction bits of the offsets, for batches of so many rows. Trained machines depend on it to the last bit, so it must
/// not change.
int fraction_bits(std::size_t rows) {
  constexpr std::size_t kManyRows = 32767;
  return std::min(PairProjection::kMaxBits, 20 - static_cast<int>(std::bit_width(std::min(rows, kManyRows))));
}

struct Dots {
  double change = 0.0, offset = 0.0;
};

/// Both sums at once: each waits for its own last addition only.
Dots dots(std::span<const float> change, std::span<const float> bit_offsets, std::span<const float> offsets) {
  Dots out;
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    out.change += double{change[k]} * double{offsets[k]};
    out.offset += double{bit_offsets[k]} * double{offsets[k]};
  }
  return out;
}

/// shares[k] = k / rows. A batch has as many rows as the last one, nearly always.
void set_shares(std::size_t rows, std::vector<double>& shares) {
  if (shares.size() == rows + 1) return;
  shares.resize(rows + 1);
  for (std::size_t k = 0; k <= rows; ++k) shares[k] = static_cast<double>(k) / static_cast<double>(rows);
}

WeightedPairs side(const Chains& chains, double sign) {
  return {&chains.layers[Rbm::kVisible].bits(), &chains.layers[Rbm::kHidden].bits(),
          static_cast<float>(sign / static_cast<double>(chains.count()))};
}

}  // namespace

void SampledAscent::count(const Chains& data, const Chains& samples, const Context& context) {
  hidden_data_counts_.resize(data.layers[Rbm::kHidden].units());
  hidden_sample_counts_.resize(hidden_data_counts_.size());
  count_columns(std::array{ColumnCounts{&data.layers[Rbm::kHidden].bits(), hidden_data_counts_},
                           ColumnCounts{&samples.layers[Rbm::kHidden].bits(), hidden_sample_counts_}},
                context);
  set_shares(data.count(), data_shares_);
  set_shares(samples.count(), sample_shares_);
  const auto set_change = [&](std::span<const std::uint32_t> of_data, std::span<const std::uint32_t> of_samples,
                              std::vector<float>& change) {
    change.resize(of_data.size());
    for (std::size_t k = 0; k < change.size(); ++k) {
      change[k] = static_cast<float>(data_shares_[of_data[k]] - sample_shares_[of_samples[k]]);
    }
  };
  set_change(pair_counts_.rows_on(0), pair_counts_.rows_on(1), visible_.change);
  set_change(hidden_data_counts_, hidden_sample_counts_, hidden_.change);
}

void SampledAscent::set_offsets(std::span<const double> values, Levels levels, Units& units) const {
  const double scale = std::ldexp(1.0, fraction_bits_), unit = 1.0 / scale;
  const double per_gap = 1.0 / levels.gap();  // gaps are 1 or 2: no division rounds
  constexpr double kRound = 0x1.8p52;         // adding it rounds to an integer, in vectors of any CPU
  units.offsets.resize(values.size());
  units.bit_offsets.resize(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double rounded = (values[k] * scale + kRound) - kRound;
    units.offsets[k] = static_cast<float>(rounded);
    units.bit_offsets[k] = static_cast<float>((unit * rounded - levels.low) * per_gap);
  }
}

void SampledAscent::find_decay(const Rbm& model, const Decay& decay) {
  visible_.decay.assign(visible_.offsets.size(), 0.0);
  hidden_.decay.assign(hidden_.offsets.size(), 0.0);
  if (decay.l1 == 0.0 && decay.l2 == 0.0) return;
  const double unit = std::ldexp(1.0, -fraction_bits_);
  for (std::size_t i = 0; i < model.weights().rows(); ++i) {
    const std::span<const float> row = model.weights().row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double sign = static_cast<double>(row[j] > 0.0f) - static_cast<double>(row[j] < 0.0f);
      const double pull = unit * (decay.l2 * row[j] + decay.l1 * sign);
      visible_.decay[i] += pull * hidden_.offsets[j];
      hidden_.decay[j] += pull * visible_.offsets[i];
    }
  }
}

void SampledAscent::project(std::span<const WeightedPairs> sides, const Context& context) {
  visible_.pair_change.assign(visible_.offsets.size(), 0.0);
  hidden_.pair_change.assign(hidden_.offsets.size(), 0.0);
  pair_projection_.add(sides, {visible_.offsets, visible_.pair_change}, {hidden_.offsets, hidden_.pair_change},
                       context);
}

void SampledAscent::step(Rbm& model, const Chains& data, const Chains& samples, const Offsets& offsets,
                         const Decay& decay, const Sgd& sgd, double rate, std::span<float> velocity,
                         const Context& context) {
  const std::size_t n = units_of(model.visible()), m = units_of(model.hidden());
  const Levels visible_levels = levels_of(model.visible()), hidden_levels = levels_of(model.hidden());
  const double g = visible_levels.gap(), h = hidden_levels.gap();
  const Decay scaled{decay.l1 / (g * h), decay.l2};
  const WeightedPairs sides[] = {side(data, 1.0), side(samples, -1.0)};
  pair_counts_.begin(sides, context);
  {
    const Timed timed(context.profile, ProfiledStage::kBias);
    fraction_bits_ = fraction_bits(std::max(data.count(), samples.count()));
    count(data, samples, context);
    for (std::size_t j = 0; j < m; ++j) {
      const double share = data_shares_[hidden_data_counts_[j]];
      offsets.hidden[j] += offsets.hidden_rate * (hidden_levels.low + h * share - offsets.hidden[j]);
    }
    set_offsets(offsets.visible, visible_levels, visible_);
    set_offsets(offsets.hidden, hidden_levels, hidden_);
    find_decay(model, scaled);
  }

  // db = dx / g - dW lambda, lambda being a value: the biases follow the weights so that the units' means stay.
  const auto step_bias = [&](const Units& own, const Units& other, double gap, std::span<float> own_velocity,
                             std::span<float> bias) {
    const double unit = std::ldexp(1.0, -fraction_bits_);
    const double per_gap = 1.0 / gap, per_pair = 1.0 / (g * h);
    const Dots found = dots(other.change, other.bit_offsets, other.offsets);
    const double change = unit * found.change, offset = unit * found.offset;
    for (std::size_t k = 0; k < bias.size(); ++k) {
      const double pairs = unit * own.pair_change[k] - own.bit_offsets[k] * change - own.change[k] * offset;
      const double gradient = per_gap * own.change[k] - per_pair * pairs + own.decay[k];
      const double step = sgd.momentum * own_velocity[k] + gradient;
      own_velocity[k] = static_cast<float>(step);
      bias[k] = static_cast<float>(bias[k] + rate * step);
    }
  };
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
    static_assert(PairCounts::kRows == Couplings::kBlock && PairCounts::kColumns == Couplings::kBlock);
    const auto step_block = [&](std::size_t row, std::size_t column, const PairBlock& difference) {
      {
        const Timed timed(context.profile, ProfiledStage::kStep);
        ascend(ascent, row, column, difference);
      }
      const Timed timed(context.profile, ProfiledStage::kRenew);
      done(row, column);
    };
    pair_counts_.run(sides, std::cref(step_block), context);
    const Timed timed(context.profile, ProfiledStage::kBias);
    project(sides, context);
    step_bias(visible_, hidden_, g, velocity.subspan(n * m, n), parameters["visible_bias"]);
    step_bias(hidden_, visible_, h, velocity.subspan(n * m + n, m), parameters["hidden_bias"]);
  };
  model.update_by_blocks(edit, context);
}

}  // namespace ergodic
