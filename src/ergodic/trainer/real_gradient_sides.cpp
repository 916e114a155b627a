// The sides of the gradient, as strips read them: what units differ by, rounded or in float, and the directions along
// which steps are shorter.
#include <algorithm>
#include <cmath>

#include "ergodic/kernels/bit_counts.hpp"
#include "ergodic/kernels/bit_product.hpp"
#include "ergodic/kernels/couplings.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/kernels/weight_rows.hpp"
#include "ergodic/trainer/real_gradient.hpp"

namespace ergodic {
namespace {

// Rows of both sides whose sums of 16 bits are fine enough.
constexpr std::size_t kMostRounded = 512;
constexpr float kLargestSum = 32000.0f, kLeastUnit = 1e-35f;  // below which all is zero
static_assert(32000 + kMostRounded / 2 < 32767);              // each term may be rounded up
constexpr std::size_t kUnitsOfThread = 256;                   // of whole strips, taken over all rows

void reshape(std::size_t rows, std::size_t cols, Matrix<float>& m) {
  if (m.rows() != rows || m.cols() != cols) m = Matrix<float>(rows, cols);
}

float share_of(const State& rows, std::size_t side) {
  return (side == 0 ? 1.0f : -1.0f) / static_cast<float>(rows.chains());
}

/// to = factor from.
void scale(float factor, std::span<const float> from, std::span<float> to) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = factor * from[k];
}

/// out += factor * row over the rows, and the same of squares if there is a place for them.
void add_sums(float factor, const State& state, std::span<float> out, std::span<float> squares,
              const Context& context) {
  if (state.real()) {
    context.for_blocks(out.size(), kUnitsOfThread, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = 0; r < state.chains(); ++r) {
        const std::span<const float> row = state.reals().row(r).subspan(begin, end - begin);
        add_row(factor, row, out.subspan(begin, end - begin));
        if (!squares.empty()) add_squares(factor, row, squares.subspan(begin, end - begin));
      }
    });
    return;
  }
  thread_local std::vector<std::uint32_t> counts;
  counts.resize(out.size());
  count_columns({{{&state.bits(), counts}}}, context);
  const float low = state.levels().low * static_cast<float>(state.chains()), gap = state.levels().gap();
  for (std::size_t k = 0; k < out.size(); ++k) out[k] += factor * (low + gap * static_cast<float>(counts[k]));
}

}  // namespace

/// Everything but pairs: sums of units, the sides, and the gradients of biases and precisions as far as they go.
void RealGradient::prepare(const Rbm& model, const RealTerms& terms, const Context& context) {
  const std::size_t n = terms.mu.size(), m = terms.lambda.size();
  visible_real_ = real_valued(model.visible());
  rounded_ = terms.data.visible.chains() + terms.samples.visible.chains() <= kMostRounded;
  const auto set = [](std::span<const double> offset, std::span<const double> gap, bool squares, Units& units) {
    units.offset.assign(offset.begin(), offset.end());
    units.per_square.resize(gap.size());
    for (std::size_t k = 0; k < gap.size(); ++k) units.per_square[k] = static_cast<float>(1.0 / (gap[k] * gap[k]));
    units.change.assign(offset.size(), 0.0f);
    units.square_change.assign(squares ? offset.size() : 0, 0.0f);
  };
  set(terms.mu, terms.gaps.visible, visible_real_, visible_);
  set(terms.lambda, terms.gaps.hidden, false, hidden_);
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const auto& [visible, hidden] = s == 0 ? terms.data : terms.samples;
    const float each = share_of(visible, s);
    add_sums(each, visible, visible_.change, visible_.square_change, context);
    add_sums(each, hidden, hidden_.change, {}, context);
    const State &bits = visible_real_ ? hidden : visible, &reals = visible_real_ ? visible : hidden;
    Side& side = sides_[s];
    if (side.columns.rows() != bits.units() || side.columns.cols() != bits.chains()) {
      side.columns = Bits(bits.units(), bits.chains());
    }
    transpose(bits.bits(), side.columns);
    side.levels = bits.levels();
    if (rounded_) continue;
    reshape(reals.chains(), reals.units(), side.reals);
    context.for_blocks(reals.units(), kRealStrip, [&](std::size_t first, std::size_t end) {
      for (std::size_t r = 0; r < reals.chains(); ++r) {
        scale(each, reals.reals().row(r).subspan(first, end - first), part_of(side.reals, first, end - first, r));
      }
    });
  }
  visible_.pair_change = visible_.change;
  hidden_.pair_change = hidden_.change;
  if (rounded_) round_sides(terms, context);

  const std::size_t weights = n * m;
  rest_.assign(model.parameters().values().size() - weights, 0.0f);
  const auto part = [&](const char* slot) {
    const Slot& found = model.parameters().slot(slot);
    return std::span(rest_).subspan(found.offset - weights, found.size);
  };
  bias_ = part("visible_bias");
  hidden_bias_ = part("hidden_bias");
  precision_ = visible_real_ ? part(Rbm::precision_slot(Rbm::kVisible)) : std::span<float>();
  for (std::size_t i = 0; i < n; ++i) bias_[i] = visible_.change[i] * visible_.per_square[i];
  const std::span<const double> deviations = model.precision(Rbm::kVisible).deviations;
  const std::span<const float> visible_bias = model.visible_bias();
  for (std::size_t i = 0; i < precision_.size(); ++i) {
    const auto deviation = static_cast<float>(deviations[i]);
    precision_[i] = -0.5f * visible_.square_change[i] / (deviation * deviation) + visible_bias[i] * visible_.change[i];
  }
  find_directions(terms, context);
  reshape((n + strip_height() - 1) / strip_height(), m, follow_);
}

void RealGradient::round_sides(const RealTerms& terms, const Context& context) {
  static_assert(kUnitsOfThread % kRealStrip == 0);
  Units& reals = visible_real_ ? visible_ : hidden_;
  const std::size_t units = reals.offset.size();
  units_.assign(units, 0.0f);
  scales_.resize(units);
  rounded_sums_.assign(units, 0);
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const std::size_t rows = real_side(terms, s).chains();
    Matrix<std::int16_t>& rounded = sides_[s].rounded;
    if (rounded.rows() != rows || rounded.cols() != units) rounded = {rows, units};
  }
  context.for_blocks(units, kUnitsOfThread,
                     [&](std::size_t first, std::size_t end) { round_units(terms, reals.offset, first, end - first); });
  // Pairs about the offsets of bits must not see what is rounded off: it would be multiplied by these offsets.
  for (std::size_t k = 0; k < units; ++k) reals.pair_change[k] = units_[k] * rounded_sums_[k];
}

/// The real units [first, first + count) of both sides.
void RealGradient::round_units(const RealTerms& terms, std::span<const float> offsets, std::size_t first,
                               std::size_t count) {
  const std::span<const float> offset = offsets.subspan(first, count);
  const std::span<float> unit = std::span(units_).subspan(first, count),
                         scale = std::span(scales_).subspan(first, count);
  const std::span<std::int16_t> sums = std::span(rounded_sums_).subspan(first, count);
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const State& state = real_side(terms, s);
    const float share = std::abs(share_of(state, s)) / kLargestSum;
    for (std::size_t r = 0; r < state.chains(); ++r) {
      add_distances(share, state.reals().row(r).subspan(first, count), offset, unit);
    }
  }
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const State& state = real_side(terms, s);
    const float each = share_of(state, s);
    for (std::size_t k = 0; k < count; ++k) scale[k] = unit[k] > kLeastUnit ? each / unit[k] : 0.0f;
    for (std::size_t r = 0; r < state.chains(); ++r) {
      for (std::size_t k = 0; k < count; k += kRealStrip) {
        const std::size_t width = std::min(kRealStrip, count - k);
        round_about(state.reals().row(r).subspan(first + k, width), offset.subspan(k, width), scale.subspan(k, width),
                    part_of(sides_[s].rounded, first + k, width, r), sums.subspan(k, width));
      }
    }
  }
}

/// Steps along principal directions of the data lose a share. The directions are orthogonal: all lose at once.
void RealGradient::find_directions(const RealTerms& terms, const Context& context) {
  const Gaps& gaps = terms.gaps;
  const std::size_t count = gaps.shortened.size(), n = visible_.offset.size(), m = hidden_.offset.size();
  if (count == 0) return;
  if (directions_.rows() != n) {
    directions_ = Matrix<float>(n, count);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        directions_(i, k) = static_cast<float>(gaps.directions(k, i) / gaps.visible[i]);
      }
    }
  }
  reshape(m, count, turned_along_);
  reshape(count, m, along_);
  std::ranges::fill(turned_along_.elements(), 0.0f);
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const State& visible = (s == 0 ? terms.data : terms.samples).visible;
    reshape(visible.chains(), count, projected_[s]);
    std::ranges::fill(projected_[s].elements(), 0.0f);
    add_product(visible.reals(), directions_, projected_[s], context);
    scale(share_of(visible, s), projected_[s].elements(), projected_[s].elements());
    add_bit_product(sides_[s].columns, 0, sides_[s].levels, projected_[s], turned_along_, context);
  }
  // As the pairs are, they are taken about the offsets and in terms of the gaps.
  thread_local std::vector<float> mean, change, less;
  mean.assign(count, 0.0f);
  change.assign(count, 0.0f);
  less.resize(count);
  for (std::size_t k = 0; k < count; ++k) less[k] = static_cast<float>(-gaps.shortened[k]);
  for (std::size_t i = 0; i < n; ++i) {
    add_row(visible_.offset[i], directions_.row(i), mean);
    add_row(visible_.change[i], directions_.row(i), change);
  }
  transpose(turned_along_, along_, {});
  for (std::size_t k = 0; k < count; ++k) {
    centre_row({mean[k], change[k], less[k], hidden_.offset, hidden_.change, hidden_.per_square}, along_.row(k));
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < count; ++k) bias_[i] += less[k] * change[k] * directions_(i, k);
  }
}

}  // namespace ergodic
