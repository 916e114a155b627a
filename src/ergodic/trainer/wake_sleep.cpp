#include "ergodic/trainer/wake_sleep.hpp"

#include <algorithm>
#include <cassert>

#include "ergodic/kernels/activation.hpp"
#include "ergodic/kernels/float_product.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRows = 16;  // of weights, that one thread takes at a time

Matrix<float> unpacked(const State& state, const Context& context) {
  Matrix<float> out(state.chains(), state.units());
  context.for_blocks(out.rows(), kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      for_each_set(state.bits().row(r), [&](std::size_t i) { out(r, i) = 1.0f; });
    }
  });
  return out;
}

void ascend(Rbm& machine, std::size_t block, const ConditionalGradient& gradient, ConditionalStep step,
            const Context& context) {
  const auto rate = static_cast<float>(step.rate), l2 = static_cast<float>(step.l2);
  machine.update(
      [&](Parameters& parameters) {
        const std::span<float> weights = parameters["weights"];
        const std::size_t columns = gradient.weights.cols();
        context.for_blocks(gradient.weights.rows(), kRows, [&](std::size_t begin, std::size_t end) {
          for (std::size_t k = begin * columns; k < end * columns; ++k) {
            weights[k] += rate * (gradient.weights.elements()[k] - l2 * weights[k]);
          }
        });
        const std::span<float> bias = parameters[block == Rbm::kVisible ? "visible_bias" : "hidden_bias"];
        for (std::size_t i = 0; i < bias.size(); ++i) bias[i] += rate * gradient.bias[i];
      },
      context);
}

}  // namespace

ConditionalGradient conditional_gradient(const Rbm& machine, std::size_t block, std::span<const State> layers,
                                         const Context& context) {
  const bool down = block == Rbm::kVisible;
  const Matrix<float> visible = unpacked(layers[Rbm::kVisible], context),
                      hidden = unpacked(layers[Rbm::kHidden], context);
  const Matrix<float>& predicted = down ? visible : hidden;
  const std::span<const float> bias = down ? machine.visible_bias() : machine.hidden_bias();
  const std::size_t rows = predicted.rows();
  Matrix<float> errors(rows, predicted.cols());  // first the fields, then the means, then how far these are off
  for (std::size_t r = 0; r < rows; ++r) std::ranges::copy(bias, errors.row(r).begin());
  if (down) {
    add_product(hidden, transposed(machine.weights()), errors, context);
  } else {
    add_product(visible, machine.weights(), errors, context);
  }
  const float each = 1.0f / static_cast<float>(rows);
  context.for_blocks(rows, kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      apply_sigmoid(errors.row(r));
      for (std::size_t i = 0; i < errors.cols(); ++i) errors(r, i) = each * (predicted(r, i) - errors(r, i));
    }
  });
  ConditionalGradient out{Matrix<float>(visible.cols(), hidden.cols()), std::vector<float>(bias.size())};
  if (down) {
    add_product(transposed(errors), hidden, out.weights, context);
  } else {
    add_product(transposed(visible), errors, out.weights, context);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < out.bias.size(); ++i) out.bias[i] += errors(r, i);
  }
  return out;
}

void wake_sleep_step(Dbn& model, std::span<const State> awake, std::span<const State> asleep, ConditionalStep step,
                     const Context& context) {
  assert(awake.size() == model.depth() && asleep.size() == model.depth());
  for (std::size_t k = 0; k + 1 < model.depth(); ++k) {
    Rbm& upward = model.edited_recognition(k);  // untied before the stage moves
    const auto sleep = conditional_gradient(upward, Rbm::kHidden, asleep.subspan(k, 2), context);
    ascend(upward, Rbm::kHidden, sleep, step, context);
    Rbm& downward = model.edited_stage(k);
    const auto wake = conditional_gradient(downward, Rbm::kVisible, awake.subspan(k, 2), context);
    ascend(downward, Rbm::kVisible, wake, step, context);
  }
}

}  // namespace ergodic
