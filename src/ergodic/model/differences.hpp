// Derivatives of an energy of which only the values are known, by central differences:
//   dE/dt = (E(t + h) - E(t - h)) / 2h,   error h^2 E''' / 6.
// Two energies of all rows for each parameter: for machines of few parameters, to begin with an energy of one's own, or
// to check derivatives that were worked out by hand.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/concepts.hpp"

namespace ergodic {

inline constexpr std::size_t kMaxDifferencedParameters = 1000;
/// UsageError above the limit.
void require_differenceable(std::size_t parameters);
/// UsageError unless units are real.
void require_real(const Layer& units);

/// Two floats about a value, one step of 2^-10 of its size (at least of 1) to either side.
struct CentralPair {
  explicit CentralPair(float value);
  float below, above;
  double gap() const { return double{above} - double{below}; }  ///< exact
};

/// A machine with the derivatives that `Model` lacks.
template <ParametricModel Model>
class Differenced {
 public:
  /// UsageError if it has more than kMaxDifferencedParameters.
  explicit Differenced(Model model) : model_(std::move(model)) {
    require_differenceable(model_.parameters().values().size());
  }

  const Model& model() const { return model_; }
  decltype(auto) layers() const { return model_.layers(); }
  const Parameters& parameters() const { return model_.parameters(); }
  template <class Edit>
  void update(const Edit& edit, const Context& context) {
    model_.update(edit, context);
  }
  std::vector<double> energy(LayerStates x, const Context& context) const { return model_.energy(x, context); }

  /// -dE/dx of real units, a row for each of x.
  Matrix<double> forces(const State& x, const Context& context) const {
    require_real(first_layer(model_));
    Matrix<double> out(x.chains(), x.units());
    State below = x, above = x;
    for (std::size_t i = 0; i < x.units(); ++i) {
      for (std::size_t r = 0; r < x.chains(); ++r) {
        const CentralPair near(x.reals()(r, i));
        below.reals()(r, i) = near.below;
        above.reals()(r, i) = near.above;
      }
      const std::vector<double> low = model_.energy(below, context), high = model_.energy(above, context);
      for (std::size_t r = 0; r < x.chains(); ++r) {
        out(r, i) = (low[r] - high[r]) / CentralPair(x.reals()(r, i)).gap();
        below.reals()(r, i) = above.reals()(r, i) = x.reals()(r, i);
      }
    }
    return out;
  }

  /// Adds row_weight * -dE/dtheta over the rows. One row weight, or one for each row.
  void add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                      const Context& context) const {
    assert(out.size() == parameters().values().size());
    assert(row_weights.size() == 1 || row_weights.size() == x.chains());
    Model other = model_;
    const auto energy_with = [&](std::size_t k, float value) {
      other.update([&](Parameters& parameters) { parameters.values()[k] = value; }, context);
      return other.energy(x, context);
    };
    for (std::size_t k = 0; k < out.size(); ++k) {
      const float value = parameters().values()[k];
      const CentralPair near(value);
      const std::vector<double> low = energy_with(k, near.below), high = energy_with(k, near.above);
      double sum = 0.0;
      for (std::size_t r = 0; r < x.chains(); ++r) {
        sum += (row_weights.size() == 1 ? row_weights[0] : row_weights[r]) * (low[r] - high[r]);
      }
      out[k] += sum / near.gap();
      other.update([&](Parameters& parameters) { parameters.values()[k] = value; }, context);
    }
  }

 private:
  Model model_;
};

}  // namespace ergodic
