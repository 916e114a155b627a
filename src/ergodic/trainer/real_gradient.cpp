#include "ergodic/trainer/real_gradient.hpp"

#include <algorithm>

#include "ergodic/core/aligned.hpp"
#include "ergodic/kernels/bit_product.hpp"
#include "ergodic/kernels/couplings.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/kernels/weight_rows.hpp"

// What is done strip by strip. real_gradient_sides.cpp has what comes before.
namespace ergodic {
namespace {

/// A step of the parameters from `first` on, in float (optimiser.hpp). Without momentum there is no need of a velocity,
/// which takes as long to fetch and to store as the parameters.
void step_part(const Sgd& sgd, StepSize size, std::span<const float> gradient, std::size_t first,
               std::span<float> velocity, Parameters& parameters) {
  const auto rate = static_cast<float>(size.rate);
  const std::span<float> values = parameters.values().subspan(first, gradient.size());
  if (sgd.momentum == 0.0) return add_row(rate, gradient, values);
  step_row(static_cast<float>(sgd.momentum), rate, gradient, velocity.subspan(first, gradient.size()), values);
}

}  // namespace

template <>
const Matrix<float>& RealGradient::Side::values<float>() const {
  return reals;
}
template <>
const Matrix<std::int16_t>& RealGradient::Side::values<std::int16_t>() const {
  return rounded;
}

/// Adds the pairs of both sides for visible units from `first` on. Vectors of look-ups run along the real units: where
/// those are the visible ones, they are the columns of the sums.
template <class T>
void RealGradient::add_sides(std::size_t first, MatrixView<T> sums) const {
  for (const Side& side : sides_) {
    const Matrix<T>& values = side.values<T>();
    if (!visible_real_) {
      add_bit_product(side.columns, first, side.levels, values, sums, {});
      continue;
    }
    const MatrixView<const T> strip(values.data() + first * values.rows(), values.rows(), sums.cols());
    add_bit_product(side.columns, 0, side.levels, strip, sums, {});
  }
}

/// The mean of x v' in the data, minus that of the samples, for visible units from `first` on.
void RealGradient::find_pairs(std::size_t first, MatrixView<float> pairs) const {
  thread_local AlignedVector<float> memory;
  thread_local AlignedVector<std::int16_t> rounded_memory;
  memory.resize(std::max(memory.size(), pairs.elements().size()));
  const MatrixView<float> sums = visible_real_ ? MatrixView<float>(memory.data(), pairs.cols(), pairs.rows()) : pairs;
  if (rounded_) {
    rounded_memory.assign(pairs.elements().size(), 0);
    const MatrixView<std::int16_t> rounded(rounded_memory.data(), sums.rows(), sums.cols());
    add_sides(first, rounded);
    // The pairs of the offsets with the bits are added again.
    const Units &of_bits = visible_real_ ? hidden_ : visible_, &of_reals = visible_real_ ? visible_ : hidden_;
    const std::size_t row = visible_real_ ? 0 : first, column = visible_real_ ? first : 0;
    const auto part = [](const std::vector<float>& of, std::size_t begin, std::size_t count) {
      return std::span(of).subspan(begin, count);
    };
    widen_about(rounded, part(units_, column, sums.cols()), part(of_bits.change, row, sums.rows()),
                part(of_reals.offset, column, sums.cols()), sums);
  } else {
    std::ranges::fill(sums.elements(), 0.0f);
    add_sides(first, sums);
  }
  if (visible_real_) transpose(sums, pairs, {});
}

/// The derivative by a log precision at a fixed mean, then pairs about the offsets and in terms of the gaps.
void RealGradient::condition_row(const VisibleUnit& unit, std::span<float> row) {
  const std::size_t i = unit.index;
  if (visible_real_) precision_[i] += dot_rows(unit.weights, row);
  centre_row({visible_.offset[i], visible_.pair_change[i], visible_.per_square[i], hidden_.offset, hidden_.pair_change,
              hidden_.per_square},
             row);
}

/// Decay; biases that follow the weights, so that the units' means stay; and all that follows the precision.
void RealGradient::finish_row(const RealTerms& terms, const VisibleUnit& unit, std::span<float> follow,
                              std::span<float> row) {
  const std::size_t i = unit.index;
  const std::span<const float> w = unit.weights;
  const auto l2 = static_cast<float>(terms.decay.l2);
  const double gap = terms.gaps.hidden.front() * terms.gaps.visible[i];
  const auto l1 = static_cast<float>(terms.decay.l1 / gap), per_gap = static_cast<float>(1.0 / gap);
  if (terms.decay.pulls_weights()) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      const float sign = static_cast<float>(w[j] > 0.0f) - static_cast<float>(w[j] < 0.0f);
      const float own = hidden_l1_.empty() ? l1 : l1 + per_gap * hidden_l1_[j];
      row[j] -= l2 * w[j] + own * sign;
    }
  }
  const float dz = visible_real_ ? precision_[i] *= static_cast<float>(terms.gaps.precision[i]) : 0.0f;
  bias_[i] -= dot_rows(row, hidden_.offset);
  bias_[i] += unit.bias * dz;
  follow_row(visible_.offset[i], follow, dz, w, row);
}

/// Calls put(visible unit, gradient of its weights) for each of a strip, then done(first, end), on several threads;
/// then all else is found.
template <class Put, class Done>
void RealGradient::find_strips(const Rbm& model, const RealTerms& terms, const Context& context, const Put& put,
                               const Done& done) {
  prepare(model, terms, context);
  hidden_l1_.assign(terms.decay.hidden.l1.begin(), terms.decay.hidden.l1.end());
  const std::size_t n = terms.mu.size(), m = terms.lambda.size(), height = strip_height();
  const MatrixView<const float> weights = model.weights();
  const std::span<const float> bias = model.visible_bias();
  const auto unit = [&](std::size_t i) { return VisibleUnit{i, weights.row(i), bias[i]}; };
  context.for_blocks(n, height, [&](std::size_t begin, std::size_t end) {
    thread_local AlignedVector<float> memory;
    memory.resize(std::max(memory.size(), height * m));
    const MatrixView<float> strip(memory.data(), end - begin, m);
    find_pairs(begin, strip);
    for (std::size_t i = begin; i < end; ++i) condition_row(unit(i), strip.row(i - begin));
    if (!terms.gaps.shortened.empty()) {
      add_product(Factor(directions_).block(begin, end - begin, 0, directions_.cols()), along_, strip, {});
    }
    const std::span<float> follow = follow_.row(begin / height);
    std::ranges::fill(follow, 0.0f);
    for (std::size_t i = begin; i < end; ++i) {
      finish_row(terms, unit(i), follow, strip.row(i - begin));
      put(i, strip.row(i - begin));
    }
    done(begin, end);
  });
  for (std::size_t j = 0; j < m; ++j) hidden_bias_[j] = hidden_.change[j] * hidden_.per_square[j];
  for (std::size_t k = 0; k < follow_.rows(); ++k) {
    for (std::size_t j = 0; j < m; ++j) hidden_bias_[j] -= follow_(k, j);
  }
  for (std::size_t j = 0; j < terms.decay.hidden.bias.size(); ++j) {
    hidden_bias_[j] += static_cast<float>(terms.decay.hidden.bias[j]);
  }
}

std::span<const float> RealGradient::find(const Rbm& model, const RealTerms& terms, const Context& context) {
  gradient_.resize(model.parameters().values().size());
  const std::size_t width = terms.lambda.size();
  find_strips(
      model, terms, context,
      [&](std::size_t i, std::span<const float> row) { std::ranges::copy(row, gradient_.data() + i * width); },
      [](std::size_t, std::size_t) {});
  std::ranges::copy(rest_, gradient_.end() - static_cast<std::ptrdiff_t>(rest_.size()));
  return gradient_;
}

void RealGradient::ascend(Rbm& model, const RealTerms& terms, const Sgd& sgd, StepSize size, std::span<float> velocity,
                          const std::function<void(Parameters&)>& bound, const Context& context) {
  const std::size_t width = terms.lambda.size();
  model.update_by_blocks(
      [&](Parameters& parameters, const auto& done) {
        find_strips(
            model, terms, context,
            [&](std::size_t i, std::span<const float> row) {
              step_part(sgd, size, row, i * row.size(), velocity, parameters);
            },
            [&](std::size_t begin, std::size_t end) {
              for (std::size_t row = begin; row < end; row += Couplings::kBlock) {
                for (std::size_t column = 0; column < width; column += Couplings::kBlock) done(row, column);
              }
            });
        step_part(sgd, size, rest_, velocity.size() - rest_.size(), velocity, parameters);
        bound(parameters);
      },
      context);
}

}  // namespace ergodic
