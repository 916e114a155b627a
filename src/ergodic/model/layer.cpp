#include "ergodic/model/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/kernels/letters.hpp"
#include "ergodic/kernels/log_sums.hpp"

namespace ergodic {
namespace {

void two_valued_means(Levels levels, const Row& row, std::span<float> out) {
  const double gap = levels.gap();
  for (std::size_t j = 0; j < out.size(); ++j) {
    out[j] = static_cast<float>(levels.low + gap * sigmoid(gap * row.fields[j]));
  }
}

void two_valued_draw(Levels levels, const Row& row, const RowDraw& to) {
  flip_coins(
      to.draw, to.chain, static_cast<std::uint32_t>(row.fields.size()),
      [&](std::uint32_t j) { return sigmoid(levels.gap() * row.fields[j]); },
      [&](std::uint32_t j, bool high) { to.out.bits().set(to.row, j, high); });
}

}  // namespace

double Bernoulli::log_sum(const Row& row) const { return sum_softplus(row.fields); }
void Bernoulli::means(const Row& row, std::span<float> out) const { two_valued_means(kLevels, row, out); }
void Bernoulli::draw(const Row& row, const RowDraw& to) const { two_valued_draw(kLevels, row, to); }

double Spin::log_sum(const Row& row) const { return sum_log_cosh(row.fields); }
void Spin::means(const Row& row, std::span<float> out) const { two_valued_means(kLevels, row, out); }
void Spin::draw(const Row& row, const RowDraw& to) const { two_valued_draw(kLevels, row, to); }

namespace {

/// Calls f(site, first unit, weights) for each site of a row.
template <class F>
void for_sites(const Potts& layer, const Row& row, const F& f) {
  std::vector<double> storage;
  for (std::size_t s = 0; s < layer.sites(); ++s) {
    f(s, s * layer.letters, LetterWeights(row.fields.subspan(s * layer.letters, layer.letters), storage));
  }
}

}  // namespace

double Potts::log_sum(const Row& row) const {
  double sum = 0.0;
  for_sites(*this, row, [&](std::size_t, std::size_t, const LetterWeights& site) {
    sum += site.largest + portable_log(site.total);
  });
  return sum;
}

void Potts::means(const Row& row, std::span<float> out) const {
  for_sites(*this, row, [&](std::size_t, std::size_t first, const LetterWeights& site) {
    for (std::size_t a = 0; a < letters; ++a) out[first + a] = static_cast<float>(site.weights[a] / site.total);
  });
}

void Potts::draw(const Row& row, const RowDraw& to) const {
  for_sites(*this, row, [&](std::size_t s, std::size_t first, const LetterWeights& site) {
    const std::size_t letter = site.drawn(to.draw.uniform(to.chain, static_cast<std::uint32_t>(s)));
    for (std::size_t a = 0; a < letters; ++a) to.out.bits().set(to.row, first + a, a == letter);
  });
}

namespace {

constexpr double kTwoPi = 6.283185307179586;

/// A real unit in units of its own deviation: z = x / deviation has the field t.
struct Standardised {
  Standardised(const Row& row, std::size_t unit)
      : deviation(row.precision.deviations[unit]), t(row.fields[unit] * deviation) {}
  double deviation, t;
};

/// Two uniform numbers in (0, 1).
struct TwoUniforms {
  explicit TwoUniforms(const Words& w) : first(between(w[0], w[1])), second(between(w[2], w[3])) {}
  static double between(std::uint32_t low, std::uint32_t high) {
    const std::uint64_t grid = ((std::uint64_t{high} << 32) | low) >> 12;
    return (static_cast<double>(grid) + 0.5) * 0x1p-52;
  }
  double first, second;
};

/// Of z >= 0 with density proportional to e^(t z - z^2 / 2).
struct Truncated {
  explicit Truncated(double t) : log_sum(log_positive_weight(t)), mean(positive_mean(t)), square(1.0 + t * mean) {}
  double log_sum, mean, square;
};

/// A draw of it, by rejection (Robert 1995): from the whole normal if most of it is allowed, else from an exponential
/// that touches the tail. Attempt k of a unit has its own numbers.
double draw_truncated(double t, const RowDraw& to, std::size_t unit, std::size_t units) {
  const double a = -t, rate = 0.5 * (a + std::sqrt(a * a + 4.0));
  for (std::uint64_t index = unit;; index += units) {
    const TwoUniforms u(to.draw.words(to.chain, static_cast<std::uint32_t>(index)));
    if (t >= 0.0) {
      const double z = t + normal_quantile(u.first);
      if (z >= 0.0) return z;
    } else {
      const double z = -portable_log(u.first) / rate, miss = z + a - rate;
      if (u.second <= portable_exp(-0.5 * miss * miss)) return z;
    }
  }
}

}  // namespace

double Gaussian::log_sum(const Row& row) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(row, j);
    sum += 0.5 * (unit.t * unit.t - row.precision.logs[j]);
  }
  return sum + 0.5 * static_cast<double>(units) * portable_log(kTwoPi);
}

void Gaussian::means(const Row& row, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(row, j);
    out[j] = static_cast<float>(unit.deviation * unit.t);
  }
}

void Gaussian::squares(const Row& row, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(row, j);
    out[j] = static_cast<float>(unit.deviation * unit.deviation * (1.0 + unit.t * unit.t));
  }
}

void Gaussian::draw(const Row& row, const RowDraw& to) const {
  for (std::size_t j = 0; j < units; j += 2) {
    const TwoUniforms u(to.draw.words(to.chain, static_cast<std::uint32_t>(j / 2)));
    const auto put = [&](std::size_t k, double uniform) {
      const Standardised unit(row, k);
      to.out.reals()(to.row, k) = static_cast<float>(unit.deviation * (unit.t + normal_quantile(uniform)));
    };
    put(j, u.first);
    if (j + 1 < units) put(j + 1, u.second);
  }
}

double Relu::log_sum(const Row& row) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < units; ++j) {
    sum += Truncated(Standardised(row, j).t).log_sum - 0.5 * row.precision.logs[j];
  }
  return sum;
}

void Relu::means(const Row& row, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(row, j);
    out[j] = static_cast<float>(unit.deviation * Truncated(unit.t).mean);
  }
}

void Relu::squares(const Row& row, std::span<float> out) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(row, j);
    out[j] = static_cast<float>(unit.deviation * unit.deviation * Truncated(unit.t).square);
  }
}

void Relu::draw(const Row& row, const RowDraw& to) const {
  for (std::size_t j = 0; j < units; ++j) {
    const Standardised unit(row, j);
    to.out.reals()(to.row, j) = static_cast<float>(unit.deviation * draw_truncated(unit.t, to, j, units));
  }
}

Layer make_layer(std::string_view type, std::size_t units, std::size_t letters) {
  require(units > 0, fmt::format("a {} layer needs at least 1 unit, found 0", type));
  if (type == Bernoulli::kName) return Bernoulli{units};
  if (type == Spin::kName) return Spin{units};
  if (type == Gaussian::kName) return Gaussian{units};
  if (type == Relu::kName) return Relu{units};
  require(type == Potts::kName, fmt::format("unknown unit type '{}'; there are: {}", type, kLayerNames));
  require(letters >= 2, fmt::format("a potts layer needs at least 2 letters, found {}", letters));
  require(units % letters == 0,
          fmt::format("{} units of a potts layer are no whole number of sites of {} letters", units, letters));
  return Potts{units, letters};
}

std::string_view name_of(const Layer& layer) {
  return std::visit([](const auto& l) { return l.kName; }, layer);
}

std::size_t units_of(const Layer& layer) {
  return std::visit([](const auto& l) { return l.units; }, layer);
}

std::size_t letters_of(const Layer& layer) {
  const auto* potts = std::get_if<Potts>(&layer);
  return potts ? potts->letters : 0;
}

std::size_t sites_of(const Layer& layer) {
  const auto* potts = std::get_if<Potts>(&layer);
  return potts ? potts->sites() : units_of(layer);
}

bool two_valued(const Layer& layer) {
  return std::holds_alternative<Bernoulli>(layer) || std::holds_alternative<Spin>(layer);
}

bool real_valued(const Layer& layer) {
  return std::holds_alternative<Gaussian>(layer) || std::holds_alternative<Relu>(layer);
}

void require_gaussian(const Layer& layer) {
  require(
      std::holds_alternative<Gaussian>(layer),
      fmt::format("forces act on gaussian units, found {} ones; take gibbs or metropolis sampling{}", name_of(layer),
                  std::holds_alternative<Relu>(layer) ? ", which know that relu units end at 0" : ""));
}

bool has_forces(const Layer& layer) { return std::holds_alternative<Gaussian>(layer); }

void require_forces(const Layer& layer, std::string_view what) {
  require(has_forces(layer),
          fmt::format("{} follows forces, which act on gaussian units, and the visible units of this machine are {}{}; "
                      "take gibbs or metropolis",
                      what, name_of(layer), std::holds_alternative<Relu>(layer) ? ", which end at 0" : ""));
}

Levels levels_of(const Layer& layer) {
  assert(!real_valued(layer));
  return std::holds_alternative<Spin>(layer) ? Spin::kLevels : Bernoulli::kLevels;
}

State make_state(const Layer& layer, std::size_t chains) {
  if (real_valued(layer)) return State(Matrix<float>(chains, units_of(layer)));
  State out(chains, units_of(layer), levels_of(layer));
  if (const auto* potts = std::get_if<Potts>(&layer)) {
    for (std::size_t r = 0; r < chains; ++r) {
      for (std::size_t first = 0; first < potts->units; first += potts->letters) out.bits().set(r, first, true);
    }
  }
  return out;
}

State state_of(const Layer& layer, Values values) {
  if (std::holds_alternative<Matrix<float>>(values) != real_valued(layer)) {
    throw DataError(fmt::format("{} units take {}, found {}", name_of(layer),
                                real_valued(layer) ? "real numbers" : "bits",
                                real_valued(layer) ? "bits" : "real numbers"));
  }
  if (real_valued(layer)) return State(std::get<Matrix<float>>(std::move(values)));
  return State(std::get<Bits>(std::move(values)), levels_of(layer));
}

void require_mask(const Layer& layer, const Bits& fixed, std::size_t chains) {
  require((fixed.rows() == 1 || fixed.rows() == chains) && fixed.cols() == units_of(layer),
          fmt::format("which units stay as they are is said by {} bits in 1 row, or in {} rows for as many chains; "
                      "found {} rows of {} bits",
                      units_of(layer), chains, fixed.rows(), fixed.cols()));
  const std::size_t letters = std::max<std::size_t>(letters_of(layer), 1);
  for (std::size_t r = 0; letters > 1 && r < fixed.rows(); ++r) {
    for (std::size_t unit = 0; unit < fixed.cols(); ++unit) {
      require(fixed.get(r, unit) == fixed.get(r, unit - unit % letters),
              fmt::format("a site of {} letters stays as it is or is drawn as a whole; in row {} only some units of "
                          "site {} stay",
                          letters, r, unit / letters));
    }
  }
}

double log_sum(const Layer& layer, const Row& row) {
  return std::visit([&](const auto& l) { return l.log_sum(row); }, layer);
}

double log_sum_change(const Layer& layer, const Row& row, double from, double to) {
  if (std::holds_alternative<Bernoulli>(layer)) return softplus_change(row.fields, from, to);
  std::vector<double> scaled(row.fields.size());
  if (std::holds_alternative<Spin>(layer)) {  // log(e^x + e^-x) = log(1 + e^2x) - x
    double sum = 0.0;
    for (std::size_t j = 0; j < scaled.size(); ++j) {
      scaled[j] = 2.0 * row.fields[j];
      sum += row.fields[j];
    }
    return softplus_change(scaled, from, to) - (to - from) * sum;
  }
  const auto at = [&](double t) {
    for (std::size_t j = 0; j < scaled.size(); ++j) scaled[j] = t * row.fields[j];
    return log_sum(layer, {scaled, row.precision});
  };
  return at(to) - at(from);
}

void means(const Layer& layer, const Row& row, std::span<float> out) {
  std::visit([&](const auto& l) { l.means(row, out); }, layer);
}

void squares(const Layer& layer, const Row& row, std::span<float> out) {
  assert(real_valued(layer));
  std::visit(
      [&](const auto& l) {
        if constexpr (requires { l.squares(row, out); }) l.squares(row, out);
      },
      layer);
}

void draw(const Layer& layer, const Row& row, const RowDraw& to) {
  std::visit([&](const auto& l) { l.draw(row, to); }, layer);
}

void draw_given(const Layer& layer, const Precision& precision, const State& given, const Affine& map, const Draw& draw,
                std::uint64_t first_chain, State& out, const Context& context) {
  if (two_valued(layer)) return sample(given, map, draw, first_chain, out, context);
  if (letters_of(layer) > 0 && letters_serve(given, map)) {
    return sample_letters(given, map, letters_of(layer), draw, first_chain, out, context);
  }
  for_fields(given, map, context, [&](std::size_t r, std::span<const double> fields) {
    ergodic::draw(layer, {fields, precision}, {draw, static_cast<std::uint32_t>(first_chain + r), out, r});
  });
}

double self_energy(const State& state, std::size_t chain, const Precision& precision) {
  double sum = 0.0;
  for (std::size_t j = 0; j < precision.deviations.size(); ++j) {
    const double z = state.value(chain, j) / precision.deviations[j];
    sum += 0.5 * z * z;
  }
  return sum;
}

std::vector<double> fields_for_means(const Layer& layer, std::span<const double> means,
                                     std::span<const double> deviations, double margin) {
  std::vector<double> out(means.begin(), means.end());
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (real_valued(layer)) {
      out[k] /= deviations[k] * deviations[k];
    } else if (letters_of(layer) > 0) {
      out[k] = portable_log(std::max(out[k], margin));
    } else {
      const Levels levels = levels_of(layer);
      const double p = std::clamp((out[k] - levels.low) / levels.gap(), margin, 1.0 - margin);
      out[k] = portable_log(p / (1.0 - p)) / levels.gap();
    }
  }
  return out;
}

}  // namespace ergodic
