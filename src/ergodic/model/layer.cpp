#include "ergodic/model/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// Calls f(part) for each part.
template <class F>
void for_parts(const Layer& layer, const F& f) {
  for (std::size_t k = 0; k < layer.parts(); ++k) std::visit(f, layer.part(k));
}

/// Calls f(part, its first unit) for each part.
template <class F>
void for_placed_parts(const Layer& layer, const F& f) {
  std::size_t first = 0;
  for_parts(layer, [&](const auto& part) {
    f(part, first);
    first += part.units;
  });
}

/// The fields of a part.
template <class Part>
LayerFields part_of(const LayerFields& at, const Part& part, std::size_t first) {
  return {at.fields.subspan(first, part.units), at.precision};
}

/// The sum of f(part, its fields).
template <class F>
double sum_over_parts(const Layer& layer, const LayerFields& at, const F& f) {
  if (layer.parts() == 1) return std::visit([&](const auto& part) { return f(part, at); }, layer.part(0));
  double sum = 0.0;
  for_placed_parts(layer, [&](const auto& part, std::size_t first) { sum += f(part, part_of(at, part, first)); });
  return sum;
}

/// What a property of types is, for the first part: all parts of a layer agree, or there is only one.
template <class F>
auto of_first(const Layer& layer, const F& f) {
  return std::visit(f, layer.part(0));
}

template <class Part>
Levels levels_of_part(const Part&) {
  if constexpr (Part::kReal) {
    return {};
  } else {
    return Part::kLevels;
  }
}

std::string type_names() {
  std::string out;
  for (const UnitTypeText& type : unit_types()) {
    out += out.empty() ? "" : ", ";
    out += type.name;
  }
  return out;
}

/// Two-valued parts first, by the kernel that draws whole rows of coins, which the letters then write over.
void draw_joined_given(const Layer& layer, const DrawGiven& call) {
  bool coins = false;
  for_parts(layer, [&](const auto& part) { coins = coins || part.site_size() == 1; });
  if (coins) sample(call.given, call.map, call.draw, call.first_chain, call.out, call.context);
  for_placed_parts(layer, [&](const auto& part, std::size_t first) {
    if constexpr (requires { part.draw_part_given(call, first, 0u); }) {
      part.draw_part_given(call, first, static_cast<std::uint32_t>(units_of(layer) + first));
    }
  });
}

}  // namespace

Layer joined(std::vector<Units> parts) {
  require(!parts.empty(), "a layer needs at least 1 part, found none");
  if (parts.size() == 1) return parts[0];
  Layer out;
  out.joined_ = std::move(parts);
  for_parts(out, [&](const auto& part) {
    require(!part.kReal, fmt::format("{} units cannot be joined with others: their values are no bits", part.kName));
    require(part.units > 0, fmt::format("a {} part of a layer needs at least 1 unit, found 0", part.kName));
    if constexpr (requires { part.letters; }) part.make(part.units, part.letters);  // may refuse
    require(levels_of_part(part) == levels_of(out),
            fmt::format("parts of a layer need the same two values for low and high, found {}", name_of(out)));
  });
  return out;
}

Layer make_layer(std::string_view type, std::size_t units, std::size_t letters) {
  require(units > 0, fmt::format("a {} layer needs at least 1 unit, found 0", type));
  std::optional<Layer> out;
  for_each_unit_type([&]<class T>(std::type_identity<T>) {
    if (type != T::kName) return;
    if constexpr (requires { T::make(units, letters); }) {
      out = T::make(units, letters);
    } else {
      out = T{units};
    }
  });
  require(out.has_value(), fmt::format("unknown unit type '{}'; there are: {}", type, type_names()));
  return *out;
}

std::string name_of(const Layer& layer) {
  std::string out;
  for_parts(layer, [&](const auto& part) {
    out += out.empty() ? "" : "+";
    out += part.kName;
  });
  return out;
}

std::size_t units_of(const Layer& layer) {
  std::size_t sum = 0;
  for_parts(layer, [&](const auto& part) { sum += part.units; });
  return sum;
}

std::vector<Site> sites(const Layer& layer) {
  std::vector<Site> out;
  for_placed_parts(layer, [&](const auto& part, std::size_t first) {
    for (std::size_t k = 0; k < part.units; k += part.site_size()) out.push_back({first + k, part.site_size()});
  });
  return out;
}

std::size_t sites_of(const Layer& layer) {
  std::size_t sum = 0;
  for_parts(layer, [&](const auto& part) { sum += part.units / part.site_size(); });
  return sum;
}

Layer layer_of_sites(const Layer& layer, std::span<const std::size_t> sites) {
  std::vector<Units> parts;
  std::size_t first = 0;  // site of the part
  for_parts(layer, [&](auto part) {
    const std::size_t last = first + part.units / part.site_size();
    const auto chosen = std::ranges::count_if(sites, [&](std::size_t s) { return s >= first && s < last; });
    first = last;
    if (chosen == 0) return;
    part.units = static_cast<std::size_t>(chosen) * part.site_size();
    parts.push_back(part);
  });
  return joined(std::move(parts));
}

std::size_t letters_of(const Layer& layer) {
  if (layer.parts() > 1) throw UsageError(fmt::format("{} units have no one number of letters", name_of(layer)));
  return of_first(layer, [](const auto& part) { return part.site_size() > 1 ? part.site_size() : 0; });
}

bool two_valued(const Layer& layer) {
  bool out = true;
  for_parts(layer, [&](const auto& part) { out = out && !part.kReal && part.site_size() == 1; });
  return out;
}

bool real_valued(const Layer& layer) {
  return of_first(layer, [](const auto& part) { return part.kReal; });
}

UnitValues data_values(const Layer& layer) {
  if (layer.parts() > 1) return UnitValues::kBits;
  return of_first(layer, [](const auto& part) { return part.kValues; });
}

bool has_forces(const Layer& layer) {
  return of_first(layer, [](const auto& part) { return part.kForces; });
}

void require_forces(const Layer& layer, std::string_view what) {
  require(has_forces(layer),
          fmt::format("{} follows forces, which act on gaussian units, and the visible units of this machine are {}{}; "
                      "take gibbs or metropolis",
                      what, name_of(layer), real_valued(layer) ? ", which end at 0" : ""));
}

Levels levels_of(const Layer& layer) {
  assert(!real_valued(layer));
  return of_first(layer, [](const auto& part) { return levels_of_part(part); });
}

float low_of(const Layer& layer) { return real_valued(layer) ? 0.0f : levels_of(layer).low; }

std::vector<double> even_shares(const Layer& layer) {
  assert(!real_valued(layer));
  std::vector<double> out;
  for_parts(layer, [&]<class Part>(const Part& part) {
    if constexpr (!Part::kReal) out.insert(out.end(), part.units, part.even_share());
  });
  return out;
}

double log2_states(const Layer& layer) {
  double sum = 0.0;
  for_parts(layer, [&]<class Part>(const Part& part) {
    if constexpr (Part::kReal) {
      sum = std::numeric_limits<double>::infinity();
    } else {
      sum += static_cast<double>(part.units / part.site_size()) * std::log2(static_cast<double>(part.site_values()));
    }
  });
  return sum;
}

State make_state(const Layer& layer, std::size_t chains) {
  if (real_valued(layer)) return State(Matrix<float>(chains, units_of(layer)));
  State out(chains, units_of(layer), levels_of(layer));
  for_placed_parts(layer, [&](const auto& part, std::size_t first) {
    for (std::size_t r = 0; r < chains; ++r) part.set_first(out.bits(), r, first);
  });
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

std::uint64_t differing_sites(const Layer& layer, const State& x, const State& y) {
  assert(!real_valued(layer) && x.chains() == y.chains());
  Bits alone(1, units_of(layer));  // the units that are sites of their own
  for (const Site& site : sites(layer)) alone.set(0, site.first, site.size == 1);
  // Where one letter takes the place of another two bits differ, so other bits count twice.
  std::uint64_t twice = 0;
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (std::size_t w = 0; w < alone.row(0).size(); ++w) {
      const std::uint64_t differing = x.bits().row(r)[w] ^ y.bits().row(r)[w];
      twice += static_cast<std::uint64_t>(std::popcount(differing) + std::popcount(differing & alone.row(0)[w]));
    }
  }
  return twice / 2;
}

void require_mask(const Layer& layer, const Bits& fixed, std::size_t chains) {
  require((fixed.rows() == 1 || fixed.rows() == chains) && fixed.cols() == units_of(layer),
          fmt::format("which units stay as they are is said by {} bits in 1 row, or in {} rows for as many chains; "
                      "found {} rows of {} bits",
                      units_of(layer), chains, fixed.rows(), fixed.cols()));
  std::size_t before = 0;  // sites of earlier parts
  for_placed_parts(layer, [&](const auto& part, std::size_t first) {
    const std::size_t size = part.site_size();
    for (std::size_t r = 0; size > 1 && r < fixed.rows(); ++r) {
      for (std::size_t k = 0; k < part.units; ++k) {
        if (fixed.get(r, first + k) == fixed.get(r, first + k - k % size)) continue;
        throw UsageError(
            fmt::format("a site of {} letters stays as it is or is drawn as a whole; in row {} only some "
                        "units of site {} stay",
                        size, r + 1, before + k / size + 1));
      }
    }
    before += part.units / size;
  });
}

double log_sum(const Layer& layer, const LayerFields& at) {
  return sum_over_parts(layer, at, [](const auto& part, const LayerFields& own) { return part.log_sum(own); });
}

double log_sum_change(const Layer& layer, const LayerFields& at, double from, double to) {
  return sum_over_parts(layer, at,
                        [&](const auto& part, const LayerFields& own) { return part.log_sum_change(own, from, to); });
}

void means(const Layer& layer, const LayerFields& at, std::span<float> out) {
  for_placed_parts(layer, [&](const auto& part, std::size_t first) {
    part.means(part_of(at, part, first), out.subspan(first, part.units));
  });
}

void squares(const Layer& layer, const LayerFields& at, std::span<float> out) {
  assert(real_valued(layer));
  for_parts(layer, [&]<class Part>(const Part& part) {
    if constexpr (Part::kReal) part.squares(at, out);
  });
}

void draw(const Layer& layer, const LayerFields& at, const DrawTarget& to) {
  if (layer.parts() == 1) return std::visit([&](const auto& part) { part.draw(at, to); }, layer.part(0));
  for_placed_parts(layer, [&](const auto& part, std::size_t first) {
    part.draw(part_of(at, part, first),
              {to.draw, to.chain, to.out, to.row, first, static_cast<std::uint32_t>(units_of(layer) + first)});
  });
}

void draw_given(const Layer& layer, const Precision& precision, const State& given, const Affine& map, const Draw& draw,
                std::uint64_t first_chain, State& out, const Context& context) {
  const DrawGiven call{precision, given, map, draw, first_chain, out, context};
  if (layer.parts() > 1) return draw_joined_given(layer, call);
  std::visit([&](const auto& part) { part.draw_given(call); }, layer.part(0));
}

void draw_given_with_means(const Layer& layer, const Precision& precision, const State& given, const Affine& map,
                           const Draw& draw, std::uint64_t first_chain, State& out, MatrixView<float> means,
                           const Context& context) {
  const DrawGiven call{precision, given, map, draw, first_chain, out, context};
  const bool in_float = layer.parts() == 1 && std::visit(
                                                  [&]<class Part>(const Part& part) {
                                                    if constexpr (!FloatPart<Part>) {
                                                      return false;
                                                    } else {
                                                      draw_by_float_fields(part, call, means);
                                                      return true;
                                                    }
                                                  },
                                                  layer.part(0));
  if (in_float) return;
  if (out.chains() > 0) draw_given(layer, precision, given, map, draw, first_chain, out, context);
  for_fields(given, map, context, [&](std::size_t r, std::span<const double> fields) {
    ergodic::means(layer, {fields, precision}, means.row(r));
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
  std::vector<double> out(means.size());
  for_placed_parts(layer, [&](const auto& part, std::size_t first) {
    part.fields_for_means(means.subspan(first, part.units), deviations, margin,
                          std::span(out).subspan(first, part.units));
  });
  return out;
}

}  // namespace ergodic
