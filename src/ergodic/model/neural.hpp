// An energy that a perceptron learns, of real units x, with m and s the mean and deviation of the data:
//   E(x; theta) = |z|^2 / 2 + g(z; theta),   z = (x - m) / s,   p(x) = exp(-E)/Z.
// The first term is a bowl that stays: g grows at most in proportion to |z|, so Z always exists, and with g = 0 the
// machine is the normal distribution of the data's mean and deviations.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
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

class Neural {
 public:
  /// A machine with all parameters zero: the bowl alone. UsageError for layers of no units and deviations that are not
  /// positive.
  Neural(Bowl bowl, std::vector<std::size_t> hidden);

  Layer units() const { return Gaussian{bowl_.mean.size()}; }
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
  std::vector<double> energy(const State& x, const Context& context) const;
  /// |z|^2 / 2 for each row: the energy of the bowl alone.
  std::vector<double> bowl_energy(const State& x, const Context& context) const;
  /// -dE/dx, a row for each of x.
  Matrix<double> forces(const State& x, const Context& context) const;
  /// Adds row_weight * -dE/dtheta over the rows. One row weight, or one for each row.
  void add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                      const Context& context) const;

 private:
  /// A pass with the standardised rows [begin, end) of x.
  Perceptron::Pass standardised(const State& x, std::size_t begin, std::size_t end) const;

  Bowl bowl_;
  Perceptron perceptron_;
  Parameters parameters_;
};

/// Random weights in all layers but the last: features of the plane of all directions and places to begin with, and
/// the bowl's energy.
void initialise(Neural& model, Key key, const Context& context);

}  // namespace ergodic
