#include "ergodic/kernels/products.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/bit_counts.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/kernels/float_fields.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/real_draws.hpp"
#include "ergodic/kernels/real_sampling.hpp"
#include "ergodic/kernels/row_sum.hpp"
#include "ergodic/kernels/table_sampling.hpp"
#include "ergodic/kernels/target.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kTileRows = 32;  // rows of a statistics matrix that one thread takes at a time

double row_weight(std::span<const double> row_weights, std::size_t row) {
  return row_weights.size() == 1 ? row_weights[0] : row_weights[row];
}

/// The definition of `sample`, for one row.
void row_sample(std::span<const double> fields, std::size_t row, const Draw& draw, std::uint32_t chain, State& out) {
  const double gap = out.levels().gap();
  flip_coins(
      draw, chain, 0, static_cast<std::uint32_t>(fields.size()),
      [&](std::uint32_t j) { return sigmoid(gap * fields[j]); },
      [&](std::uint32_t j, bool high) { out.bits().set(row, j, high); });
}

[[maybe_unused]] bool fits(const State& x, const Affine& map) {
  return x.units() == map.weights.rows() && map.weights.cols() == map.bias.size() &&
         map.transposed.rows() == map.bias.size() && map.transposed.cols() == x.units();
}

}  // namespace

void product(const State& x, const Affine& map, MatrixView<double> fields, const Context& context) {
  assert(fits(x, map) && fields.rows() == x.chains() && fields.cols() == map.bias.size());
  context.for_blocks(x.chains(), kFieldRows, [&](std::size_t begin, std::size_t end) {
    defined_fields(x, begin, end, map, {fields.row(begin).data(), end - begin, fields.cols()});
  });
}

void sample(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
            const Context& context) {
  assert(fits(x, map) && out.chains() == x.chains() && out.units() == map.bias.size());
  const auto chain = [first_chain](std::size_t r) { return static_cast<std::uint32_t>(first_chain + r); };
  if (x.real() && !plain_target() && sample_given_reals(x, map, draw, first_chain, out, context)) return;
  if (x.real()) {
    for_float_fields(x, map, context, [&](std::size_t r, std::span<const float> fields) {
      draw_coins(fields, out.levels().gap(), draw, chain(r), out.bits().row(r));
    });
    return;
  }
  if (!plain_target() && tables_serve(x, map, out)) return sample_by_tables(x, map, draw, first_chain, out, context);
  if (plain_target()) {
    for_fields(x, map, context,
               [&](std::size_t r, std::span<const double> fields) { row_sample(fields, r, draw, chain(r), out); });
    return;
  }
  context.for_blocks(x.chains(), kFieldRows, [&](std::size_t begin, std::size_t end) {
    CertifiedScratch scratch(map.bias.size());
    for (std::size_t r = begin; r < end; ++r) sample_certified(x, r, map, draw, chain(r), scratch, out);
  });
}

void correlate(const State& x, MatrixView<const float> y, std::span<const double> row_weights, MatrixView<double> out,
               const Context& context) {
  assert(x.chains() == y.rows() && out.rows() == x.units() && out.cols() == y.cols());
  // A thread owns whole rows of the result and goes through all chains in order, so no sum is split.
  context.for_blocks(x.units(), kTileRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      RowSum<double> sum(out.row(i).data(), out.cols());
      for (std::size_t r = 0; r < x.chains(); ++r) {
        const double factor = row_weight(row_weights, r) * x.value(r, i);
        if (factor != 0.0) sum.add(factor, y.row(r).data());
      }
    }
  });
}

void add_column_sums(const State& x, std::span<const double> row_weights, std::span<double> out) {
  assert(out.size() == x.units());
  if (!x.real() && row_weights.size() == 1 && row_weights[0] == 1.0) {  // whole numbers, exact in any order
    thread_local std::vector<std::uint32_t> counts;
    counts.resize(x.units());
    count_columns({{{&x.bits(), counts}}}, {});
    const double low = double{x.levels().low} * static_cast<double>(x.chains()), gap = x.levels().gap();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += low + gap * counts[i];
    return;
  }
  for (std::size_t r = 0; r < x.chains(); ++r) {
    const double weight = row_weight(row_weights, r);
    for_each_nonzero(x, r, [&](std::size_t i, float value) { out[i] += weight * value; });
  }
}

void add_column_sums(MatrixView<const float> y, std::span<const double> row_weights, std::span<double> out) {
  assert(out.size() == y.cols());
  for (std::size_t r = 0; r < y.rows(); ++r) {
    const double weight = row_weight(row_weights, r);
    for (std::size_t j = 0; j < y.cols(); ++j) out[j] += weight * y(r, j);
  }
}

void unpack(const State& x, MatrixView<float> out) {
  assert(out.rows() == x.chains() && out.cols() == x.units());
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (std::size_t i = 0; i < x.units(); ++i) out(r, i) = x.value(r, i);
  }
}

}  // namespace ergodic
