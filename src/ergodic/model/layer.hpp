// Layers: the unit types. A layer knows its units; a model only couples layers.
//
// A unit with field I has the value x with weight exp(x I - U(x)): U = 0 for two-valued units and letters, and
// U(x) = gamma x^2 / 2 for real ones, whose precision gamma is a parameter. Each type answers for a row of fields: the
// log of the sum (or integral) of the weights, the mean values, and a draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/core/values.hpp"
#include "ergodic/kernels/kernels.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// The precisions of real units: log gamma, and 1 / sqrt(gamma). Empty for others.
struct Precision {
  std::span<const float> logs = {};
  std::span<const double> deviations = {};
};

/// The fields of the units of a layer in one chain.
struct Row {
  std::span<const double> fields;
  Precision precision = {};
};

/// What a draw for one chain is made of, and where it goes.
struct RowDraw {
  const Draw& draw;
  std::uint32_t chain;
  State& out;
  std::size_t row;
};

/// Units in {0, 1}.
struct Bernoulli {
  static constexpr std::string_view kName = "bernoulli";
  static constexpr Levels kLevels{0.0f, 1.0f};
  std::size_t units = 0;

  double log_sum(const Row& row) const;  ///< the sum of log(1 + e^I)
  void means(const Row& row, std::span<float> out) const;
  void draw(const Row& row, const RowDraw& to) const;
};

/// Units in {-1, +1}.
struct Spin {
  static constexpr std::string_view kName = "spin";
  static constexpr Levels kLevels{-1.0f, 1.0f};
  std::size_t units = 0;

  double log_sum(const Row& row) const;  ///< the sum of log(2 cosh I)
  void means(const Row& row, std::span<float> out) const;
  void draw(const Row& row, const RowDraw& to) const;
};

/// Sites with one of several letters each. A site is as many units in {0, 1} as there are letters, of which one is on.
struct Potts {
  static constexpr std::string_view kName = "potts";
  static constexpr Levels kLevels{0.0f, 1.0f};
  std::size_t units = 0;  ///< sites * letters
  std::size_t letters = 0;

  std::size_t sites() const { return units / letters; }
  double log_sum(const Row& row) const;  ///< the sum over sites of the log of the sum over letters of e^I
  void means(const Row& row, std::span<float> out) const;
  void draw(const Row& row, const RowDraw& to) const;
};

/// Real units: normal with mean I / gamma and variance 1 / gamma.
struct Gaussian {
  static constexpr std::string_view kName = "gaussian";
  std::size_t units = 0;

  double log_sum(const Row& row) const;  ///< the sum of log(2 pi / gamma) / 2 + I^2 / (2 gamma)
  void means(const Row& row, std::span<float> out) const;
  void squares(const Row& row, std::span<float> out) const;  ///< the mean squares
  void draw(const Row& row, const RowDraw& to) const;
};

/// Real units that are not negative: the same normal, cut off below zero (Nair and Hinton 2010; Tubiana and Monasson
/// 2017).
struct Relu {
  static constexpr std::string_view kName = "relu";
  std::size_t units = 0;

  double log_sum(const Row& row) const;
  void means(const Row& row, std::span<float> out) const;
  void squares(const Row& row, std::span<float> out) const;
  void draw(const Row& row, const RowDraw& to) const;
};

using Layer = std::variant<Bernoulli, Spin, Potts, Gaussian, Relu>;

/// All types by name, for messages.
inline constexpr std::string_view kLayerNames = "bernoulli, spin, potts, gaussian, relu";

/// The layer of a named type. `letters` is for potts alone. UsageError names the types there are.
Layer make_layer(std::string_view type, std::size_t units, std::size_t letters = 0);

std::string_view name_of(const Layer& layer);
std::size_t units_of(const Layer& layer);
/// How many letters a site has; 0 if the units are no letters.
std::size_t letters_of(const Layer& layer);
/// What is drawn as a whole: units, or sites.
std::size_t sites_of(const Layer& layer);

/// Whether each unit alone has one of two values.
bool two_valued(const Layer& layer);
/// Whether values are real numbers, which have a precision.
bool real_valued(const Layer& layer);
/// UsageError unless the units are gaussian: others have no derivatives by their values, or an end at 0.
void require_gaussian(const Layer& layer);
bool has_forces(const Layer& layer);
void require_forces(const Layer& layer, std::string_view what);
/// The values that bits stand for. Not for real values.
Levels levels_of(const Layer& layer);
/// A state of this many chains: all units low, all sites at the first letter, all reals zero.
State make_state(const Layer& layer, std::size_t chains);

/// Rows of values as a state of the layer; DataError for bits where real numbers are needed, or the other way round.
State state_of(const Layer& layer, Values values);

/// UsageError unless these bits can say which units of so many chains stay as they are: one row for all chains or a row
/// for each, a bit for each unit, and all units of a site the same.
void require_mask(const Layer& layer, const Bits& fixed, std::size_t chains);

/// The log of the sum over all states of e^(state' fields - U).
double log_sum(const Layer& layer, const Row& row);
/// By how much that grows if fields `from` times these become `to` times these.
double log_sum_change(const Layer& layer, const Row& row, double from, double to);
/// The mean value of each unit; and, of real ones, the mean square.
void means(const Layer& layer, const Row& row, std::span<float> out);
void squares(const Layer& layer, const Row& row, std::span<float> out);
/// Draws all units of a chain.
void draw(const Layer& layer, const Row& row, const RowDraw& to);
/// Draws all units of all chains given the layer that the map comes from, by the fastest kernel there is for both. Row
/// r draws the random numbers of chain first_chain + r.
void draw_given(const Layer& layer, const Precision& precision, const State& given, const Affine& map, const Draw& draw,
                std::uint64_t first_chain, State& out, const Context& context);
/// U, summed over the units of a chain.
double self_energy(const State& state, std::size_t chain, const Precision& precision);

/// The fields under which lone units have these mean values, given their standard deviations if they are real. No mean
/// is taken to be closer than `margin` to the end of its range.
std::vector<double> fields_for_means(const Layer& layer, std::span<const double> means,
                                     std::span<const double> deviations, double margin);

}  // namespace ergodic
