#include "ergodic/trainer/real_gradient.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "ergodic/kernels/bit_product.hpp"
#include "ergodic/kernels/couplings.hpp"
#include "ergodic/kernels/float_product.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRows = 16;  // of the weights, that one thread takes at a time

void reshape(std::size_t rows, std::size_t cols, Matrix<float>& m) {
  if (m.rows() != rows || m.cols() != cols) m = Matrix<float>(rows, cols);
}

/// The sum of products, sixteen side by side: the same in vectors of any width.
float dot(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kSums = 16;
  std::array<float, kSums> sums{};
  std::size_t k = 0;
  for (; k + kSums <= a.size(); k += kSums) {
    for (std::size_t s = 0; s < kSums; ++s) sums[s] += a[k + s] * b[k + s];
  }
  for (std::size_t s = 0; k < a.size(); ++k, ++s) sums[s] += a[k] * b[k];
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t s = 0; s < half; ++s) sums[s] += sums[s + half];
  }
  return sums[0];
}

/// to = factor from.
void scale(float factor, std::span<const float> from, std::span<float> to) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = factor * from[k];
}

/// out += factor * sums over the rows, and the same of squares if there is a place for them.
void add_sums(float factor, MatrixView<const float> rows, std::span<float> out, std::span<float> squares) {
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    const std::span<const float> row = rows.row(r);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += factor * row[k];
    for (std::size_t k = 0; k < squares.size(); ++k) squares[k] += factor * (row[k] * row[k]);
  }
}

void add_sums(float factor, const State& state, std::span<float> out, std::span<float> squares) {
  if (state.real()) return add_sums(factor, state.reals(), out, squares);
  for (float& sum : out) sum += factor * state.levels().low * static_cast<float>(state.chains());
  const float gap = factor * state.levels().gap();
  for (std::size_t r = 0; r < state.chains(); ++r) {
    for_each_set(state.bits().row(r), [&](std::size_t k) { out[k] += gap; });
  }
}

}  // namespace

/// The mean of x v' in the data, minus that of the samples.
void RealGradient::find_pairs(const DataTerm& data, const Chains& samples, MatrixView<float> pairs,
                              const Context& context) {
  const State &x = samples.layers[Rbm::kVisible], &v = samples.layers[Rbm::kHidden];
  const auto each = 1.0f / static_cast<float>(data.visible.chains()), less = -1.0f / static_cast<float>(x.chains());
  reshape(data.hidden_means.rows(), data.hidden_means.cols(), data_means_);
  scale(each, data.hidden_means.elements(), data_means_.elements());
  const auto columns_of = [&](const State& state) -> const Bits& {
    if (columns_.rows() != state.units() || columns_.cols() != state.chains()) {
      columns_ = Bits(state.units(), state.chains());
    }
    ergodic::transpose(state.bits(), columns_);
    return columns_;
  };
  const auto scaled = [&](const State& state) -> const Matrix<float>& {
    reshape(state.chains(), state.units(), samples_);
    scale(less, state.reals().elements(), samples_.elements());
    return samples_;
  };
  if (x.real()) {  // vectors of look-ups run along the visible units
    reshape(pairs.cols(), pairs.rows(), turned_);
    std::ranges::fill(turned_.elements(), 0.0f);
    add_product(transposed(data_means_), data.visible.reals(), turned_, context);
    add_bit_product(columns_of(v), 0, v.levels(), scaled(x), turned_, context);
    return transpose(turned_, pairs, context);
  }
  std::ranges::fill(pairs.elements(), 0.0f);
  add_bit_product(columns_of(data.visible), 0, data.visible.levels(), data_means_, pairs, context);
  add_bit_product(columns_of(x), 0, x.levels(), scaled(v), pairs, context);
}

/// The derivatives by log precisions at fixed means, then pairs about the offsets and in terms of the gaps.
void RealGradient::centre(const Rbm& model, MatrixView<float> pairs, const Context& context) {
  const MatrixView<const float> weights = model.weights();
  context.for_blocks(pairs.rows(), kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<float> row = pairs.row(i);
      if (!precision_.empty()) precision_[i] += dot(weights.row(i), row);
      const float mean = visible_.offset[i], change = visible_.change[i], per_row = visible_.per_square[i];
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = (row[j] - mean * hidden_.change[j] - change * hidden_.offset[j]) * (per_row * hidden_.per_square[j]);
      }
      bias_[i] = change * per_row;
    }
  });
}

/// Steps along principal directions of the data lose a share. The directions are orthogonal: all lose at once.
void RealGradient::shorten(const Gaps& gaps, MatrixView<float> pairs, const Context& context) {
  const std::size_t count = gaps.shortened.size(), n = pairs.rows();
  if (count == 0) return;
  if (directions_.cols() != n) {
    directions_ = Matrix<float>(count, n);
    shares_ = Matrix<float>(count, n);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        directions_(k, i) = static_cast<float>(gaps.visible[i] * gaps.directions(k, i));
        shares_(k, i) = static_cast<float>(-gaps.shortened[k] * gaps.directions(k, i) / gaps.visible[i]);
      }
    }
  }
  reshape(count, pairs.cols(), along_);
  std::ranges::fill(along_.elements(), 0.0f);
  add_product(directions_, MatrixView<const float>(pairs), along_, context);
  add_product(transposed(shares_), along_, pairs, context);
  for (std::size_t k = 0; k < count; ++k) {
    const float along = dot(std::as_const(directions_).row(k), bias_);
    for (std::size_t i = 0; i < n; ++i) bias_[i] += along * shares_(k, i);
  }
}

/// Decay; biases that follow the weights, so that the units' means stay; and all that follows the precisions.
void RealGradient::finish(const Rbm& model, const Gaps& gaps, const Decay& decay, MatrixView<float> pairs,
                          const Context& context) {
  const MatrixView<const float> weights = model.weights();
  const std::span<const float> bias = model.visible_bias();
  const auto l1 = static_cast<float>(decay.l1 / gaps.hidden.front()), l2 = static_cast<float>(decay.l2);
  context.for_blocks(pairs.rows(), kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<float> row = pairs.row(i);
      const std::span<const float> w = weights.row(i);
      if (l1 != 0.0f || l2 != 0.0f) {
        const float own_l1 = l1 / static_cast<float>(gaps.visible[i]);
        for (std::size_t j = 0; j < row.size(); ++j) {
          const float sign = static_cast<float>(w[j] > 0.0f) - static_cast<float>(w[j] < 0.0f);
          row[j] -= l2 * w[j] + own_l1 * sign;
        }
      }
      bias_[i] -= dot(row, hidden_.offset);
    }
  });
  std::vector<float>& follow = hidden_bias_;
  follow.assign(pairs.cols(), 0.0f);
  add_product(MatrixView<const float>(visible_.offset.data(), 1, pairs.rows()), MatrixView<const float>(pairs),
              {follow.data(), 1, follow.size()}, context);
  for (std::size_t j = 0; j < follow.size(); ++j) follow[j] = hidden_.change[j] * hidden_.per_square[j] - follow[j];
  if (precision_.empty()) return;
  context.for_blocks(pairs.rows(), kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const float dz = precision_[i] *= static_cast<float>(gaps.precision[i]);
      bias_[i] += bias[i] * dz;
      const std::span<float> row = pairs.row(i);
      const std::span<const float> w = weights.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += w[j] * dz;
    }
  });
}

std::span<const float> RealGradient::find(const Rbm& model, const DataTerm& data, const Chains& samples,
                                          const Gaps& gaps, std::span<const double> mu, std::span<const double> lambda,
                                          const Decay& decay, const Context& context) {
  const std::size_t n = mu.size(), m = lambda.size();
  const bool visible_real = real_valued(model.visible());
  const auto each = 1.0f / static_cast<float>(data.visible.chains());
  const auto less = -1.0f / static_cast<float>(samples.count());
  const auto set = [](std::span<const double> offset, std::span<const double> gap, Units& units) {
    units.offset.assign(offset.begin(), offset.end());
    units.per_square.resize(gap.size());
    for (std::size_t k = 0; k < gap.size(); ++k) units.per_square[k] = static_cast<float>(1.0 / (gap[k] * gap[k]));
    units.change.assign(offset.size(), 0.0f);
  };
  set(mu, gaps.visible, visible_);
  set(lambda, gaps.hidden, hidden_);
  visible_.square_change.assign(visible_real ? n : 0, 0.0f);
  add_sums(each, data.visible, visible_.change, visible_.square_change);
  add_sums(less, samples.layers[Rbm::kVisible], visible_.change, visible_.square_change);
  add_sums(each, data.hidden_means, hidden_.change, {});
  add_sums(less, samples.layers[Rbm::kHidden], hidden_.change, {});

  gradient_.assign(model.parameters().values().size(), 0.0f);
  const auto part = [&](const char* slot) {
    const Slot& found = model.parameters().slot(slot);
    return std::span(gradient_).subspan(found.offset, found.size);
  };
  const MatrixView<float> pairs(part("weights").data(), n, m);
  bias_.resize(n);
  hidden_bias_.resize(m);
  precision_.resize(visible_real ? n : 0);
  for (std::size_t i = 0; i < precision_.size(); ++i) {
    const auto deviation = static_cast<float>(model.precision(Rbm::kVisible).deviations[i]);
    precision_[i] =
        -0.5f * visible_.square_change[i] / (deviation * deviation) + model.visible_bias()[i] * visible_.change[i];
  }
  find_pairs(data, samples, pairs, context);
  centre(model, pairs, context);
  shorten(gaps, pairs, context);
  finish(model, gaps, decay, pairs, context);
  std::ranges::copy(bias_, part("visible_bias").begin());
  std::ranges::copy(hidden_bias_, part("hidden_bias").begin());
  if (visible_real) std::ranges::copy(precision_, part(Rbm::precision_slot(Rbm::kVisible)).begin());
  return gradient_;
}

}  // namespace ergodic
