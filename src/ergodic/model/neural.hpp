// An energy that a perceptron learns, of real units x, with m and s the mean and deviation of the data:
//   E(x; theta) = |z|^2 / 2 + g(z; theta),   z = (x - m) / s,   p(x) = exp(-E)/Z.
// The first term is a bowl that stays: g grows at most in proportion to |z|, so Z always exists, and with g = 0 the
// machine is the normal distribution of the data's mean and deviations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/model/perceptron.hpp"

namespace ergodic {

/// Where the data lies: mean and standard deviation of each unit.
struct Bowl {
  std::vector<float> mean;
  std::vector<float> deviation;
};
/// Those of rows, with one weight for each or none. A unit that never varies gets the deviation 1. DataError for what
/// is not finite.
Bowl bowl_of(const Matrix<float>& rows, std::span<const double> row_weights = {});

/// The index of a chain's first random number in draws of a bowl. Those below are left to a sampler that proposes such
/// draws.
inline constexpr std::uint32_t kFirstBowlNumber = 2;
/// Draws of the normal distribution that a bowl is, a row for each of `count` chains from first_chain on.
State draw_of(const Bowl& bowl, std::size_t count, const Draw& draw, std::uint64_t first_chain);

class Neural {
 public:
  /// A machine with all parameters zero: the bowl alone. UsageError for layers of no units and deviations that are not
  /// positive.
  Neural(Bowl bowl, std::vector<std::size_t> hidden);

  std::span<const Layer> layers() const { return {&units_, 1}; }
  const Layer& units() const { return units_; }
  const Bowl& bowl() const { return bowl_; }
  const std::vector<std::size_t>& hidden() const { return perceptron_.hidden(); }
  const Parameters& parameters() const { return parameters_; }

  /// Changes the parameters through edit(Parameters&), then renews what is derived from them.
  template <class Edit>
  void update(const Edit& edit, const Context&) {
    edit(parameters_);
    perceptron_.assign(parameters_);
  }

  /// E(x) for each row.
  std::vector<double> energy(LayerStates x, const Context& context) const;
  /// |z|^2 / 2 for each row: the energy of the bowl alone.
  std::vector<double> bowl_energy(const State& x, const Context& context) const;
  /// Draws of the bowl, the machine without its perceptron.
  State draw_uncoupled(std::size_t count, const Draw& draw, std::uint64_t first_chain) const;
  /// -dE/dx, a row for each of x; that of g in float.
  Matrix<double> forces(const State& x, const Context& context) const;
  /// Adds row_weight * -dE/dtheta over the rows, in float. One row weight, or one for each row.
  void add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                      const Context& context) const;

 private:
  /// z of one unit in one row of x.
  double standardised(const State& x, std::size_t row, std::size_t unit) const {
    return (double{x.reals()(row, unit)} - bowl_.mean[unit]) / bowl_.deviation[unit];
  }
  /// Calls f(pass, weights, begin) with what derivatives of g are made of, for blocks of rows of x from `begin` on. A
  /// weight for all rows, or one for each.
  template <class F>
  void for_derivatives(const State& x, std::span<const double> row_weights, const Context& context, const F& f) const;

  Bowl bowl_;
  Layer units_;
  Perceptron perceptron_;
  Parameters parameters_;
};

/// Random weights in all layers but the last: features of the plane of all directions and places to begin with, and
/// the bowl's energy.
void initialise(Neural& model, Key key, const Context& context);

}  // namespace ergodic
