// The hot loops. Models are written in terms of these and never look inside a State.
//
// What each computes is fixed to the last bit: fields are summed in double, the bias first, then the units in ascending
// order; a sampled bit compares 48 random bits with the sigmoid of such a field. Given real units it is a field in
// float (float_fields.hpp). Any faster way of doing the same must give the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/quantised.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// The map from one layer's state x to the fields of another: I = bias + x W. On the way to a machine from a simpler
/// one, whose fields are `base` whatever x: I = beta (bias + x W) + (1 - beta) base.
struct Affine {
  MatrixView<const float> weights;     ///< [units of x, units of the target]
  MatrixView<const float> transposed;  ///< the weights transposed: [units of the target, units of x]
  std::span<const float> bias;         ///< [units of the target]
  const QuantisedWeights* quantised;   ///< the weights in 16 bits
  double beta = 1.0;                   ///< at most 1
  std::span<const float> base = {};    ///< zeros if empty

  double base_of(std::size_t unit) const { return base.empty() ? 0.0 : (1.0 - beta) * double{base[unit]}; }
  /// I, given bias + x W of a unit.
  double tempered(double field, std::size_t unit) const { return beta * field + base_of(unit); }
};

/// fields(chain, unit) = I.
void product(const State& x, const Affine& map, MatrixView<double> fields, const Context& context);

/// Resamples a two-valued layer given another: a unit is high with probability sigmoid(gap * I). Row r draws the random
/// numbers of chain first_chain + r.
void sample(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
            const Context& context);

/// out(i, j) += sum over rows r of row_weight(r) x(r, i) y(r, j). One row weight for all rows, or one for each.
void correlate(const State& x, MatrixView<const float> y, std::span<const double> row_weights, MatrixView<double> out,
               const Context& context);

/// out(i) += sum over rows r of row_weight(r) x(r, i), for a state and for a real matrix.
void add_column_sums(const State& x, std::span<const double> row_weights, std::span<double> out);
void add_column_sums(MatrixView<const float> y, std::span<const double> row_weights, std::span<double> out);

/// The values of a state as a real matrix of the same shape.
void unpack(const State& x, MatrixView<float> out);

}  // namespace ergodic
