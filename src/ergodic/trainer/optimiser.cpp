#include "ergodic/trainer/optimiser.hpp"

#include <cassert>
#include <cmath>
#include <vector>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kBlock = 16384;

/// Whether an optimiser looks at whole matrices.
template <class T>
concept ByMatrices = requires(MatrixView<float> changes, const Context& context) {
  T::finish(changes, context);
};

/// A parameter array as a matrix: rows of its last dimension, or one column.
MatrixView<float> matrix_of(const Slot& slot, std::span<float> all) {
  const std::size_t columns = slot.shape.size() > 1 ? slot.shape.back() : 1;
  return {all.data() + slot.offset, slot.size / columns, columns};
}

template <class Real>
void step_in(const Optimiser& optimiser, StepSize size, std::span<const Real> gradient, std::span<float> velocity,
             Parameters& parameters, const Context& context) {
  assert(gradient.size() == parameters.values().size() && velocity.size() == memory_of(optimiser, gradient.size()));
  float* values = parameters.values().data();
  const auto rate = static_cast<Real>(size.rate);
  std::visit(
      [&]<class Chosen>(const Chosen& chosen) {
        if constexpr (ByMatrices<Chosen>) {
          std::vector<float> change(gradient.begin(), gradient.end());
          find_change(optimiser, size, parameters, change, velocity, context);
          for (std::size_t k = 0; k < change.size(); ++k) values[k] = static_cast<float>(values[k] + rate * change[k]);
          return;
        }
        const auto change = chosen.changes(size, velocity);
        context.for_blocks(gradient.size(), kBlock, [&](std::size_t begin, std::size_t end) {
          for (std::size_t k = begin; k < end; ++k) {
            values[k] = static_cast<float>(values[k] + rate * change(k, gradient[k]));
          }
        });
      },
      optimiser);
}

}  // namespace

double schedule_factor(Schedule schedule, std::uint64_t done, std::uint64_t total) {
  const double t = static_cast<double>(done) / static_cast<double>(total);
  switch (schedule) {
    case Schedule::kConstant:
      return 1.0;
    case Schedule::kLinear:
      return 1.0 - t;
    case Schedule::kCosine:
      return 0.5 * (1.0 + cos_pi(t));
  }
  return 1.0;
}

double Adam::known_share(double kept, std::uint64_t update) {
  return 1.0 - portable_exp(static_cast<double>(update + 1) * portable_log(kept));
}

std::size_t memory_of(const Optimiser& optimiser, std::size_t parameters) {
  return parameters * std::visit([](const auto& chosen) { return chosen.kMemory; }, optimiser);
}

void find_change(const Optimiser& optimiser, StepSize size, const Parameters& layout, std::span<float> gradient,
                 std::span<float> velocity, const Context& context) {
  assert(gradient.size() == layout.values().size() && velocity.size() == memory_of(optimiser, gradient.size()));
  std::visit(
      [&]<class Chosen>(const Chosen& chosen) {
        const auto change = chosen.changes(size, velocity);
        context.for_blocks(gradient.size(), kBlock, [&](std::size_t begin, std::size_t end) {
          for (std::size_t k = begin; k < end; ++k) gradient[k] = change(k, gradient[k]);
        });
        if constexpr (ByMatrices<Chosen>) {
          for (const Slot& slot : layout.slots()) chosen.finish(matrix_of(slot, gradient), context);
        }
      },
      optimiser);
}

void step(const Optimiser& optimiser, StepSize size, std::span<const double> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context) {
  step_in(optimiser, size, gradient, velocity, parameters, context);
}

void step(const Optimiser& optimiser, StepSize size, std::span<const float> gradient, std::span<float> velocity,
          Parameters& parameters, const Context& context) {
  step_in(optimiser, size, gradient, velocity, parameters, context);
}

}  // namespace ergodic
