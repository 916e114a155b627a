#include "ergodic/model/potts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/letters.hpp"
#include "ergodic/kernels/row_sum.hpp"

namespace ergodic {
namespace {

/// Calls f(site, first unit, weights) for each site of a row.
template <class F>
void for_sites(const Potts& layer, const LayerFields& at, const F& f) {
  thread_local std::vector<double> storage;
  for (std::size_t s = 0; s < layer.sites(); ++s) {
    f(s, s * layer.letters, LetterWeights(at.fields.subspan(s * layer.letters, layer.letters), storage));
  }
}

/// The fields of units [first, first + out.size()) of a map given one row, as the definition sums them.
void fields_of_part(const State& given, std::size_t row, const Affine& map, std::size_t first, std::span<double> out) {
  std::ranges::copy(map.bias.subspan(first, out.size()), out.begin());
  if (!given.real() && given.levels() == Levels{0.0f, 1.0f}) {
    thread_local std::vector<std::uint32_t> on;
    on.clear();
    for_each_set(given.bits().row(row), [&](std::size_t i) { on.push_back(static_cast<std::uint32_t>(i)); });
    add_rows(map.weights, on, out, first);
  } else {
    for_each_nonzero(given, row, [&](std::size_t i, float value) {
      const std::span<const float> weights = map.weights.row(i).subspan(first, out.size());
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += double{value} * weights[j];
    });
  }
  if (map.beta == 1.0) return;
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = map.tempered(out[j], first + j);
}

}  // namespace

Potts Potts::make(std::size_t units, std::size_t letters) {
  require(letters >= 2, fmt::format("a potts layer needs at least 2 letters, found {}", letters));
  require(units % letters == 0,
          fmt::format("{} units of a potts layer are no whole number of sites of {} letters", units, letters));
  return {units, letters};
}

double Potts::log_sum(const LayerFields& at) const {
  double sum = 0.0;
  for_sites(*this, at, [&](std::size_t, std::size_t, const LetterWeights& site) {
    sum += site.largest + portable_log(site.total);
  });
  return sum;
}

void Potts::means(const LayerFields& at, std::span<float> out) const {
  for_sites(*this, at, [&](std::size_t, std::size_t first, const LetterWeights& site) {
    for (std::size_t a = 0; a < letters; ++a) out[first + a] = static_cast<float>(site.weights[a] / site.total);
  });
}

void Potts::draw(const LayerFields& at, const DrawTarget& to) const {
  for_sites(*this, at, [&](std::size_t s, std::size_t first, const LetterWeights& site) {
    const double uniform = to.draw.uniform(to.chain, to.first_uniform + static_cast<std::uint32_t>(s));
    const std::size_t letter = site.drawn(uniform), unit = to.first_unit + first;
    for (std::size_t a = 0; a < letters; ++a) to.out.bits().set(to.row, unit + a, a == letter);
  });
}

void Potts::draw_given(const DrawGiven& call) const {
  if (!letters_serve(call.given, call.map)) return draw_by_fields(*this, call);
  sample_letters(call.given, call.map, letters, call.draw, call.first_chain, call.out, call.context);
}

void Potts::draw_part_given(const DrawGiven& call, std::size_t first_unit, std::uint32_t first_uniform) const {
  call.context.for_blocks(call.given.chains(), kFieldRows, [&](std::size_t begin, std::size_t end) {
    thread_local std::vector<double> fields;
    fields.resize(units);
    for (std::size_t r = begin; r < end; ++r) {
      fields_of_part(call.given, r, call.map, first_unit, fields);
      draw({fields}, {call.draw, call.chain(r), call.out, r, first_unit, first_uniform});
    }
  });
}

void Potts::set_first(Bits& bits, std::size_t row, std::size_t first_unit) const {
  for (std::size_t unit = 0; unit < units; unit += letters) bits.set(row, first_unit + unit, true);
}

void Potts::fields_for_means(std::span<const double> means, std::span<const double>, double margin,
                             std::span<double> out) const {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = portable_log(std::max(means[k], margin));
}

}  // namespace ergodic
