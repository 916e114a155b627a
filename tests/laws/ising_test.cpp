// Ising's model on a torus, a Boltzmann machine of spins on a periodic grid, against its exact solution on finite
// lattices (Kaufman 1949), against transfer matrices (ising_exact.hpp) and against enumeration.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "boltzmann_machines.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "laws/ising_exact.hpp"

namespace ergodic {
namespace {

Boltzmann ising(std::size_t side, float coupling) {
  Boltzmann out(Spin{side * side}, grid_graph(side, side, Border::kPeriodic));
  out.update([&](Parameters& p) { std::fill(p["couplings"].begin(), p["couplings"].end(), coupling); }, {});
  return out;
}

/// The log of the product of 2 cosh(L g / 2), and the product of all tanh(L g / 2), over every second g.
struct Products {
  double log_cosh = 0.0, tanh = 1.0;

  /// The log of the sum of the products of 2 cosh and of 2 sinh.
  double log_sum() const { return log_cosh + std::log1p(tanh); }
};

/// log Z of L x L spins: half of (2 sinh 2K)^(L^2 / 2) times four products over the g_r, of which
///   cosh g_r = cosh^2(2K) / sinh(2K) - cos(pi r / L).
/// g_0 = 2K + log tanh K, which is negative above the critical temperature, and must be so here.
double kaufman_log_z(int side, double coupling) {
  Products parts[2];
  for (int r = 0; r < 2 * side; ++r) {
    const double c = std::cosh(2 * coupling), s = std::sinh(2 * coupling);
    const double g = r == 0 ? 2 * coupling + std::log(std::tanh(coupling))
                            : std::acosh(c * c / s - std::cos(std::numbers::pi * r / side));
    parts[r % 2].log_cosh += std::log(2 * std::cosh(0.5 * side * g));
    parts[r % 2].tanh *= std::tanh(0.5 * side * g);
  }
  const double even = parts[0].log_sum(), odd = parts[1].log_sum();
  return 0.5 * side * side * std::log(2 * std::sinh(2 * coupling)) + odd + std::log1p(std::exp(even - odd)) -
         std::numbers::ln2;
}

/// The mean of the sum of x_i x_j over all edges: d log Z / dK, by central differences. They err by h^2/6 times a third
/// derivative of some 10^5, and by the rounding of log Z over h: 1e-5 in all.
double kaufman_bonds(int side, double coupling) {
  constexpr double h = 1e-5;
  return (kaufman_log_z(side, coupling + h) - kaufman_log_z(side, coupling - h)) / (2 * h);
}

TEST(Ising, KaufmansFormulaGivesTheKnownValues) {
  EXPECT_NEAR(kaufman_log_z(8, 0.2), 47.01014742, 1e-8);
  EXPECT_NEAR(kaufman_log_z(8, 0.4), 56.59938876, 1e-8);
  EXPECT_NEAR(kaufman_log_z(8, 0.5), 66.34458188, 1e-8);
  EXPECT_NEAR(kaufman_log_z(16, 0.2), 188.03988796, 1e-8);
  EXPECT_NEAR(kaufman_log_z(16, 0.4), 225.22884676, 1e-8);
  EXPECT_NEAR(kaufman_log_z(16, 0.5), 263.29621043, 1e-8);
}

TEST(Ising, EliminationAgreesWithKaufmansFormula) {
  // Couplings are floats: 0.2f is not 0.2, but the formula takes it too.
  for (const float coupling : {0.2f, 0.4f, 0.5f}) {
    for (const int side : {4, 8, 10}) {
      const Boltzmann machine = ising(static_cast<std::size_t>(side), coupling);
      EXPECT_NEAR(*exact_log_z(machine, {}), kaufman_log_z(side, coupling), 1e-10);
    }
  }
  EXPECT_NEAR(kaufman_log_z(4, 0.2), 11.77147036, 1e-8);
  EXPECT_NEAR(kaufman_log_z(4, 0.4), 14.56109302, 1e-8);
  EXPECT_NEAR(kaufman_log_z(10, 0.2), 73.45309780, 1e-8);
  EXPECT_NEAR(kaufman_log_z(10, 0.4), 88.18770062, 1e-8);
}

TEST(Ising, EnumerationAgreesWithKaufmansFormula) {
  for (const float coupling : {0.2f, 0.4f, 0.5f}) {
    const Boltzmann machine = ising(4, coupling);
    const Statistics statistics = exact_statistics(machine, {});
    double bonds = 0.0;
    for (std::size_t e = 0; e < machine.graph().edges(); ++e) bonds += statistics[e];
    EXPECT_NEAR(bonds, kaufman_bonds(4, coupling), 1e-5);
  }
}

/// An average over chains, which are independent, and its standard error.
struct Measured {
  explicit Measured(const std::vector<double>& chains) {
    for (const double value : chains) mean += value / static_cast<double>(chains.size());
    double squares = 0.0;
    for (const double value : chains) squares += (value - mean) * (value - mean);
    standard_error = std::sqrt(squares / static_cast<double>(chains.size() * (chains.size() - 1)));
  }
  double mean = 0.0, standard_error = 0.0;
};

/// Averages along each chain.
struct Averages {
  std::vector<double> bonds;          // the sum of x_i x_j over all edges
  std::vector<double> magnetisation;  // |mean of x|
};

double magnetisation(const State& x, std::size_t chain) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.units(); ++i) sum += x.value(chain, i);
  return std::abs(sum) / static_cast<double>(x.units());
}

constexpr std::size_t kChains = 96;

/// Starts: even chains with all spins up, odd ones all down. Above the critical temperature every third is random;
/// below, a random start may stay in stripes for as long as one likes.
Chains far_starts(const Boltzmann& machine) {
  Chains chains = independent_start(machine, kChains, Key{31}, {});
  const bool ordered = machine.couplings()[0] > 0.4407f;
  for (std::size_t c = 0; c < kChains; ++c) {
    for (std::size_t i = 0; i < machine.graph().units() && (ordered || c % 3 != 0); ++i) {
      chains.layers[0].bits().set(c, i, c % 2 == 0);
    }
  }
  return chains;
}

Averages sampled(const Boltzmann& machine, int warm_up, int sweeps) {
  Chains chains = far_starts(machine);
  for (int s = 0; s < warm_up; ++s) step(Gibbs{}, machine, chains, Key{32}, {});
  Averages out{std::vector<double>(kChains), std::vector<double>(kChains)};
  for (int s = 0; s < sweeps; ++s) {
    step(Gibbs{}, machine, chains, Key{32}, {});
    const std::vector<double> energies = machine.energy(chains.layers[0], {});
    for (std::size_t c = 0; c < kChains; ++c) {
      out.bonds[c] -= energies[c] / machine.couplings()[0] / sweeps;
      out.magnetisation[c] += magnetisation(chains.layers[0], c) / sweeps;
    }
  }
  return out;
}

TEST(Ising, GibbsFindsTheEnergyAndTheMagnetisationOfALargeTorus) {
  // At K = 0.4 the correlation length 1 / (log coth K - 2K) is 6, so that chains forget within some 6^2.2 = 50 sweeps:
  // after 1000 nothing is left of the start. At the other two they do so sooner, but for the sign at K = 0.5, which the
  // energy does not feel.
  // The mean of |m| is exact, by transfer matrices: `ising_exact 16 0.2 0.4 0.5` prints it within some half an hour
  // (`make check-long` runs it). At K = 0.5 it is near 0.91132, that of a torus without end (Yang 1952).
  for (const auto& [coupling, expected] :
       {std::pair{0.2f, 0.084438596}, std::pair{0.4f, 0.389193573}, std::pair{0.5f, 0.911251395}}) {
    SCOPED_TRACE(coupling);
    const Averages averages = sampled(ising(16, coupling), 1000, 1000);
    const Measured bonds(averages.bonds);
    EXPECT_NEAR(bonds.mean, kaufman_bonds(16, coupling), 4 * bonds.standard_error);
    // Precise enough to tell a coupling that is wrong by one in a hundred.
    EXPECT_GT(kaufman_bonds(16, 1.01 * coupling) - kaufman_bonds(16, coupling), 4 * bonds.standard_error);
    const Measured magnetisation(averages.magnetisation);
    EXPECT_NEAR(magnetisation.mean, expected, 4 * magnetisation.standard_error);
    EXPECT_LT(magnetisation.standard_error, 0.01);  // precise enough to tell something
  }
}

TEST(Ising, TransferMatricesAgreeWithKaufmansFormula) {
  for (const unsigned side : {4u, 6u, 8u}) {
    for (const double coupling : {0.2, 0.4, 0.5}) {
      const auto exact = test::IsingTorus(side, coupling).distribution();
      EXPECT_NEAR(exact.log_z, kaufman_log_z(static_cast<int>(side), coupling), 1e-10);
      double sum = 0.0;
      for (std::size_t k = 0; k < exact.p.size(); ++k) {
        sum += exact.p[k];
        EXPECT_NEAR(exact.p[k], exact.p[exact.p.size() - 1 - k], 1e-12);
        EXPECT_GT(exact.p[k], -1e-11);  // fields at which nothing is left are left out
      }
      EXPECT_NEAR(sum, 1.0, 1e-12);
    }
  }
}

TEST(Ising, GibbsFindsTheMagnetisationOfALargerTorus) {
  for (const float coupling : {0.2f, 0.4f, 0.5f}) {
    SCOPED_TRACE(coupling);
    const double expected = test::IsingTorus(10, double{coupling}).distribution().magnetisation();
    const Measured found(sampled(ising(10, coupling), 1000, 1000).magnetisation);
    EXPECT_NEAR(found.mean, expected, 4 * found.standard_error);
    EXPECT_LT(found.standard_error, 0.01);  // precise enough to tell something
  }
}

TEST(Ising, GibbsFindsTheMagnetisationOfASmallTorus) {
  const State all = test::all_states(Spin{16});
  for (const float coupling : {0.2f, 0.4f, 0.5f}) {
    SCOPED_TRACE(coupling);
    const Boltzmann machine = ising(4, coupling);
    const double log_z = *exact_log_z(machine, {});
    const std::vector<double> energies = machine.energy(all, {});
    double expected = 0.0;
    for (std::size_t s = 0; s < all.chains(); ++s) expected += magnetisation(all, s) * std::exp(-energies[s] - log_z);
    EXPECT_NEAR(test::IsingTorus(4, double{coupling}).distribution().magnetisation(), expected, 1e-10);
    const Averages averages = sampled(machine, 500, 2000);
    const Measured found(averages.magnetisation), bonds(averages.bonds);
    EXPECT_NEAR(found.mean, expected, 4 * found.standard_error);
    EXPECT_NEAR(bonds.mean, kaufman_bonds(4, coupling), 4 * bonds.standard_error);
  }
}

}  // namespace
}  // namespace ergodic
