// Fields by look-up tables to nearly the last digit of single precision: weights in 16 bits, and the rest in 16 more.
//
// Where fields are added up over many steps, as in annealing, 16 bits are too few and the definition takes too long.
// Sums of both parts are integers, so the fields are the same on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/quantised.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/kernels/table_sampling.hpp"

namespace ergodic {

class SplitWeights {
 public:
  /// For inputs with these levels, {0, 1} or {-1, 1}. `bias` is a field for each column.
  SplitWeights(MatrixView<const float> weights, std::span<const float> bias, Levels inputs, const Context& context);

  /// False if weights or biases are too large.
  bool usable() const { return upper_.usable() && lower_.usable(); }

  /// fields(r, j) = bias_j + sum over i of x_ri W_ij.
  void product(const State& x, MatrixView<double> fields, const Context& context);

  /// As `sample` (products.hpp) with a map of these weights and biases, given the x of the last product: half of the
  /// work is done.
  void sample(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
              const Context& context) const;

  /// How far a field may be off, with so many inputs that are not zero: half a unit of the lower part for each.
  double error(std::size_t column, std::size_t terms) const;

 private:
  Levels inputs_;
  QuantisedWeights upper_, lower_;
  std::vector<double> offsets_;  // the fields when all inputs are low
  InputSums found_;              // of the upper part, by the last product
};

}  // namespace ergodic
