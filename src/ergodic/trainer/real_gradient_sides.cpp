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
void add_sums(float factor, MatrixView<const float> rows, std::span<float> out, std::span<float> squares) {
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    const std::span<const float> row = rows.row(r);
    add_row(factor, row, out);
    if (!squares.empty()) add_squares(factor, row, squares);
  }
}

void add_sums(float factor, const State& state, std::span<float> out, std::span<float> squares) {
  if (state.real()) return add_sums(factor, state.reals(), out, squares);
  thread_local std::vector<std::uint32_t> counts;
  counts.resize(out.size());
  count_columns({{{&state.bits(), counts}}}, {});
  const float low = state.levels().low * static_cast<float>(state.chains()), gap = state.levels().gap();
  for (std::size_t k = 0; k < out.size(); ++k) out[k] += factor * (low + gap * static_cast<float>(counts[k]));
}

/// Calls put(first unit, how many, place of the first) for the parts of row r of real units as they are kept for
/// look-ups, `width` units after another: visible ones by strips, so that each strip is a matrix of its own.
template <class Put>
void for_parts(std::size_t width, std::size_t r, std::size_t rows, std::size_t units, const Put& put) {
  for (std::size_t first = 0; first < units; first += width) {
    const std::size_t count = std::min(width, units - first);
    put(first, count, first * rows + r * count);
  }
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
    add_sums(each, visible, visible_.change, visible_.square_change);
    add_sums(each, hidden, hidden_.change, {});
    const State &bits = visible_real_ ? hidden : visible, &reals = visible_real_ ? visible : hidden;
    Side& side = sides_[s];
    if (side.columns.rows() != bits.units() || side.columns.cols() != bits.chains()) {
      side.columns = Bits(bits.units(), bits.chains());
    }
    transpose(bits.bits(), side.columns);
    side.levels = bits.levels();
    if (rounded_) continue;
    reshape(reals.chains(), reals.units(), side.reals);
    for (std::size_t r = 0; r < reals.chains(); ++r) {
      for_parts(part_width(), r, reals.chains(), reals.units(), [&](std::size_t k, std::size_t count, std::size_t at) {
        scale(each, reals.reals().row(r).subspan(k, count), side.reals.elements().subspan(at, count));
      });
    }
  }
  visible_.pair_change = visible_.change;
  hidden_.pair_change = hidden_.change;
  if (rounded_) round_sides(terms);

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

void RealGradient::round_sides(const RealTerms& terms) {
  Units& reals = visible_real_ ? visible_ : hidden_;
  const std::vector<float>& offset = reals.offset;
  const auto for_rows = [&](const auto& f) {
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const BothLayers& layers = s == 0 ? terms.data : terms.samples;
      const State& state = visible_real_ ? layers.visible : layers.hidden;
      for (std::size_t r = 0; r < state.chains(); ++r) f(s, r, state, share_of(state, s));
    }
  };
  units_.assign(offset.size(), 0.0f);
  for_rows([&](std::size_t, std::size_t r, const State& state, float each) {
    add_distances(std::abs(each) / kLargestSum, state.reals().row(r), offset, units_);
  });
  scales_.resize(offset.size());
  rounded_sums_.assign(offset.size(), 0);
  for_rows([&](std::size_t s, std::size_t r, const State& state, float each) {
    Matrix<std::int16_t>& rounded = sides_[s].rounded;
    if (rounded.rows() != state.chains() || rounded.cols() != state.units()) rounded = {state.chains(), state.units()};
    if (r == 0) {
      for (std::size_t k = 0; k < units_.size(); ++k) scales_[k] = units_[k] > kLeastUnit ? each / units_[k] : 0.0f;
    }
    for_parts(part_width(), r, state.chains(), state.units(), [&](std::size_t k, std::size_t count, std::size_t at) {
      round_about(state.reals().row(r).subspan(k, count), std::span(offset).subspan(k, count),
                  std::span(scales_).subspan(k, count), rounded.elements().subspan(at, count),
                  std::span(rounded_sums_).subspan(k, count));
    });
  });
  // Pairs about the offsets of bits must not see what is rounded off: it would be multiplied by these offsets.
  for (std::size_t k = 0; k < units_.size(); ++k) reals.pair_change[k] = units_[k] * rounded_sums_[k];
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
