// Hopfield network (Hopfield 1982): units +-1, every one coupled to every other,
//   E(x) = -1/2 x'Wx - b'x,   W symmetric with zero diagonal.
// A unit that follows its field h_i = b_i + sum_j W_ij x_j lowers the energy, so a state runs down into a memory.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

class Hopfield {
 public:
  /// UsageError with what flaw_in says, if anything.
  Hopfield(Matrix<float> couplings, std::vector<float> bias);

  std::size_t units() const { return bias_.size(); }
  MatrixView<const float> couplings() const { return couplings_; }
  std::span<const float> bias() const { return bias_; }

  /// The most that a field can be: |b_i| + sum_j |W_ij|. Rounding errors are measured by it.
  std::span<const double> largest_fields() const { return largest_fields_; }

  /// E(x) for each row of +-1 states.
  std::vector<double> energy(const State& rows, const Context& context) const;
  /// h(x) for each row, in double: the bias first, then the units in ascending order.
  Matrix<double> fields(const State& rows, const Context& context) const;

 private:
  Matrix<float> couplings_;
  std::vector<float> bias_;
  std::vector<double> largest_fields_;
};

/// E(x) of one row, given its fields: -1/2 sum_i x_i (h_i + b_i).
double energy_from_fields(const State& rows, std::size_t row, std::span<const double> fields,
                          std::span<const float> bias);

/// What keeps these from being a network: not square, not finite, not symmetric, or a unit coupled to itself.
std::optional<std::string> flaw_in(MatrixView<const float> couplings, std::span<const float> bias);

}  // namespace ergodic
