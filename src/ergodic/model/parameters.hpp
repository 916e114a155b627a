// Parameters: one flat buffer of floats with named slots. Optimisers, checkpoints and files see only this.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/aligned.hpp"

namespace ergodic {

struct Slot {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t offset = 0;
  std::size_t size = 0;
};

class Parameters {
 public:
  /// Appends a slot of zeros.
  void add(std::string name, std::vector<std::size_t> shape);

  const std::vector<Slot>& slots() const { return slots_; }
  const Slot& slot(std::string_view name) const;
  std::span<float> values() { return values_; }
  std::span<const float> values() const { return values_; }
  std::span<float> operator[](std::string_view name);
  std::span<const float> operator[](std::string_view name) const;

 private:
  std::vector<Slot> slots_;
  AlignedVector<float> values_;
};

/// Averages of -dE/dtheta in the layout of the parameters. The gradient of the log-likelihood is the data's statistics
/// minus the model's.
using Statistics = std::vector<double>;

}  // namespace ergodic
