#include "ergodic/model/visible_marginal.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

TEST(VisibleMarginal, ForcesAreTheDerivativesOfTheFreeEnergy) {
  for (const Layer& hidden : {Layer(Bernoulli{5}), Layer(Spin{5}), Layer(Potts{6, 3})}) {
    const Rbm rbm = test::random_machine(Gaussian{4}, hidden, 0.6, 3);
    const VisibleMarginal marginal{rbm};
    State x(Matrix<float>(7, 4));
    const Draw draw = Key{1}.at(Purpose::kTest);
    for (std::uint32_t k = 0; k < 28; ++k) x.reals().elements()[k] = static_cast<float>(draw.normal(0, k));
    const Matrix<double> forces = marginal.forces(x, {});
    for (std::size_t i = 0; i < 4; ++i) {
      constexpr float h = 1.0f / 256;
      State up = x, down = x;
      for (std::size_t r = 0; r < 7; ++r) {
        up.reals()(r, i) += h;
        down.reals()(r, i) -= h;
      }
      const std::vector<double> above = marginal.energy(up, {}), below = marginal.energy(down, {});
      for (std::size_t r = 0; r < 7; ++r) {
        const double way = double{up.reals()(r, i)} - down.reals()(r, i);
        // Central differences err by h^2/6 times a third derivative of order 1; hidden means are floats.
        EXPECT_NEAR(forces(r, i), (below[r] - above[r]) / way, 2e-5);
      }
    }
  }
}

TEST(VisibleMarginal, OnlyGaussianUnitsFeelForces) {
  for (const Layer& visible : {Layer(Bernoulli{2}), Layer(Potts{4, 2}), Layer(Relu{2})}) {
    const Rbm rbm(visible, Bernoulli{2});
    EXPECT_THROW(VisibleMarginal{rbm}.forces(make_state(visible, 1), {}), UsageError);
  }
}

}  // namespace
}  // namespace ergodic
