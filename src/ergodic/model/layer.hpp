// Layers. A layer knows its units; a model only couples layers.
//
// A layer has one part, units of one type, or several: pixels beside the letters of a label. Each question is passed to
// the unit types (units.hpp), so a new type is a file of its own and a row in `Units`.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/core/values.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/bernoulli.hpp"
#include "ergodic/model/gaussian.hpp"
#include "ergodic/model/potts.hpp"
#include "ergodic/model/relu.hpp"
#include "ergodic/model/spin.hpp"
#include "ergodic/model/units.hpp"

namespace ergodic {

/// The unit types there are.
using Units = std::variant<Bernoulli, Spin, Potts, Gaussian, Relu>;

/// Calls f(std::type_identity<T>) for each unit type T, in order.
template <class F>
constexpr void for_each_unit_type(const F& f) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (f(std::type_identity<std::variant_alternative_t<k, Units>>()), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Units>>());
}

/// A unit type as an option names and explains it.
struct UnitTypeText {
  std::string_view name, help;
};
/// All of them, in order.
constexpr auto unit_types() {
  std::array<UnitTypeText, std::variant_size_v<Units>> out;
  std::size_t k = 0;
  for_each_unit_type([&]<LayerPart T>(std::type_identity<T>) { out[k++] = {T::kName, T::kHelp}; });
  return out;
}

class Layer {
 public:
  Layer() = default;
  /// Units of one type.
  template <class T>
  requires(!std::same_as<T, Layer> && std::convertible_to<T, Units>) Layer(T units) : only_(std::move(units)) {}

  std::size_t parts() const { return joined_.empty() ? 1 : joined_.size(); }
  const Units& part(std::size_t k) const { return joined_.empty() ? only_ : joined_[k]; }

  bool operator==(const Layer&) const = default;

 private:
  friend Layer joined(std::vector<Units> parts);

  Units only_;
  std::vector<Units> joined_;  // empty for a layer of one part, which then needs no memory of its own
};

/// A layer of several parts, one after the other. UsageError unless all are two-valued units or letters with the same
/// two levels.
///
/// Random numbers: a two-valued unit has the coin of its place in the layer. Site s of letters that begin at unit f
/// has the uniform number (all units + f + s), while the only letters of a layer have (s).
Layer joined(std::vector<Units> parts);

/// The layer of a named type. `letters` is for potts alone. UsageError names the types there are.
Layer make_layer(std::string_view type, std::size_t units, std::size_t letters = 0);

/// The name of the type; those of several parts with a "+" between them.
std::string name_of(const Layer& layer);
std::size_t units_of(const Layer& layer);
/// What is drawn as a whole, in order: units, or sites of letters; and how many there are.
std::vector<Site> sites(const Layer& layer);
std::size_t sites_of(const Layer& layer);
/// Some of the sites alone, named in ascending order; at least one.
Layer layer_of_sites(const Layer& layer, std::span<const std::size_t> sites);
/// How many letters each site has; 0 if the units are no letters. UsageError for a layer of several parts, which has no
/// such number.
std::size_t letters_of(const Layer& layer);

/// Whether each unit alone has one of two values.
bool two_valued(const Layer& layer);
/// Whether values are real numbers, which have a precision.
bool real_valued(const Layer& layer);
/// What data for these units must be; bits, if there are several parts.
UnitValues data_values(const Layer& layer);
/// Whether the energy has derivatives by the values of the units, everywhere.
bool has_forces(const Layer& layer);
/// UsageError, which begins with `what` needs the forces, unless there are some: discrete units have no derivative, and
/// relu units have a boundary at 0.
void require_forces(const Layer& layer, std::string_view what);
/// The values that bits stand for. Not for real values.
Levels levels_of(const Layer& layer);
/// The value of a unit that is low; 0 if units are real.
float low_of(const Layer& layer);
/// The share of high values of each unit without fields. Not for real values.
std::vector<double> even_shares(const Layer& layer);
/// The logarithm to base 2 of the number of states; infinite if units are real.
double log2_states(const Layer& layer);
/// A state of this many chains: all units low, all sites at the first letter, all reals zero.
State make_state(const Layer& layer, std::size_t chains);

/// Rows of values as a state of the layer; DataError for bits where real numbers are needed, or the other way round.
State state_of(const Layer& layer, Values values);

/// In how many sites rows of one state differ from those of another. Not for real values.
std::uint64_t differing_sites(const Layer& layer, const State& x, const State& y);

/// UsageError unless these bits can say which units of so many chains stay as they are: one row for all chains or a row
/// for each, a bit for each unit, and all units of a site the same.
void require_mask(const Layer& layer, const Bits& fixed, std::size_t chains);

/// The log of the sum over all states of e^(state' fields - U).
double log_sum(const Layer& layer, const LayerFields& at);
/// By how much that grows if fields `from` times these become `to` times these.
double log_sum_change(const Layer& layer, const LayerFields& at, double from, double to);
/// The mean value of each unit; and, of real ones, the mean square.
void means(const Layer& layer, const LayerFields& at, std::span<float> out);
void squares(const Layer& layer, const LayerFields& at, std::span<float> out);
/// Draws all units of a chain.
void draw(const Layer& layer, const LayerFields& at, const DrawTarget& to);
/// Draws all units of all chains given the layer that the map comes from, by the fastest kernel there is for both. Row
/// r draws the random numbers of chain first_chain + r.
void draw_given(const Layer& layer, const Precision& precision, const State& given, const Affine& map, const Draw& draw,
                std::uint64_t first_chain, State& out, const Context& context);
/// The same, and the mean value of each unit: for machines with real units, whose fields are in float. If `out` has no
/// chains, nothing is drawn.
void draw_given_with_means(const Layer& layer, const Precision& precision, const State& given, const Affine& map,
                           const Draw& draw, std::uint64_t first_chain, State& out, MatrixView<float> means,
                           const Context& context);
/// U, summed over the units of a chain.
double self_energy(const State& state, std::size_t chain, const Precision& precision);

/// The fields under which lone units have these mean values, given their standard deviations if they are real. No mean
/// is taken to be closer than `margin` to the end of its range.
std::vector<double> fields_for_means(const Layer& layer, std::span<const double> means,
                                     std::span<const double> deviations, double margin);

}  // namespace ergodic
