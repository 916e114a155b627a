#include "ergodic/sampler/jumping.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/sampler/langevin.hpp"

namespace ergodic {
namespace {

/// A bowl about 1 of deviation 2, and wells of deviation 0.1 about -1 and 3 whose weights are as 1 to 3: a barrier of
/// 200 that no step of a Langevin sampler climbs.
struct TwoWells {
  Bowl own{{1.0f}, {2.0f}};
  std::vector<Layer> units{Gaussian{1}};

  std::span<const Layer> layers() const { return units; }
  const Bowl& bowl() const { return own; }
  std::vector<double> bowl_energy(const State& x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = 0.125 * std::pow(x.value(r, 0) - 1.0, 2);
    return out;
  }
  static double well(double x, double at) { return -50.0 * (x - at) * (x - at); }
  std::vector<double> energy(LayerStates x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) {
      const double v = x[0].value(r, 0);
      out[r] = -log_add(well(v, -1.0), portable_log(3.0) + well(v, 3.0));
    }
    return out;
  }
  Matrix<double> forces(const State& x, const Context&) const {
    Matrix<double> out(x.chains(), 1);
    for (std::size_t r = 0; r < x.chains(); ++r) {
      const double v = x.value(r, 0), left = sigmoid(well(v, -1.0) - portable_log(3.0) - well(v, 3.0));
      out(r, 0) = -100.0 * (left * (v + 1.0) + (1.0 - left) * (v - 3.0));
    }
    return out;
  }
};

TEST(Jumping, FindsTheWeightsOfWellsFarApart) {
  const TwoWells model;
  constexpr std::size_t kCount = 4000;
  Chains chains;
  chains.layers.push_back(State(Matrix<float>(kCount, 1)));
  for (float& value : chains.layers[0].reals().elements()) value = -1.0f;  // all in the lesser well
  const Jumping<Langevin> kernel{{0.1}};
  // A jump is accepted about once in 10 (the wells are so much narrower than the bowl): 150 sweeps forget.
  for (int s = 0; s < 150; ++s) step(kernel, model, chains, Key{1}, {});
  double right = 0.0, squares = 0.0;
  for (std::size_t r = 0; r < kCount; ++r) {
    const double value = chains.layers[0].value(r, 0);
    right += value > 1.0 ? 1.0 : 0.0;
    squares += std::pow(value - (value > 1.0 ? 3.0 : -1.0), 2);
  }
  EXPECT_NEAR(right / kCount, 0.75, 4.0 * std::sqrt(0.75 * 0.25 / kCount));
  EXPECT_NEAR(squares / kCount, 0.01, 4.0 * 0.01 * std::sqrt(2.0 / kCount));  // each well is normal
  EXPECT_EQ(chains.sweep, 150u);
}

TEST(Jumping, DrawsOfTheBowlHaveItsMeanAndDeviation) {
  const Bowl bowl{{1.0f, -5.0f}, {0.5f, 3.0f}};
  constexpr std::size_t kCount = 10000;
  const State x = draw_of(bowl, kCount, Key{3}.at(Purpose::kJump), 0);
  for (std::size_t i = 0; i < 2; ++i) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t r = 0; r < kCount; ++r) {
      const double z = (x.value(r, i) - bowl.mean[i]) / bowl.deviation[i];
      sum += z / kCount;
      squares += z * z / kCount;
    }
    EXPECT_NEAR(sum, 0.0, 4.0 / std::sqrt(double{kCount}));
    EXPECT_NEAR(squares, 1.0, 4.0 * std::sqrt(2.0 / kCount));
  }
  // A chain's draw is its own, whatever row it is in.
  const State later = draw_of(bowl, 10, Key{3}.at(Purpose::kJump), 100);
  EXPECT_EQ(later.value(7, 1), x.value(107, 1));
}

}  // namespace
}  // namespace ergodic
