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

/// How weights are taken to find what their decay does to the biases: rows and columns of a task, sums of a row.
constexpr std::size_t kDecayRows = 64, kDecayColumns = 128, kDecayLanes = 16;

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

/// Zeros where a block of the weights meets these pairs.
void clear(MatrixView<float> weights, std::size_t row, std::size_t column, std::size_t rows, const UnitPairs& pairs) {
  const std::size_t first = std::max(row, pairs.first_row), last = std::min(row + rows, pairs.first_row + pairs.rows);
  const std::size_t begin = std::max(column, pairs.first_column),
                    end = std::min(column + PairCounts::kColumns, pairs.first_column + pairs.columns);
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t j = begin; j < end; ++j) weights(i, j) = 0.0f;
  }
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

void SampledAscent::find_decay(const Rbm& model, const Decay& decay, double gaps, const Context& context) {
  visible_.decay.assign(visible_.offsets.size(), 0.0);
  column_l1_.clear();
  hidden_.decay.assign(hidden_.offsets.size(), 0.0);
  if (!decay.pulls_weights()) return;
  column_l1_.resize(hidden_.offsets.size());
  for (std::size_t j = 0; j < column_l1_.size(); ++j) {
    column_l1_[j] = static_cast<float>(decay.l1_of(j) / gaps);
  }
  const auto l2 = static_cast<float>(decay.l2);
  const float* const l1 = column_l1_.data();
  const auto pull = [=](float weight, std::size_t j) {
    // Without a branch on signs, which nobody can predict.
    const float sign = static_cast<float>(weight > 0.0f) - static_cast<float>(weight < 0.0f);
    return l2 * weight + l1[j] * sign;
  };
  const double unit = std::ldexp(1.0, -fraction_bits_);
  const std::size_t rows = model.weights().rows(), columns = model.weights().cols();
  context.for_blocks(rows, kDecayRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const float* const row = model.weights().row(i).data();
      // Sums side by side: none waits for another.
      std::array<float, kDecayLanes> sums{};
      std::size_t j = 0;
      for (; j + kDecayLanes <= columns; j += kDecayLanes) {
        for (std::size_t k = 0; k < kDecayLanes; ++k) sums[k] += pull(row[j + k], j + k) * hidden_.offsets[j + k];
      }
      double total = 0.0;
      for (; j < columns; ++j) total += pull(row[j], j) * hidden_.offsets[j];
      for (const float sum : sums) total += sum;
      visible_.decay[i] = unit * total;
    }
  });
  context.for_blocks(columns, kDecayColumns, [&](std::size_t begin, std::size_t end) {
    std::array<float, kDecayColumns> sums{};
    for (std::size_t i = 0; i < rows; ++i) {
      const float* const row = model.weights().row(i).data() + begin;
      const float offset = visible_.offsets[i];
      for (std::size_t j = 0; j < end - begin; ++j) sums[j] += pull(row[j], begin + j) * offset;
    }
    for (std::size_t j = begin; j < end; ++j) hidden_.decay[j] = unit * sums[j - begin];
  });
}

/// Adds what the pairs of a block are about the offsets.
void SampledAscent::project_block(const UnitPairs& block, std::span<const WeightedPairs> sides,
                                  const Context& context) {
  const auto begin = [](Units& units, std::size_t first, std::size_t count) {
    units.part.assign(units.offsets.size(), 0.0f);
    std::copy_n(units.offsets.begin() + static_cast<std::ptrdiff_t>(first), count,
                units.part.begin() + static_cast<std::ptrdiff_t>(first));
    units.pair_change.assign(units.offsets.size(), 0.0);
  };
  begin(visible_, block.first_row, block.rows);
  begin(hidden_, block.first_column, block.columns);
  pair_projection_.add(sides, {visible_.part, visible_.pair_change}, {hidden_.part, hidden_.pair_change}, context);
  const double unit = std::ldexp(1.0, -fraction_bits_);
  const auto add = [&](Units& own, std::size_t first, std::size_t count, const Units& other, std::size_t other_first,
                       std::size_t other_count) {
    const auto part = [&](std::span<const float> values) { return values.subspan(other_first, other_count); };
    const Dots found = dots(part(other.change), part(other.bit_offsets), part(other.offsets));
    const double change = unit * found.change, offset = unit * found.offset;
    for (std::size_t k = first; k < first + count; ++k) {
      own.pairs[k] += unit * own.pair_change[k] - own.bit_offsets[k] * change - own.change[k] * offset;
    }
  };
  add(visible_, block.first_row, block.rows, hidden_, block.first_column, block.columns);
  add(hidden_, block.first_column, block.columns, visible_, block.first_row, block.rows);
}

void SampledAscent::project(const Rbm& model, std::span<const WeightedPairs> sides, const Context& context) {
  visible_.pairs.assign(visible_.offsets.size(), 0.0);
  hidden_.pairs.assign(hidden_.offsets.size(), 0.0);
  const UnitPairs all{0, visible_.pairs.size(), 0, hidden_.pairs.size()};
  const std::vector<UnitPairs>& coupled = model.structure().coupled;
  for (const UnitPairs& block : coupled.empty() ? std::span(&all, 1) : std::span<const UnitPairs>(coupled)) {
    project_block(block, sides, context);
  }
}

void SampledAscent::prepare(const Rbm& model, const SampledTerms& terms, std::span<const WeightedPairs> sides,
                            const Context& context) {
  const Levels visible_levels = levels_of(model.visible()), hidden_levels = levels_of(model.hidden());
  pair_counts_.begin(sides, context);
  const Timed timed(context.profile, ProfiledStage::kBias);
  fraction_bits_ = fraction_bits(std::max(terms.data.count(), terms.samples.count()));
  count(terms.data, terms.samples, context);
  const auto follow = [&](std::span<double> of, std::span<const std::uint32_t> counts, std::size_t first,
                          Levels levels) {
    for (std::size_t k = first; k < of.size(); ++k) {
      const double share = data_shares_[counts[k]];
      of[k] += terms.offsets.rate * (levels.low + double{levels.gap()} * share - of[k]);
    }
  };
  follow(terms.offsets.hidden, hidden_data_counts_, 0, hidden_levels);
  follow(terms.offsets.visible, pair_counts_.rows_on(0), model.structure().observed, visible_levels);
  set_offsets(terms.offsets.visible, visible_levels, visible_);
  set_offsets(terms.offsets.hidden, hidden_levels, hidden_);
  find_decay(model, terms.decay, double{visible_levels.gap()} * hidden_levels.gap(), context);
  for (std::size_t j = 0; j < terms.decay.hidden.bias.size(); ++j) hidden_.decay[j] += terms.decay.hidden.bias[j];
}

/// db = dx / g - dW lambda, lambda being a value: the biases follow the weights so that the units' means stay.
void SampledAscent::step_biases(const Rbm& model, const Pace& pace, Parameters& parameters) const {
  const double g = levels_of(model.visible()).gap(), h = levels_of(model.hidden()).gap();
  const auto step = [&](const Units& own, double gap, std::span<float> velocity, std::span<float> bias) {
    const double per_gap = 1.0 / gap, per_pair = 1.0 / (g * h);
    for (std::size_t k = 0; k < bias.size(); ++k) {
      const double gradient = per_gap * own.change[k] - per_pair * own.pairs[k] + own.decay[k];
      const double change = pace.sgd.momentum * velocity[k] + gradient;
      velocity[k] = static_cast<float>(change);
      bias[k] = static_cast<float>(bias[k] + pace.rate * change);
    }
  };
  const std::size_t n = units_of(model.visible()), m = units_of(model.hidden());
  step(visible_, g, pace.velocity.subspan(n * m, n), parameters["visible_bias"]);
  step(hidden_, h, pace.velocity.subspan(n * m + n, m), parameters["hidden_bias"]);
}

template <class Done>
void SampledAscent::ascend_blocks(const Rbm& model, Parameters& parameters, const SampledTerms& terms, const Pace& pace,
                                  const Done& done, const Context& context) {
  const std::size_t n = units_of(model.visible()), m = units_of(model.hidden());
  const double g = levels_of(model.visible()).gap(), h = levels_of(model.hidden()).gap();
  const WeightedPairs sides[] = {side(terms.data, 1.0), side(terms.samples, -1.0)};
  prepare(model, terms, sides, context);
  Ascent ascent{.weights = {parameters["weights"].data(), n, m},
                .row_offset = visible_.bit_offsets,
                .row_change = visible_.change,
                .column_offset = hidden_.bit_offsets,
                .column_change = hidden_.change,
                .column_l1 = column_l1_,
                .scale = static_cast<float>(1.0 / (g * h)),
                .rate = static_cast<float>(pace.rate),
                .momentum = static_cast<float>(pace.sgd.momentum),
                .l2 = static_cast<float>(terms.decay.l2)};
  if (pace.kept) ascent.velocity = pace.velocity.first(n * m);
  static_assert(PairCounts::kRows == Couplings::kBlock && PairCounts::kColumns == Couplings::kBlock);
  const auto step_block = [&](std::size_t row, std::size_t column, const PairBlock& difference) {
    {
      const Timed timed(context.profile, ProfiledStage::kStep);
      ascend(ascent, row, column, difference);
      for (const UnitPairs& pairs : model.structure().uncoupled) {
        clear(ascent.weights, row, column, difference.rows(), pairs);
      }
    }
    const Timed timed(context.profile, ProfiledStage::kRenew);
    done(row, column);
  };
  pair_counts_.run(sides, std::cref(step_block), context);
  const Timed timed(context.profile, ProfiledStage::kBias);
  project(model, sides, context);
  step_biases(model, pace, parameters);
}

void SampledAscent::step(Rbm& model, const SampledTerms& terms, const Sgd& sgd, double rate, std::span<float> velocity,
                         const Context& context) {
  model.update_by_blocks(
      [&](Parameters& parameters, const auto& done) {
        ascend_blocks(model, parameters, terms, {sgd, rate, velocity, sgd.momentum != 0.0}, done, context);
      },
      context);
}

void SampledAscent::find(const Rbm& model, Parameters& parameters, const SampledTerms& terms, std::span<float> gradient,
                         const Context& context) {
  // From rest, without momentum and at a rate of zero the velocity is the gradient, and the parameters stay.
  std::ranges::fill(gradient, 0.0f);
  ascend_blocks(
      model, parameters, terms, {Sgd{}, 0.0, gradient}, [](std::size_t, std::size_t) {}, context);
}

}  // namespace ergodic
