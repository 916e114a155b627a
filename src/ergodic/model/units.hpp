// What the unit types share. Each type is one file (bernoulli.hpp, spin.hpp, potts.hpp, gaussian.hpp, relu.hpp) that
// answers everything that is ever asked about it; `Units` in layer.hpp lists them.
//
// A unit with field I has the value x with weight exp(x I - U(x)): U = 0 for two-valued units and letters, and
// U(x) = gamma x^2 / 2 for real ones, whose precision gamma is a parameter.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/kernels/float_fields.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/real_draws.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// The precisions of real units: log gamma, and 1 / sqrt(gamma). Empty for others.
struct Precision {
  std::span<const float> logs = {};
  std::span<const double> deviations = {};
};

/// The fields of the units of a layer, or of a part of one, in one chain.
struct LayerFields {
  std::span<const double> fields;
  Precision precision = {};
};

/// What a draw for one chain is made of, and where it goes.
struct DrawTarget {
  const Draw& draw;
  std::uint32_t chain;
  State& out;
  std::size_t row;
  std::size_t first_unit = 0;  ///< of the state, where the units begin; a two-valued unit has the coin of its place
  std::uint32_t first_uniform = 0;  ///< the index of the uniform number of the first site of letters
};

/// A draw of all chains, given the layer that the map comes from. Row r draws the random numbers of chain
/// first_chain + r.
struct DrawGiven {
  const Precision& precision;
  const State& given;
  const Affine& map;
  const Draw& draw;
  std::uint64_t first_chain;
  State& out;
  const Context& context;

  std::uint32_t chain(std::size_t row) const { return static_cast<std::uint32_t>(first_chain + row); }
};

/// What is drawn as a whole: one unit, or the units of the letters of a site.
struct Site {
  std::size_t first = 0;
  std::size_t size = 1;

  /// How many values it has, if it is not real.
  std::size_t values() const { return size == 1 ? 2 : size; }
  bool operator==(const Site&) const = default;
};

/// What data for visible units must be.
enum class UnitValues { kBits, kLetters, kReals, kNonnegativeReals };

/// What a unit type has. Spans are as long as there are units. Types that are not real also have `kLevels`, the number
/// of values of a site, and the share of each value of a unit without fields; real ones have `squares`, the mean
/// squares. `draw_given` uses the fastest kernel that there is.
template <class T>
concept LayerPart = std::equality_comparable<T> &&
    requires(const T& part, const LayerFields& fields, std::span<float> means, const DrawTarget& to,
             const DrawGiven& call, State& state, std::span<const double> targets, std::span<double> out) {
  { T::kName } -> std::convertible_to<std::string_view>;
  { T::kHelp } -> std::convertible_to<std::string_view>;  ///< a few words on the values
  { T::kValues } -> std::convertible_to<UnitValues>;      ///< of data
  { T::kReal } -> std::convertible_to<bool>;
  { T::kForces } -> std::convertible_to<bool>;  ///< whether the density has derivatives everywhere
  { part.units } -> std::convertible_to<std::size_t>;
  { part.site_size() } -> std::convertible_to<std::size_t>;
  { part.log_sum(fields) } -> std::convertible_to<double>;
  { part.log_sum_change(fields, 0.0, 1.0) } -> std::convertible_to<double>;
  part.means(fields, means);
  part.draw(fields, to);
  part.draw_given(call);
  part.set_first(state.bits(), std::size_t{}, std::size_t{});
  part.fields_for_means(targets, targets, 0.0, out);
};

/// By how much log_sum grows from fields `from` times these to `to` times these, for types that know nothing better.
template <class Part>
double difference_of_log_sums(const Part& part, const LayerFields& at, double from, double to) {
  std::vector<double> scaled(at.fields.size());
  const auto log_sum = [&](double t) {
    for (std::size_t j = 0; j < scaled.size(); ++j) scaled[j] = t * at.fields[j];
    return part.log_sum({scaled, at.precision});
  };
  return log_sum(to) - log_sum(from);
}

/// Draws row after row by fields in double, for types and inputs without a faster kernel.
template <class Part>
void draw_by_fields(const Part& part, const DrawGiven& call) {
  for_fields(call.given, call.map, call.context, [&](std::size_t r, std::span<const double> fields) {
    part.draw({fields, call.precision}, {call.draw, call.chain(r), call.out, r});
  });
}

/// The deviations of real units in float; none for others.
inline std::vector<float> float_deviations(const Precision& precision) {
  return {precision.deviations.begin(), precision.deviations.end()};
}

/// A type that draws and averages by fields in float, for machines with real units.
template <class T>
concept FloatPart = LayerPart<T> &&
    requires(const T& part, const FloatFields& fields, std::span<float> means, const DrawTarget& to) {
  part.float_means(fields, means);
  part.draw_by_floats(fields, to);
};

/// Draws row after row by fields in float, if there are chains to draw; and finds the means, if they have rows.
template <FloatPart Part>
void draw_by_float_fields(const Part& part, const DrawGiven& call, MatrixView<float> means = {}) {
  const std::vector<float> deviations = float_deviations(call.precision);
  for_float_fields(call.given, call.map, call.context, [&](std::size_t r, std::span<const float> fields) {
    if (call.out.chains() > 0) part.draw_by_floats({fields, deviations}, {call.draw, call.chain(r), call.out, r});
    if (means.rows() > 0) part.float_means({fields, deviations}, means.row(r));
  });
}

}  // namespace ergodic
