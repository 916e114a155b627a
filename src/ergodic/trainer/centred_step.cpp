#include "ergodic/trainer/centred_step.hpp"

#include "ergodic/kernels/weight_rows.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRows = 32, kElements = 16384;  // that one thread takes at a time

}  // namespace

std::span<float> CentredStep::gradient(std::size_t parameters) {
  gradient_.resize(parameters);
  return gradient_;
}

/// Adds sign W lambda to the visible and sign W' mu to the hidden biases, of a gradient or of a change.
void CentredStep::shift_biases(float sign, const Parameters& layout, const Context& context) {
  const auto part = [&](const char* slot) {
    return std::span(gradient_).subspan(layout.slot(slot).offset, layout.slot(slot).size);
  };
  const std::span<float> weights = part("weights"), visible = part("visible_bias"), hidden = part("hidden_bias");
  const auto row = [&](std::size_t i) { return weights.subspan(i * hidden.size(), hidden.size()); };
  context.for_blocks(visible.size(), kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) visible[i] += sign * dot_rows(row(i), lambda_);
  });
  for (std::size_t i = 0; i < visible.size(); ++i) add_row(sign * mu_[i], row(i), hidden);
}

void CentredStep::step(const Optimiser& optimiser, StepSize size, std::span<const double> mu,
                       std::span<const double> lambda, std::span<float> velocity, Parameters& parameters,
                       const Context& context) {
  mu_.assign(mu.begin(), mu.end());
  lambda_.assign(lambda.begin(), lambda.end());
  shift_biases(1.0f, parameters, context);
  find_change(optimiser, size, parameters, gradient_, velocity, context);
  shift_biases(-1.0f, parameters, context);
  const auto rate = static_cast<float>(size.rate);
  const std::span<float> values = parameters.values();
  context.for_blocks(values.size(), kElements, [&](std::size_t begin, std::size_t end) {
    add_row(rate, std::span<const float>(gradient_).subspan(begin, end - begin), values.subspan(begin, end - begin));
  });
}

}  // namespace ergodic
