#include "ergodic/model/rbm.hpp"

#include <algorithm>
#include <cassert>

namespace ergodic {
namespace {

constexpr std::size_t kChunk = 1024;  // rows whose fields are held at once

double dot(const State& x, std::size_t row, std::span<const float> y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += double{x.value(row, i)} * y[i];
  return sum;
}

/// Calls f(row, fields of that row) for all rows of x; several threads do.
template <class F>
void for_fields(const State& x, const Affine& map, const Context& context, const F& f) {
  constexpr std::size_t kRows = 8;
  const std::size_t words = Bits::words_for(x.units());
  for (std::size_t begin = 0; begin < x.chains(); begin += kChunk) {
    const std::size_t rows = std::min(kChunk, x.chains() - begin);
    State chunk(rows, x.units(), x.levels());
    std::copy_n(x.bits().words().begin() + static_cast<std::ptrdiff_t>(begin * words), rows * words,
                chunk.bits().words().begin());
    Matrix<double> fields(rows, map.bias.size());
    product(chunk, map, fields, context);
    context.for_blocks(rows, kRows, [&](std::size_t first, std::size_t last) {
      for (std::size_t r = first; r < last; ++r) f(begin + r, fields.row(r));
    });
  }
}

}  // namespace

Rbm::Rbm(Layer visible, Layer hidden) : visible_(visible), hidden_(hidden) {
  const std::size_t n = units_of(visible), m = units_of(hidden);
  parameters_.add("weights", {n, m});
  parameters_.add("visible_bias", {n});
  parameters_.add("hidden_bias", {m});
  couplings_ = Couplings(n, m, levels_of(visible).low, levels_of(hidden).low);
}

MatrixView<const float> Rbm::weights() const {
  return {parameters_["weights"].data(), units_of(visible_), units_of(hidden_)};
}

void Rbm::finish_update(const Context& context) {
  couplings_.finish(weights(), visible_bias(), hidden_bias(), context);
}

Affine Rbm::map_to(std::size_t block) const {
  return block == kHidden ? Affine{weights(), couplings_.transposed(), hidden_bias(), &couplings_.to_columns()}
                          : Affine{couplings_.transposed(), weights(), visible_bias(), &couplings_.to_rows()};
}

State Rbm::make_state(std::size_t block, std::size_t chains) const {
  return State(chains, units_of(layer(block)), levels_of(layer(block)));
}

std::vector<double> Rbm::energy(const State& visible, const State& hidden, const Context& context) const {
  assert(visible.chains() == hidden.chains());
  std::vector<double> out(visible.chains());
  for_fields(visible, map_to(kHidden), context, [&](std::size_t r, std::span<const double> fields) {
    double energy = -dot(visible, r, visible_bias());
    for (std::size_t j = 0; j < fields.size(); ++j) energy -= hidden.value(r, j) * fields[j];
    out[r] = energy;
  });
  return out;
}

std::vector<double> Rbm::free_energy(const State& visible, const Context& context) const {
  std::vector<double> out(visible.chains());
  for_fields(visible, map_to(kHidden), context, [&](std::size_t r, std::span<const double> fields) {
    out[r] = -dot(visible, r, visible_bias()) - log_sum(hidden_, fields);
  });
  return out;
}

Matrix<double> Rbm::flip_costs(const State& visible, const Matrix<std::uint32_t>& units, const Context& context) const {
  assert(units.rows() == visible.chains());
  Matrix<double> out(units.rows(), units.cols());
  for_fields(visible, map_to(kHidden), context, [&](std::size_t r, std::span<const double> fields) {
    const double before = log_sum(hidden_, fields);
    std::vector<double> changed(fields.size());
    for (std::size_t k = 0; k < units.cols(); ++k) {
      const std::size_t i = units(r, k);
      const double change = visible.levels().low + visible.levels().high - 2.0 * visible.value(r, i);
      const std::span<const float> row = weights().row(i);
      for (std::size_t j = 0; j < changed.size(); ++j) changed[j] = fields[j] + change * row[j];
      out(r, k) = before - log_sum(hidden_, changed) - change * visible_bias()[i];
    }
  });
  return out;
}

void Rbm::resample(std::size_t block, std::span<State> layers, const Draw& draw, std::uint64_t first_chain,
                   const Context& context) const {
  const State& given = layers[block == kVisible ? kHidden : kVisible];
  sample(given, map_to(block), draw, first_chain, layers[block], context);
}

Matrix<float> Rbm::conditional_means(std::size_t block, const State& given, const Context& context) const {
  Matrix<float> out(given.chains(), units_of(layer(block)));
  means(given, map_to(block), levels_of(layer(block)), out, context);
  return out;
}

namespace {

struct StatisticsViews {
  MatrixView<double> weights;
  std::span<double> visible;
  std::span<double> hidden;
};

StatisticsViews views(const Rbm& rbm, Statistics& all) {
  const std::size_t n = units_of(rbm.visible()), m = units_of(rbm.hidden());
  assert(all.size() == n * m + n + m);
  const std::span<double> flat(all);
  return {{all.data(), n, m}, flat.subspan(n * m, n), flat.subspan(n * m + n, m)};
}

}  // namespace

void Rbm::add_statistics(const State& visible, MatrixView<const float> hidden, std::span<const double> row_weights,
                         Statistics& out, const Context& context) const {
  const StatisticsViews sums = views(*this, out);
  correlate(visible, hidden, row_weights, sums.weights, context);
  add_column_sums(visible, row_weights, sums.visible);
  add_column_sums(hidden, row_weights, sums.hidden);
}

void Rbm::add_statistics(MatrixView<const float> visible, const State& hidden, std::span<const double> row_weights,
                         Statistics& out, const Context& context) const {
  const StatisticsViews sums = views(*this, out);
  Matrix<double> transposed(hidden.units(), visible.cols());
  correlate(hidden, visible, row_weights, transposed, context);
  for (std::size_t i = 0; i < visible.cols(); ++i) {
    for (std::size_t j = 0; j < hidden.units(); ++j) sums.weights(i, j) += transposed(j, i);
  }
  add_column_sums(visible, row_weights, sums.visible);
  add_column_sums(hidden, row_weights, sums.hidden);
}

Rewritten rewrite(const Rbm& rbm, Levels visible, Levels hidden) {
  const Levels from_x = levels_of(rbm.visible()), from_v = levels_of(rbm.hidden());
  const double scale_x = double{from_x.gap()} / visible.gap(), shift_x = from_x.low - scale_x * visible.low;
  const double scale_v = double{from_v.gap()} / hidden.gap(), shift_v = from_v.low - scale_v * hidden.low;
  const auto w = rbm.weights();
  Rewritten out{Matrix<double>(w.rows(), w.cols()), std::vector<double>(w.rows()), std::vector<double>(w.cols()), 0.0};
  for (std::size_t i = 0; i < w.rows(); ++i) out.visible_bias[i] = scale_x * rbm.visible_bias()[i];
  for (std::size_t j = 0; j < w.cols(); ++j) out.hidden_bias[j] = scale_v * rbm.hidden_bias()[j];
  for (std::size_t i = 0; i < w.rows(); ++i) {
    for (std::size_t j = 0; j < w.cols(); ++j) {
      out.weights(i, j) = scale_x * scale_v * w(i, j);
      out.visible_bias[i] += scale_x * shift_v * w(i, j);
      out.hidden_bias[j] += scale_v * shift_x * w(i, j);
      out.energy_offset -= shift_x * shift_v * w(i, j);
    }
  }
  for (const float b : rbm.visible_bias()) out.energy_offset -= shift_x * b;
  for (const float c : rbm.hidden_bias()) out.energy_offset -= shift_v * c;
  return out;
}

Rbm with_units(const Rbm& rbm, const Layer& visible, const Layer& hidden) {
  const Rewritten in = rewrite(rbm, levels_of(visible), levels_of(hidden));
  Rbm out(visible, hidden);
  out.update(
      [&](Parameters& parameters) {
        const auto round = [&](std::string_view slot, std::span<const double> values) {
          const std::span<float> target = parameters[slot];
          for (std::size_t k = 0; k < target.size(); ++k) target[k] = static_cast<float>(values[k]);
        };
        round("weights", in.weights.elements());
        round("visible_bias", in.visible_bias);
        round("hidden_bias", in.hidden_bias);
      },
      Context{});
  return out;
}

}  // namespace ergodic
