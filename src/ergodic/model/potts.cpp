#include "ergodic/model/potts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/letters.hpp"

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
  if (!letters_serve(call.given)) return draw_by_fields(*this, call);
  sample_letters(call.given, call.map, letters, call.draw, call.first_chain, call.out, call.context);
}

void Potts::draw_part_given(const DrawGiven& call, std::size_t first_unit, std::uint32_t first_uniform) const {
  call.context.for_blocks(call.given.chains(), kFieldRows, [&](std::size_t begin, std::size_t end) {
    thread_local std::vector<double> fields;
    fields.resize(units);
    for (std::size_t r = begin; r < end; ++r) {
      defined_fields_of(call.given, r, call.map, first_unit, fields);
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
