#include "ergodic/model/class_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/activation.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/kernels/log_sums.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 4;
constexpr std::size_t kUnitsAtATime = 64;  // hidden units, of all rows of a batch

void softmax(std::span<const double> scores, std::span<float> out) {
  const double largest = *std::ranges::max_element(scores);
  double total = 0.0;
  for (const double score : scores) total += portable_exp(score - largest);
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = static_cast<float>(portable_exp(scores[k] - largest) / total);
  }
}

void reshape(Matrix<float>& m, std::size_t rows, std::size_t cols) {
  if (m.rows() != rows || m.cols() != cols) m = Matrix<float>(rows, cols);
}

}  // namespace

std::size_t classes_of(const Layer& visible) {
  if (visible.parts() < 2) return 0;
  const auto* label = std::get_if<Potts>(&visible.part(visible.parts() - 1));
  return label && label->units == label->letters ? label->letters : 0;
}

ClassPosterior::ClassPosterior(const Rbm& rbm) : rbm_(rbm), classes_(classes_of(rbm.visible())) {
  require(classes_ > 0 && rbm.hidden() == Layer(Bernoulli{units_of(rbm.hidden())}),
          fmt::format("the probabilities of classes need bernoulli hidden units and a visible layer that ends with the "
                      "letters of a label; this machine has {} and {}",
                      name_of(rbm.hidden()), name_of(rbm.visible())));
  values_ = units_of(rbm.visible()) - classes_;
}

MatrixView<const float> ClassPosterior::value_weights() const {
  return {rbm_.weights().data(), values_, rbm_.weights().cols()};
}

MatrixView<const float> ClassPosterior::label_weights() const {
  return {rbm_.weights().row(values_).data(), classes_, rbm_.weights().cols()};
}

const Matrix<float>& ClassPosterior::probabilities(MatrixView<const float> inputs, const Context& context) {
  assert(inputs.cols() == values_);
  const std::size_t hidden = rbm_.weights().cols();
  reshape(fields_, inputs.rows(), hidden);
  reshape(probabilities_, inputs.rows(), classes_);
  for (std::size_t r = 0; r < inputs.rows(); ++r) std::ranges::copy(rbm_.hidden_bias(), fields_.row(r).begin());
  add_product(inputs, value_weights(), fields_, context);
  const MatrixView<const float> of_label = label_weights();
  const std::span<const float> bias = rbm_.visible_bias().subspan(values_);
  context.for_blocks(inputs.rows(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    std::vector<double> terms(hidden), scores(classes_);
    for (std::size_t r = begin; r < end; ++r) {
      const float* fields = std::as_const(fields_).row(r).data();
      for (std::size_t y = 0; y < classes_; ++y) {
        const float* own = of_label.row(y).data();
        for (std::size_t j = 0; j < hidden; ++j) terms[j] = double{fields[j]} + double{own[j]};
        scores[y] = bias[y] + sum_softplus(terms);
      }
      softmax(scores, probabilities_.row(r));
    }
  });
  return probabilities_;
}

/// t_y of each row, divided by the number of rows.
void ClassPosterior::find_surprises(std::span<const int> labels) {
  reshape(surprises_, labels.size(), classes_);
  const auto each = static_cast<float>(1.0 / static_cast<double>(labels.size()));
  for (std::size_t r = 0; r < labels.size(); ++r) {
    for (std::size_t y = 0; y < classes_; ++y) {
      const float target = static_cast<std::size_t>(labels[r]) == y ? 1.0f : 0.0f;
      surprises_(r, y) = each * (target - probabilities_(r, y));
    }
  }
}

/// The derivatives by the fields and by the weights of the label.
void ClassPosterior::find_deltas(std::span<const int> labels, const Context& context) {
  assert(labels.size() == fields_.rows());
  find_surprises(labels);
  reshape(deltas_, fields_.rows(), fields_.cols());
  reshape(label_deltas_, classes_, fields_.cols());
  context.for_blocks(fields_.cols(), kUnitsAtATime,
                     [&](std::size_t begin, std::size_t end) { find_deltas_of_units(begin, end - begin); });
}

/// Those of the hidden units from `begin` on: the sums over rows are not split.
void ClassPosterior::find_deltas_of_units(std::size_t begin, std::size_t width) {
  const MatrixView<const float> weights = label_weights();
  for (std::size_t y = 0; y < classes_; ++y) std::ranges::fill(label_deltas_.row(y).subspan(begin, width), 0.0f);
  std::vector<float> on(classes_ * width);  // s_yj of a row
  for (std::size_t r = 0; r < fields_.rows(); ++r) {
    const float* fields = std::as_const(fields_).row(r).data() + begin;
    for (std::size_t y = 0; y < classes_; ++y) {
      const float* own = weights.row(y).data() + begin;
      for (std::size_t j = 0; j < width; ++j) on[y * width + j] = fields[j] + own[j];
    }
    apply_sigmoid(on);
    float* deltas = deltas_.row(r).data() + begin;
    std::fill_n(deltas, width, 0.0f);
    for (std::size_t y = 0; y < classes_; ++y) {
      const float surprise = surprises_(r, y);
      float* own = label_deltas_.row(y).data() + begin;
      for (std::size_t j = 0; j < width; ++j) {
        const float term = surprise * on[y * width + j];
        own[j] += term;
        deltas[j] += term;
      }
    }
  }
}

void ClassPosterior::gradient(MatrixView<const float> inputs, std::span<const int> labels, std::span<float> out,
                              const Context& context) {
  const std::size_t rows = inputs.rows(), hidden = rbm_.weights().cols();
  assert(fields_.rows() == rows && out.size() == rbm_.parameters().values().size());
  std::ranges::fill(out, 0.0f);
  const auto part = [&](const char* slot) {
    const Slot& found = rbm_.parameters().slot(slot);
    return out.subspan(found.offset, found.size);
  };
  const std::span<float> weights = part("weights"), label_bias = part("visible_bias").subspan(values_),
                         hidden_bias = part("hidden_bias");
  find_deltas(labels, context);
  std::ranges::copy(label_deltas_.elements(), weights.begin() + static_cast<std::ptrdiff_t>(values_ * hidden));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t y = 0; y < classes_; ++y) label_bias[y] += surprises_(r, y);
    for (std::size_t j = 0; j < hidden; ++j) hidden_bias[j] += deltas_(r, j);
  }
  add_product(transposed(inputs), deltas_, {weights.data(), values_, hidden}, context);
}

void ClassPosterior::input_gradient(std::span<const int> labels, MatrixView<float> out, const Context& context) {
  assert(out.rows() == labels.size() && out.cols() == values_);
  find_deltas(labels, context);
  std::ranges::fill(out.elements(), 0.0f);
  add_product(deltas_, transposed(value_weights()), out, context);
}

Matrix<float> class_probabilities(const Rbm& rbm, MatrixView<const float> inputs, const Context& context) {
  return ClassPosterior(rbm).probabilities(inputs, context);
}

}  // namespace ergodic
