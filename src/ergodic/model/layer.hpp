// Layers: the unit types. A layer knows its units; a model only couples layers.
//
// Each type answers for one unit with field I, whose value x has weight exp(x I): the values it takes, the log of the
// sum of those weights, and its mean.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// Units in {0, 1}.
struct Bernoulli {
  static constexpr std::string_view kName = "bernoulli";
  static constexpr Levels kLevels{0.0f, 1.0f};
  std::size_t units = 0;

  static double log_sum(std::span<const double> fields);  ///< the sum of log(1 + e^I)
};

/// Units in {-1, +1}.
struct Spin {
  static constexpr std::string_view kName = "spin";
  static constexpr Levels kLevels{-1.0f, 1.0f};
  std::size_t units = 0;

  static double log_sum(std::span<const double> fields);  ///< the sum of log(2 cosh I)
};

using Layer = std::variant<Bernoulli, Spin>;

/// The layer of a named type ("bernoulli", "spin"). UsageError names the types there are.
Layer make_layer(std::string_view type, std::size_t units);

std::string_view name_of(const Layer& layer);
std::size_t units_of(const Layer& layer);
Levels levels_of(const Layer& layer);

/// The log of the sum over all states of e^(state' fields).
double log_sum(const Layer& layer, std::span<const double> fields);

/// The field under which a lone unit has this mean value, the mean kept `margin` of the gap away from both levels.
double field_for_mean(const Layer& layer, double mean, double margin);

}  // namespace ergodic
