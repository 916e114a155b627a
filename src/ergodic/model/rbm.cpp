#include "ergodic/model/rbm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/model/uncoupled.hpp"

namespace ergodic {
namespace {

double dot(const State& x, std::size_t row, std::span<const float> y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += double{x.value(row, i)} * y[i];
  return sum;
}

std::size_t other_of(std::size_t block) { return block == Rbm::kVisible ? Rbm::kHidden : Rbm::kVisible; }

struct UnitChange {
  std::size_t unit;
  double change;
};

/// Units of x that are fixed are as they were before.
void keep_fixed(const State& before, const Bits& fixed, State& x) {
  for (std::size_t r = 0; r < x.chains(); ++r) {
    const std::span<const std::uint64_t> stays = fixed.row(fixed.rows() == 1 ? 0 : r);
    if (x.real()) {
      for_each_set(stays, [&](std::size_t unit) { x.reals()(r, unit) = before.reals()(r, unit); });
      continue;
    }
    const std::span<const std::uint64_t> old = before.bits().row(r);
    const std::span<std::uint64_t> now = x.bits().row(r);
    for (std::size_t w = 0; w < now.size(); ++w) now[w] = (now[w] & ~stays[w]) | (old[w] & stays[w]);
  }
}

}  // namespace

Moments moments_of(const State& state) {
  Moments out{Matrix<float>(state.chains(), state.units()), {}};
  unpack(state, out.means);
  if (state.real()) {
    out.squares = out.means;
    for (float& value : out.squares.elements()) value *= value;
  }
  return out;
}

Rbm::Rbm(Layer visible, Layer hidden) : Rbm(visible, hidden, {units_of(visible), {}, {}}) {}

Rbm::Rbm(Layer visible, Layer hidden, Structure structure)
    : layers_{visible, hidden}, structure_(std::move(structure)) {
  assert(structure_.observed <= units_of(visible));
  require(!real_valued(visible) || !real_valued(hidden),
          fmt::format("{} visible and {} hidden units cannot be coupled: two layers of real units may have no "
                      "distribution; make the units of one layer bernoulli, spin or potts",
                      name_of(visible), name_of(hidden)));
  const std::size_t n = units_of(visible), m = units_of(hidden);
  parameters_.add("weights", {n, m});
  parameters_.add("visible_bias", {n});
  parameters_.add("hidden_bias", {m});
  for (const std::size_t block : {kVisible, kHidden}) {
    if (!real_valued(layer(block))) continue;
    parameters_.add(precision_slot(block), {units_of(layer(block))});
    deviations_[block].assign(units_of(layer(block)), 1.0);
  }
}

Precision Rbm::precision(std::size_t block) const {
  if (!real_valued(layer(block))) return {};
  return {parameters_[precision_slot(block)], deviations_[block]};
}

MatrixView<const float> Rbm::weights() const {
  return {parameters_["weights"].data(), units_of(visible()), units_of(hidden())};
}

Couplings Rbm::empty_couplings() const {
  // Next to real units all fields are sums of floats.
  if (real_valued(visible()) || real_valued(hidden())) return Couplings(units_of(visible()), units_of(hidden()));
  return Couplings(units_of(visible()), units_of(hidden()), low_of(visible()), low_of(hidden()));
}

const Couplings& Rbm::couplings() const {
  return couplings_.value([this] {
    Couplings out = empty_couplings();
    out.renew_blocks(weights(), {});
    out.finish(weights(), visible_bias(), hidden_bias(), {});
    return out;
  });
}

Couplings& Rbm::stale_couplings() {
  return couplings_.value([this] { return empty_couplings(); });
}

void Rbm::renew(const Context& context) {
  Couplings& couplings = stale_couplings();
  couplings.renew_blocks(weights(), context);
  finish_update(couplings, context);
}

void Rbm::finish_update(Couplings& couplings, const Context& context) {
  couplings.finish(weights(), visible_bias(), hidden_bias(), context);
  renew_deviations();
}

void Rbm::renew_deviations() {
  for (const std::size_t block : {kVisible, kHidden}) {
    const std::span<const float> logs = precision(block).logs;
    for (std::size_t k = 0; k < logs.size(); ++k) deviations_[block][k] = portable_exp(-0.5 * logs[k]);
  }
}

Affine Rbm::map_to(std::size_t block) const {
  const Couplings& forms = couplings();
  return block == kHidden ? Affine{weights(), forms.transposed(), hidden_bias(), &forms.to_columns()}
                          : Affine{forms.transposed(), weights(), visible_bias(), &forms.to_rows()};
}

std::vector<double> Rbm::energy(LayerStates layers, const Context& context) const {
  const State &visible = layers[kVisible], &hidden = layers[kHidden];
  assert(visible.chains() == hidden.chains());
  std::vector<double> out(visible.chains());
  for_fields(visible, map_to(kHidden), context, [&](std::size_t r, std::span<const double> fields) {
    double energy = -dot(visible, r, visible_bias()) + self_energy(visible, r, precision(kVisible)) +
                    self_energy(hidden, r, precision(kHidden));
    for (std::size_t j = 0; j < fields.size(); ++j) energy -= hidden.value(r, j) * fields[j];
    out[r] = energy;
  });
  return out;
}

std::vector<double> Rbm::free_energy(const State& visible, const Context& context) const {
  std::vector<double> out(visible.chains());
  for_fields(visible, map_to(kHidden), context, [&](std::size_t r, std::span<const double> fields) {
    out[r] = self_energy(visible, r, precision(kVisible)) - dot(visible, r, visible_bias()) -
             log_sum(hidden(), {fields, precision(kHidden)});
  });
  return out;
}

Matrix<double> Rbm::free_energy_forces(const State& x, const Context& context) const {
  require_forces(visible(), "the free energy");
  const State means(conditional_means(kHidden, x, context));
  const std::span<const double> deviations = precision(kVisible).deviations;
  Matrix<double> out(x.chains(), x.units());
  for_fields(means, map_to(kVisible), context, [&](std::size_t r, std::span<const double> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      out(r, i) = fields[i] - x.reals()(r, i) / (deviations[i] * deviations[i]);
    }
  });
  return out;
}

Matrix<double> Rbm::site_log_probabilities(const State& visible, const Matrix<std::uint32_t>& sites,
                                           const Context& context) const {
  assert(sites.rows() == visible.chains() && !visible.real());
  const std::vector<Site> all = ergodic::sites(layer(kVisible));
  Matrix<double> out(sites.rows(), sites.cols());
  for_fields(visible, map_to(kHidden), context, [&](std::size_t r, std::span<const double> fields) {
    const double before = log_sum(hidden(), {fields, precision(kHidden)});
    std::vector<double> changed(fields.size());
    // The log of what x weighs with some units changed, in terms of x as it is.
    const auto log_weight = [&](std::initializer_list<UnitChange> changes) {
      std::copy(fields.begin(), fields.end(), changed.begin());
      double bias = 0.0;
      for (const auto& [unit, change] : changes) {
        const std::span<const float> row = weights().row(unit);
        for (std::size_t j = 0; j < changed.size(); ++j) changed[j] += change * row[j];
        bias += change * visible_bias()[unit];
      }
      return log_sum(hidden(), {changed, precision(kHidden)}) - before + bias;
    };
    for (std::size_t k = 0; k < sites.cols(); ++k) {
      const auto [first, size] = all[sites(r, k)];
      if (size == 1) {
        const double change = visible.levels().low + visible.levels().high - 2.0 * visible.value(r, first);
        out(r, k) = -softplus(log_weight({{first, change}}));
        continue;
      }
      std::size_t present = first;
      while (!visible.bits().get(r, present)) ++present;
      double others = -std::numeric_limits<double>::infinity();  // the log of what all other letters weigh
      for (std::size_t unit = first; unit < first + size; ++unit) {
        if (unit != present) others = log_add(others, log_weight({{present, -1.0}, {unit, 1.0}}));
      }
      out(r, k) = -softplus(others);
    }
  });
  return out;
}

State Rbm::draw_uncoupled(std::size_t count, const Draw& draw, std::uint64_t first_chain) const {
  return ergodic::draw_uncoupled(visible(), visible_bias(), precision(kVisible), count, draw, first_chain);
}

Rbm Rbm::at_temperature(double beta, const Context& context) const {
  Rbm out = *this;
  out.update(
      [&](Parameters& parameters) {
        for (const char* slot : {"weights", "visible_bias", "hidden_bias"}) {
          for (float& value : parameters[slot]) value = static_cast<float>(beta * value);
        }
        for (const std::size_t block : {kVisible, kHidden}) {
          if (!real_valued(layer(block))) continue;
          for (float& log_precision : parameters[precision_slot(block)]) {
            log_precision = static_cast<float>(log_precision + portable_log(beta));
          }
        }
      },
      context);
  return out;
}

void Rbm::resample(std::size_t block, std::span<State> layers, const Draw& draw, std::uint64_t first_chain,
                   const Context& context) const {
  draw_given(layer(block), precision(block), layers[other_of(block)], map_to(block), draw, first_chain, layers[block],
             context);
}

void Rbm::resample_with_means(std::size_t block, std::span<State> layers, const Draw& draw, std::uint64_t first_chain,
                              MatrixView<float> means, const Context& context) const {
  draw_given_with_means(layer(block), precision(block), layers[other_of(block)], map_to(block), draw, first_chain,
                        layers[block], means, context);
}

void Rbm::find_float_means(std::size_t block, const State& given, MatrixView<float> means,
                           const Context& context) const {
  State none(0, 0, {});
  draw_given_with_means(layer(block), precision(block), given, map_to(block), Draw(0, Purpose::kGibbs, 0, 0), 0, none,
                        means, context);
}

void Rbm::resample_given(const Bits& fixed, std::size_t block, std::span<State> layers, const Draw& draw,
                         std::uint64_t first_chain, const Context& context) const {
  require_mask(visible(), fixed, layers[kVisible].chains());
  if (block == kHidden) return resample(block, layers, draw, first_chain, context);
  const State before = layers[block];
  resample(block, layers, draw, first_chain, context);
  keep_fixed(before, fixed, layers[block]);
}

Matrix<float> Rbm::conditional_means(std::size_t block, const State& given, const Context& context) const {
  Matrix<float> out(given.chains(), units_of(layer(block)));
  for_fields(given, map_to(block), context, [&](std::size_t r, std::span<const double> fields) {
    means(layer(block), {fields, precision(block)}, out.row(r));
  });
  return out;
}

Moments Rbm::conditional_moments(std::size_t block, const State& given, const Context& context) const {
  Moments out{conditional_means(block, given, context), {}};
  if (!real_valued(layer(block))) return out;
  out.squares = Matrix<float>(given.chains(), units_of(layer(block)));
  for_fields(given, map_to(block), context, [&](std::size_t r, std::span<const double> fields) {
    squares(layer(block), {fields, precision(block)}, out.squares.row(r));
  });
  return out;
}

void Rbm::add_statistics(std::size_t block, const State& states, const Moments& other,
                         std::span<const double> row_weights, Statistics& out, const Context& context) const {
  assert(out.size() == parameters_.values().size());
  const auto part = [&](const char* slot) {
    const Slot& found = parameters_.slot(slot);
    return std::span(out).subspan(found.offset, found.size);
  };
  const std::size_t n = units_of(visible()), m = units_of(hidden());
  const MatrixView<double> pairs(part("weights").data(), n, m);
  if (block == kVisible) {
    correlate(states, other.means, row_weights, pairs, context);
  } else {
    Matrix<double> transposed(m, n);
    correlate(states, other.means, row_weights, transposed, context);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) pairs(i, j) += transposed(j, i);
    }
  }
  constexpr const char* kBiasSlots[] = {"visible_bias", "hidden_bias"};
  add_column_sums(states, row_weights, part(kBiasSlots[block]));
  add_column_sums(other.means, row_weights, part(kBiasSlots[other_of(block)]));
  const auto add_squares = [&](std::size_t side, MatrixView<const float> squared) {
    const std::vector<double>& deviations = deviations_[side];
    std::vector<double> sums(deviations.size());
    add_column_sums(squared, row_weights, sums);
    const std::span<double> to = part(precision_slot(side));
    for (std::size_t k = 0; k < sums.size(); ++k) to[k] -= 0.5 * sums[k] / (deviations[k] * deviations[k]);
  };
  if (real_valued(layer(block))) add_squares(block, moments_of(states).squares);
  if (real_valued(layer(other_of(block)))) add_squares(other_of(block), other.squares);
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
