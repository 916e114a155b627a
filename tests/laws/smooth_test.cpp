// Langevin and Hamiltonian sampling where their acceptance, their bias and their ways are known. sampler_test.cpp has
// the laws of all samplers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "ergodic/core/error.hpp"
#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/sampler/hmc.hpp"
#include "ergodic/sampler/langevin.hpp"
#include "laws/targets.hpp"

namespace ergodic {
namespace {

using test::StandardNormal;

constexpr std::size_t kChains = 40000;

Chains exact_chains(const StandardNormal& model, std::size_t chains) {
  return {{model.exact(chains, Key{1}.at(Purpose::kTest))}};
}

TEST(Langevin, UnadjustedItHasTheVarianceThatIsKnown) {
  // x' = (1 - s^2/2) x + s z on a unit of variance 1: the variance settles at 1 / (1 - s^2/4).
  const StandardNormal model{1};
  for (const double s : {0.2, 0.7, 1.4}) {
    Chains chains = exact_chains(model, kChains);
    // What is left of the start, (1 - s^2/2)^(2 k), is below 1e-5 after so many steps.
    const int steps = s < 0.5 ? 300 : 60;
    for (int k = 0; k < steps; ++k) step(Langevin{s, false}, model, chains, Key{2}, {});
    double squares = 0.0;
    for (const float value : chains.layers[0].reals().elements()) squares += double{value} * value / kChains;
    const double variance = 1.0 / (1.0 - 0.25 * s * s);
    EXPECT_NEAR(squares, variance, 4.0 * variance * std::sqrt(2.0 / kChains)) << s;
  }
}

/// The probability that MALA accepts on a standard normal unit, by a sum over x and z on a grid: there log a is
/// s^2/8 (x^2 - x'^2). The grid of step 0.02 errs by less than 1e-4, where the kink is.
double mala_acceptance(double s) {
  double sum = 0.0, total = 0.0;
  for (double x = -6.0; x <= 6.0; x += 0.02) {
    for (double z = -6.0; z <= 6.0; z += 0.02) {
      const double there = (1.0 - 0.5 * s * s) * x + s * z, weight = std::exp(-0.5 * (x * x + z * z));
      total += weight;
      sum += weight * std::min(1.0, std::exp(s * s / 8.0 * (x * x - there * there)));
    }
  }
  return sum / total;
}

TEST(Langevin, AdjustedItAcceptsAsQuadratureSays) {
  const StandardNormal model{1};
  for (const double s : {0.5, 1.2, 2.0, 3.0}) {
    Chains chains = exact_chains(model, kChains);
    const double p = mala_acceptance(s);
    EXPECT_NEAR(step(Langevin{s}, model, chains, Key{3}, {}).accepted, p, 4.0 * std::sqrt(p * (1.0 - p) / kChains))
        << s;
  }
}

TEST(Hmc, RejectsInProportionToTheSquareOfTheStep) {
  // 1 - accepted = c s^2 + O(s^4) at a fixed length of the way; here s = 0.8, 0.4, 0.2, the way 1.6.
  const StandardNormal model{4};
  std::vector<double> rejected;
  for (const std::size_t steps : {2u, 4u, 8u}) {
    Chains chains = exact_chains(model, kChains);
    rejected.push_back(1.0 - step(Hmc{1.6 / static_cast<double>(steps), steps}, model, chains, Key{4}, {}).accepted);
  }
  for (const std::size_t k : {0u, 1u}) {
    // The relative errors of both counts; and s^2 for the next order.
    const double error = std::sqrt((1.0 / rejected[k] + 1.0 / rejected[k + 1]) / kChains) + (k == 0 ? 0.16 : 0.04);
    EXPECT_NEAR(std::log(rejected[k] / rejected[k + 1]), std::log(4.0), 4.0 * error) << k;
  }
}

/// The same places with momenta the other way. What they are is seen from copies that drift from the origin: one goes
/// to s p, another that is kicked by forces of 1 before to s p + s^2.
LeapfrogPath turned_round(LeapfrogPath path) {
  const auto drifted_from_zero = [&](double force) {
    LeapfrogPath copy = path;
    std::ranges::fill(copy.x().reals().elements(), 0.0f);
    Matrix<double> forces(path.x().chains(), path.x().units());
    std::ranges::fill(forces.elements(), force);
    copy.kick(1.0, forces);
    copy.drift({});
    return copy.x().reals();
  };
  const Matrix<float> plain = drifted_from_zero(0.0), kicked = drifted_from_zero(1.0);
  Matrix<double> forces(plain.rows(), plain.cols());
  for (std::size_t k = 0; k < forces.elements().size(); ++k) {
    const double way = plain.elements()[k];
    forces.elements()[k] = -2.0 * way / (kicked.elements()[k] - way);
  }
  path.kick(1.0, forces);  // p - s 2 s p / s^2 = -p
  return path;
}

TEST(Hmc, AWayCanBeWalkedBack) {
  const Rbm rbm = test::random_machine(Gaussian{5}, Bernoulli{4}, 0.6, 3);
  const VisibleMarginal model{rbm};
  const State start = StandardNormal{5}.exact(50, Key{1}.at(Purpose::kTest));
  LeapfrogPath trajectory({0.1, 20}, first_layer(model), start, Key{5}.at(Purpose::kTest), 0);
  const std::vector<double> kinetic = trajectory.kinetic_energies();
  move(trajectory, 20, model, {});
  EXPECT_FALSE(trajectory.x() == start);
  trajectory = turned_round(std::move(trajectory));
  move(trajectory, 20, model, {});
  const std::vector<double> back = trajectory.kinetic_energies();
  for (std::size_t r = 0; r < start.chains(); ++r) {
    // Positions are rounded to floats forty times; each rounding grows along the way by some ten times at most.
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(trajectory.x().reals()(r, i), start.reals()(r, i), 1e-4);
    EXPECT_NEAR(back[r], kinetic[r], 1e-3);
  }
}

template <class Kernel>
void expect_warm_up_finds(double wanted, double Kernel::*size) {
  const StandardNormal model{20};
  for (const double start : {0.001, 20.0}) {
    Chains chains = exact_chains(model, 500);
    Kernel kernel;
    kernel.*size = start;
    for (std::uint64_t k = 0; k < 400; ++k) kernel = adapted(kernel, step(kernel, model, chains, Key{6}, {}), k);
    double accepted = 0.0;
    for (int s = 0; s < 100; ++s) accepted += step(kernel, model, chains, Key{7}, {}).accepted / 100;
    EXPECT_NEAR(accepted, wanted, 0.04) << start;  // the steps of adaptation are still 5 % at the end
  }
}

TEST(Langevin, WarmUpFindsAStepThatIsAcceptedAsOftenAsItShould) { expect_warm_up_finds(0.57, &Langevin::step); }
TEST(Hmc, WarmUpFindsAStepThatIsAcceptedAsOftenAsItShould) { expect_warm_up_finds(0.8, &Hmc::step); }

TEST(Langevin, UnadjustedItKeepsItsStep) { EXPECT_EQ(adapted(Langevin{0.3, false}, {1.0}, 0).step, 0.3); }

/// A normal unit whose energy, or force, is something else above 1.
struct Odd {
  double energy_above, force_above;
  std::vector<Layer> layers() const { return {Gaussian{1}}; }
  std::vector<double> energy(LayerStates x, const Context& context) const {
    std::vector<double> out = StandardNormal{1}.energy(x, context);
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = x[0].reals()(r, 0) > 1.0f ? energy_above : out[r];
    return out;
  }
  Matrix<double> forces(const State& x, const Context& context) const {
    Matrix<double> out = StandardNormal{1}.forces(x, context);
    for (std::size_t r = 0; r < out.rows(); ++r) out(r, 0) = x.reals()(r, 0) > 1.0f ? force_above : out(r, 0);
    return out;
  }
};

template <class Kernel>
void expect_sound_with_odd_numbers(const Kernel& kernel) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Chains chains{{State(Matrix<float>(100, 1))}};
  for (const double force : {0.0, infinity, -infinity}) {
    for (int s = 0; s < 20; ++s) step(kernel, Odd{infinity, force}, chains, Key{8}, {});
    for (const float value : chains.layers[0].reals().elements()) EXPECT_LE(value, 1.0f);
  }
  EXPECT_THROW(step(kernel, Odd{nan, 0.0}, chains, Key{9}, {}), NumericError);
  EXPECT_THROW(step(kernel, Odd{0.5, nan}, chains, Key{9}, {}), NumericError);
}

TEST(Langevin, RefusesInfiniteEnergiesAndStopsAtWhatIsNoNumber) { expect_sound_with_odd_numbers(Langevin{1.5}); }
TEST(Hmc, RefusesInfiniteEnergiesAndStopsAtWhatIsNoNumber) { expect_sound_with_odd_numbers(Hmc{0.5, 4}); }

TEST(Langevin, UnadjustedItSaysThatAStepIsTooLarge) {
  Chains chains{{State(Matrix<float>(3, 1))}};
  EXPECT_THROW(for (int s = 0; s < 100; ++s) step(Langevin{1e3, false}, StandardNormal{1}, chains, Key{1}, {}),
               NumericError);
}

TEST(Hmc, AStepThatIsFarTooLargeIsRefusedNotAnError) {
  Chains chains{{State(Matrix<float>(3, 1))}};
  EXPECT_EQ(step(Hmc{1e3, 100}, StandardNormal{1}, chains, Key{1}, {}).accepted, 0.0);
}

TEST(Smooth, UnitsWithoutForcesAreRefused) {
  for (const Layer& visible : {Layer(Bernoulli{2}), Layer(Relu{2})}) {
    const Rbm rbm = test::random_machine(visible, Bernoulli{2}, 0.5, 1);
    Chains chains{{make_state(visible, 1)}};
    EXPECT_THROW(step(Langevin{}, VisibleMarginal{rbm}, chains, Key{1}, {}), UsageError);
    EXPECT_THROW(step(Hmc{}, VisibleMarginal{rbm}, chains, Key{1}, {}), UsageError);
  }
}

TEST(Smooth, MasksAndStepsThatDoNotFitAreRefused) {
  const StandardNormal model{2};
  Chains chains{{State(Matrix<float>(1, 2))}};
  Bits all(1, 2);
  all.set(0, 0, true);
  all.set(0, 1, true);
  EXPECT_THROW(step(Langevin{0.1, true, all}, model, chains, Key{1}, {}), UsageError);
  EXPECT_THROW(step(Hmc{0.1, 1, Bits(1, 3)}, model, chains, Key{1}, {}), UsageError);
  EXPECT_THROW(step(Langevin{0.0}, model, chains, Key{1}, {}), UsageError);
  EXPECT_THROW(step(Hmc{0.1, 0}, model, chains, Key{1}, {}), UsageError);
}

}  // namespace
}  // namespace ergodic
