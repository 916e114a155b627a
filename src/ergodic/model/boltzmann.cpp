#include "ergodic/model/boltzmann.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/kernels/sequential.hpp"
#include "ergodic/model/uncoupled.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 8;    // of states, for one thread
constexpr std::size_t kUnitsAtATime = 32;  // of statistics or a matrix
constexpr std::size_t kRowsAtOnce = 256;   // whose conditional means are held

std::uint64_t padded(std::uint64_t units, std::uint64_t to) { return (units + to - 1) / to * to; }

void require_dense_fits(std::size_t units, std::size_t letters) {
  const DenseMemory memory = memory_of_dense(units, letters);
  const auto gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) * 0x1p-30; };
  const auto billions = [](std::uint64_t count) { return static_cast<double>(count) * 1e-9; };
  require(
      memory.matrix_bytes <= kMaxMatrixBytes,
      fmt::format("a dense Boltzmann machine of {} units has {:.2g} billion couplings ({:.1f} GiB), and is sampled by "
                  "square matrices of {:.2g} billion entries ({:.1f} GiB, at most {:.0f} GiB are allowed); take an "
                  "RBM, a sparse graph (a grid, or a random graph of a small degree), or fewer units",
                  units, billions(memory.couplings), gib(memory.coupling_bytes), billions(memory.matrix_entries),
                  gib(memory.matrix_bytes), gib(kMaxMatrixBytes)));
}

/// Calls f(row, values of the row) for all rows of x; several threads do.
template <class F>
void for_rows(const State& x, const Context& context, const F& f) {
  context.for_blocks(x.chains(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    std::vector<float> values(x.units());
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = x.value(r, i);
      f(r, std::span<const float>(values));
    }
  });
}

}  // namespace

DenseMemory memory_of_dense(std::size_t units, std::size_t letters) {
  assert(units <= Graph::kMaxUnits);
  const std::uint64_t n = units, entries = n * n;
  const std::uint64_t pairs = n * (n - std::max<std::uint64_t>(letters, 1)) / 2;
  const std::uint64_t rounded =
      letters > 0 ? 0 : padded(n, kBlockRows) * padded(n, kTileColumns) * sizeof(std::int16_t);
  return {pairs, pairs * sizeof(float), entries, entries * sizeof(float) + rounded};
}

Boltzmann::Boltzmann(Layer units, Graph graph) : Boltzmann(units, std::move(graph), units_of(units)) {}

Boltzmann::Boltzmann(Layer units, Graph graph, std::size_t visible)
    : units_(units), graph_(std::move(graph)), visible_(visible) {
  require(units.parts() == 1,
          fmt::format("a Boltzmann machine on a graph has units of one type, found {}", name_of(units)));
  require(!real_valued(units), fmt::format("a Boltzmann machine on a graph has bernoulli, spin or potts units, found "
                                           "{}; couple real units in an RBM",
                                           name_of(units)));
  const std::size_t n = units_of(units), letters = letters_of(units);
  require(n == graph_.units(),
          fmt::format("the graph of a machine of {} units needs as many, found {}", n, graph_.units()));
  require(visible >= 1 && visible <= n && (letters == 0 || visible % letters == 0),
          fmt::format("of {} units from 1 to all are visible{}, found {}", n,
                      letters > 0 ? fmt::format(", in whole sites of {}", letters) : "", visible));
  if (graph_.dense()) require_dense_fits(n, letters);
  parameters_.add("couplings", {graph_.edges()});
  parameters_.add("bias", {n});
  if (letters > 0) sites_ = graph_of_sites(graph_, letters);
}

Boltzmann::Forms Boltzmann::empty_forms() const {
  const std::size_t n = units_of(units_);
  Forms out;
  if (has_sites()) {
    if (graph_.dense()) out.site_rows = Matrix<float>(sites_.units(), n * letters_of(units_));
  } else if (graph_.dense()) {
    out.matrix = Matrix<float>(n, n);
    out.quantised = QuantisedWeights(n, n, levels_of(units_).low);
  } else {
    out.colours = colours_of(graph_);
  }
  return out;
}

const Boltzmann::Forms& Boltzmann::forms() const {
  return forms_.value([this] {
    Forms out = empty_forms();
    renew(out, {});
    return out;
  });
}

void Boltzmann::renew(Forms& forms, const Context& context) const {
  const std::span<const float> couplings = this->couplings();
  if (!graph_.dense()) {
    if (has_sites()) return;
    return make_thresholds({graph_.neighbour_lists(), couplings, bias(), levels_of(units_)}, forms.thresholds, context);
  }
  if (has_sites()) return fill_site_rows(graph_, couplings, letters_of(units_), forms.site_rows, context);
  context.for_blocks(forms.matrix.rows(), kUnitsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      graph_.for_neighbours(i, [&](std::size_t j, std::size_t e) { forms.matrix(i, j) = couplings[e]; });
    }
  });
  forms.quantised.assign(forms.matrix, bias(), context);
}

State Boltzmann::visible_part(const State& x) const {
  State out = ergodic::make_state(visible_layer(), x.chains());
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (std::size_t i = 0; i < visible_; ++i) out.bits().set(r, i, x.bits().get(r, i));
  }
  return out;
}

State Boltzmann::draw_uncoupled(std::size_t count, const Draw& draw, std::uint64_t first_chain) const {
  return ergodic::draw_uncoupled(units_, bias(), {}, count, draw, first_chain);
}

Boltzmann Boltzmann::at_temperature(double beta, const Context& context) const {
  Boltzmann out = *this;
  out.update(
      [&](Parameters& parameters) {
        for (float& value : parameters.values()) value = static_cast<float>(beta * value);
      },
      context);
  return out;
}

std::vector<double> Boltzmann::energy(LayerStates layers, const Context& context) const {
  const State& x = layers[0];
  if (has_sites()) return site_fields().energy(x, context);
  const std::span<const float> couplings = this->couplings(), bias = this->bias();
  std::vector<double> out(x.chains());
  for_rows(x, context, [&](std::size_t r, std::span<const float> values) {
    double energy = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double field = bias[i];  // of the bias and the later units: each edge counts once
      graph_.for_later_neighbours(i, [&](std::size_t j, std::size_t e) { field += double{couplings[e]} * values[j]; });
      energy -= values[i] * field;
    }
    out[r] = energy;
  });
  return out;
}

double Boltzmann::field(const State& x, std::size_t chain, std::size_t unit) const {
  return fields().of(unit, [&](std::size_t j) { return x.value(chain, j); });
}

/// Calls f(row, log p(x_i | all others) of each unit or site i) for all rows of x; several threads do.
template <class F>
void Boltzmann::for_site_logs(const State& x, const Context& context, const F& f) const {
  if (has_sites()) return site_fields().for_site_logs(x, context, f);
  const Levels levels = levels_of(units_);
  for_fields_of(x, context, [&](std::size_t r, std::span<const double> fields) {
    std::vector<double> logs(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const double field = levels.gap() * fields[i];
      logs[i] = -softplus(x.bits().get(r, i) ? -field : field);
    }
    f(r, std::span<const double>(logs));
  });
}

std::vector<double> Boltzmann::pseudo_log_likelihood(const State& x, const Context& context) const {
  std::vector<double> out(x.chains());
  for_site_logs(x, context, [&](std::size_t r, std::span<const double> logs) {
    out[r] = std::accumulate(logs.begin(), logs.end(), 0.0);
  });
  return out;
}

Matrix<double> Boltzmann::site_log_probabilities(const State& x, const Context& context) const {
  Matrix<double> out(x.chains(), sites_of(units_));
  for_site_logs(x, context,
                [&](std::size_t r, std::span<const double> logs) { std::ranges::copy(logs, out.row(r).begin()); });
  return out;
}

/// Calls f(row, fields of the row) for all rows of x; several threads do. The couplings of a dense graph are read from
/// its matrix, whose rows lie in the order in which they are added: the same sums.
template <class F>
void Boltzmann::for_fields_of(const State& x, const Context& context, const F& f) const {
  if (graph_.dense()) return for_fields(x, map(), context, f);
  for_rows(x, context, [&, fields = fields()](std::size_t r, std::span<const float> values) {
    std::vector<double> of_row(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) of_row[i] = fields.of(i, [&](std::size_t j) { return values[j]; });
    f(r, std::span<const double>(of_row));
  });
}

void Boltzmann::resample(std::size_t block, std::span<State> layers, const Draw& draw, std::uint64_t first_chain,
                         const Context& context) const {
  sweep(layers[block], {}, draw, first_chain, context);
}

void Boltzmann::resample_given(const Bits& fixed, std::size_t block, std::span<State> layers, const Draw& draw,
                               std::uint64_t first_chain, const Context& context) const {
  require_mask(units_, fixed, layers[block].chains());
  sweep(layers[block], FixedUnits(fixed), draw, first_chain, context);
}

void Boltzmann::sweep(State& x, FixedUnits fixed, const Draw& draw, std::uint64_t first_chain,
                      const Context& context) const {
  if (has_sites()) return site_fields().sweep(x, fixed, draw, first_chain, context);
  if (!graph_.dense()) {
    return sweep_colours(x, fields(), {forms().colours, forms().thresholds, fixed}, draw, first_chain, context);
  }
  sweep_in_turn(x, fixed, map(), draw, first_chain, context);
}

void Boltzmann::add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                               const Context& context) const {
  assert(out.size() == parameters_.values().size());
  assert(row_weights.size() == 1 || row_weights.size() == x.chains());
  if (has_sites()) return site_fields().add_statistics(x, row_weights, out, context);
  Matrix<float> values(x.chains(), x.units());
  unpack(x, values);
  const std::span<double> pairs = std::span(out).first(graph_.edges()), means = std::span(out).subspan(pairs.size());
  // A thread owns the edges from its units to later ones, and goes through all rows in order: no sum is split.
  context.for_blocks(x.units(), kUnitsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t r = 0; r < x.chains(); ++r) {
        const std::span<const float> row = std::as_const(values).row(r);
        const double factor = (row_weights.size() == 1 ? row_weights[0] : row_weights[r]) * row[i];
        if (factor == 0.0) continue;
        means[i] += factor;
        graph_.for_later_neighbours(i, [&](std::size_t j, std::size_t e) { pairs[e] += factor * row[j]; });
      }
    }
  });
}

void Boltzmann::add_pseudo_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                                      const Context& context) const {
  assert(out.size() == parameters_.values().size());
  assert(row_weights.size() == 1 || row_weights.size() == x.chains());
  if (has_sites()) return site_fields().add_pseudo_statistics(x, row_weights, out, context);
  const Levels levels = levels_of(units_);
  const std::span<double> pairs = std::span(out).first(graph_.edges()), means = std::span(out).subspan(pairs.size());
  for (std::size_t first = 0; first < x.chains(); first += kRowsAtOnce) {
    const std::size_t rows = std::min(kRowsAtOnce, x.chains() - first);
    Matrix<double> values(rows, x.units()), misses(rows, x.units());  // misses: weight * (x - E[x | all others])
    for_fields_of(x.rows(first, rows), context, [&](std::size_t r, std::span<const double> fields) {
      const double weight = row_weights.size() == 1 ? row_weights[0] : row_weights[first + r];
      for (std::size_t i = 0; i < fields.size(); ++i) {
        values(r, i) = x.value(first + r, i);
        misses(r, i) = weight * (values(r, i) - (levels.low + levels.gap() * sigmoid(levels.gap() * fields[i])));
      }
    });
    context.for_blocks(x.units(), kUnitsAtATime, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t r = 0; r < rows; ++r) {
          const std::span<const double> row = std::as_const(values).row(r), miss = std::as_const(misses).row(r);
          means[i] += miss[i];
          graph_.for_later_neighbours(
              i, [&](std::size_t j, std::size_t e) { pairs[e] += miss[i] * row[j] + miss[j] * row[i]; });
        }
      }
    });
  }
}

}  // namespace ergodic
