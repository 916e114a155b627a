// Annealing both ways against exact values, for every machine that has a path: its value within its error, its bracket
// around the truth.
#include "ergodic/estimator/annealing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "deep_machines.hpp"
#include "ergodic/estimator/clamped_rows.hpp"
#include "ergodic/estimator/deep_path.hpp"
#include "ergodic/estimator/energy_log_z.hpp"
#include "ergodic/estimator/energy_path.hpp"
#include "ergodic/estimator/likelihood.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/neural.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "exact_rows.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRows = 128;

AnnealedLogZ annealed_along(Path& path, const State& rows, std::size_t chains, const std::vector<std::size_t>& rounds,
                            Key key) {
  Annealer annealer(path, rows, chains, key, {});
  std::optional<AnnealedLogZ> found;
  for (const std::size_t temperatures : rounds) found = annealer.round(temperatures, {});
  return *found;
}

bool holds(const Estimate& bracket, double truth) { return bracket.lower <= truth && truth <= bracket.upper; }

/// A machine whose log Z is known, and a way to anneal it. The data are its own exact draws.
struct Case {
  std::string name;
  std::function<AnnealedLogZ(std::size_t chains, const std::vector<std::size_t>& rounds, Key key)> anneal;
  double log_z;
};

template <class Machine>
Case case_of(std::string name, const Machine& made, std::uint64_t seed) {
  const auto machine = std::make_shared<Machine>(made);
  const State rows = test::exact_rows(*machine, kRows, Key{seed});
  const auto anneal = [machine, rows](std::size_t chains, const std::vector<std::size_t>& rounds, Key key) {
    return annealed_along(*path_to(*machine, rows, {}), rows, chains, rounds, key);
  };
  return {std::move(name), anneal, *exact_log_z(*machine, {})};
}

/// Machines of all pairings of layers that an RBM may have, with or without a real one, and with parameters of order 1:
/// strongly coupled, with several modes.
std::vector<Case> restricted_cases(bool real, std::uint64_t seeds) {
  std::vector<Layer> layers = test::layers_of_one_part(5);
  layers.push_back(joined({Bernoulli{4}, Potts{4, 4}}));
  std::vector<Case> out;
  for (const Layer& visible : layers) {
    for (const Layer& hidden : layers) {
      if (real_valued(visible) && real_valued(hidden)) continue;
      if ((real_valued(visible) || real_valued(hidden)) != real) continue;
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const std::string name = name_of(visible) + ", " + name_of(hidden);
        out.push_back(case_of(name, test::random_machine(visible, hidden, 1.0, seed), seed));
      }
    }
  }
  return out;
}

Boltzmann some_boltzmann(const Layer& units, const Graph& graph, std::size_t visible, double scale,
                         std::uint64_t seed) {
  const Boltzmann random = test::random_boltzmann(units, graph, scale, seed);
  Boltzmann out(units, graph, visible);
  out.update([&](Parameters& p) { p = random.parameters(); }, {});
  return out;
}

std::vector<Case> graph_cases(std::uint64_t seeds) {
  std::vector<Case> out;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<Boltzmann> machines{
        some_boltzmann(Bernoulli{10}, dense_graph(10), 10, 1.0, seed),
        some_boltzmann(Spin{9}, grid_graph(3, 3, Border::kPeriodic), 9, 0.7, seed),
        some_boltzmann(Spin{8}, dense_graph(8), 5, 0.5, seed),
        some_boltzmann(Potts{15, 3}, site_graph(dense_graph(5), 3), 9, 0.8, seed),
    };
    for (const Boltzmann& machine : machines) {
      out.push_back(case_of("graph of " + std::string(name_of(machine.units())), machine, seed));
    }
  }
  return out;
}

/// Of normal errors 1 in 16,000 is beyond 4, and of brackets at most 3 in 1,000 miss. Of two hundred machines one may
/// be beyond, and two brackets may miss.
TEST(AnnealingLaw, HoldsForMachinesOfAllKinds) {
  std::vector<Case> cases = restricted_cases(false, 6);
  for (const auto& more : {restricted_cases(true, 4), graph_cases(13)}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  ASSERT_GE(cases.size(), 200u);
  std::size_t far = 0, outside = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const AnnealedLogZ found = cases[k].anneal(64, {16, 128}, Key{k});
    far += std::abs(found.log_z.value - cases[k].log_z) > 4.0 * found.log_z.standard_error;
    outside += !holds(found.log_z, cases[k].log_z);
  }
  EXPECT_LE(far, 1u) << "of " << cases.size();
  EXPECT_LE(outside, 2u) << "of " << cases.size();
}

TEST(AnnealingLaw, ErrorsAreCalibrated) {
  // The share of 200 repetitions whose truth is within 1.96 errors is 0.95 with an error of 0.015. It may be somewhat
  // more, since errors grow where both sides differ, and somewhat less with weights as uneven as these.
  constexpr std::uint64_t kSeed = 3;
  const std::vector<Case> cases{
      case_of("bernoulli, spin", test::random_machine(Bernoulli{6}, Spin{5}, 1.0, kSeed), kSeed),
      case_of("potts, bernoulli", test::random_machine(Potts{12, 3}, Bernoulli{5}, 1.0, kSeed), kSeed),
      case_of("gaussian, bernoulli", test::random_machine(Gaussian{5}, Bernoulli{5}, 1.0, kSeed), kSeed),
      case_of("dense graph", some_boltzmann(Bernoulli{10}, dense_graph(10), 10, 1.0, kSeed), kSeed),
      case_of("graph of letters", some_boltzmann(Potts{15, 3}, site_graph(dense_graph(5), 3), 9, 0.8, kSeed), kSeed),
  };
  for (const Case& machine : cases) {
    double within = 0.0, bracketed = 0.0;
    for (std::uint64_t k = 0; k < 200; ++k) {
      const Estimate found = machine.anneal(32, {4}, Key{k}).log_z;
      within += std::abs(found.value - machine.log_z) < 1.96 * found.standard_error ? 0.005 : 0.0;
      bracketed += holds(found, machine.log_z) ? 0.005 : 0.0;
    }
    EXPECT_GE(within, 0.90) << machine.name;
    EXPECT_LE(within, 0.99) << machine.name;
    EXPECT_GE(bracketed, 0.99) << machine.name;
  }
}

/// Machines with hidden units that know each other.
std::vector<Boltzmann> hidden_machines(std::uint64_t seed) {
  return {
      some_boltzmann(Bernoulli{12}, dense_graph(12), 5, 1.0, seed),
      some_boltzmann(Spin{9}, grid_graph(3, 3, Border::kPeriodic), 4, 0.7, seed),
      some_boltzmann(Spin{8}, dense_graph(8), 3, 0.5, seed),
      some_boltzmann(Potts{15, 3}, site_graph(dense_graph(5), 3), 6, 0.8, seed),
  };
}

/// Hidden units annealed at each row, and the likelihood of all rows with log Z annealed too, against exact sums. As
/// above, of two hundred one may be beyond 4 errors, and two brackets may miss.
TEST(AnnealingLaw, HoldsForHiddenUnitsAtRows) {
  std::size_t far = 0, outside = 0, all = 0;
  const auto expect = [&](const Estimate& found, double truth) {
    far += std::abs(found.value - truth) > 4.0 * found.standard_error;
    outside += !holds(found, truth);
    ++all;
  };
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    for (const Boltzmann& machine : hidden_machines(seed)) {
      const State rows = test::exact_rows(machine, 20, Key{seed});
      ClampedRows clamped(machine, rows, Key{seed});
      clamped.anneal(rows.chains(), 32, {});
      Evaluation found;
      found.set_clamped(clamped.found());
      found.set_annealed(annealed_along(*path_to(machine, rows, {}), rows, 64, {16, 128}, Key{seed}));
      const Mean energy = mean_with_error(*exact_free_energy(machine, rows, {}));
      expect(found.free_energy->mean, energy.value);
      expect(*found.log_likelihood, -energy.value - *exact_log_z(machine, {}));
      EXPECT_NEAR(found.free_energy->row_error, energy.standard_error, 0.1 * energy.standard_error);
    }
  }
  ASSERT_EQ(all, 200u);
  EXPECT_LE(far, 1u);
  EXPECT_LE(outside, 2u);
}

/// The same for deep machines, whose every second layer is summed out on the way to log Z.
TEST(AnnealingLaw, HoldsForHiddenLayersAtRows) {
  std::size_t far = 0, outside = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::vector<std::size_t>& sizes :
         {std::vector<std::size_t>{5, 3, 3}, std::vector<std::size_t>{4, 3, 2, 3}}) {
      const DeepBoltzmann machine = test::some_deep(sizes, 0.7, seed);
      const State rows = test::all_states(machine.visible_layer());
      ClampedRows clamped(machine, rows, Key{seed});
      clamped.anneal(rows.chains(), 32, {});
      double energy = 0.0;
      for (std::size_t r = 0; r < rows.chains(); ++r) {
        energy -= test::log_sum_at(machine, r) / static_cast<double>(rows.chains());
      }
      Evaluation found;
      found.set_clamped(clamped.found());
      found.set_annealed(annealed_along(*path_to(machine, rows, Key{seed}, {}), rows, 64, {16, 128}, Key{seed}));
      const double truth = -energy - *exact_log_z(static_cast<const Rbm&>(machine), {});
      far += std::abs(found.log_likelihood->value - truth) > 4.0 * found.log_likelihood->standard_error;
      outside += !holds(*found.log_likelihood, truth);
      ++all;
    }
  }
  ASSERT_EQ(all, 100u);
  EXPECT_LE(far, 1u);
  EXPECT_LE(outside, 1u);
}

/// Some rows annealed, and the bounds of all: the mean over all rows, which is then known at least twice as well as
/// without bounds, and is said to be. Of a hundred one may be beyond 4 errors.
TEST(AnnealingLaw, HoldsForSomeRowsWithBoundsOfAll) {
  constexpr std::size_t kAnnealed = 12;
  std::size_t far = 0;
  double with = 0.0, without = 0.0, square_with = 0.0, square_without = 0.0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const DeepBoltzmann machine = test::some_deep({6, 3, 3}, 0.7, seed);
    const State rows = test::all_states(machine.visible_layer());
    ClampedRows clamped(machine, rows, Key{seed});
    clamped.anneal(kAnnealed, 32, {});
    const ClampedLogZ alone = clamped.found();
    clamped.bound_all({});
    const ClampedLogZ found = clamped.found();
    EXPECT_EQ(found.rows, kAnnealed);
    std::vector<double> log_z;
    for (std::size_t r = 0; r < rows.chains(); ++r) log_z.push_back(test::log_sum_at(machine, r));
    const Mean truth = mean_with_error(log_z);
    const double error = std::hypot(found.mean.log_z.standard_error, found.row_error);
    far += std::abs(found.mean.log_z.value - truth.value) > 4.0 * error;
    with += found.row_error;
    without += alone.row_error;
    square_with += std::pow(found.mean.log_z.value - truth.value, 2.0);
    square_without += std::pow(alone.mean.log_z.value - truth.value, 2.0);
  }
  EXPECT_LE(far, 1u);
  EXPECT_LT(square_with, square_without / 4.0);
  EXPECT_LT(with, 0.6 * without);  // of 64 rows 12 were annealed, whose error alone is the root of 64 / 12 larger
}

/// A normal error is within 1.96 of what is said of it in 96.2 % of cases if that grows with the difference of both
/// sides: 0.68 * 0.95, and nearly all of the rest. The share of 800 repetitions has an error of 0.0068, of which 4 are
/// allowed. Brackets miss 0.3 % at most, so 7 of 800 are beyond chance.
TEST(AnnealingLaw, ErrorsAtRowsAreCalibrated) {
  std::size_t within = 0, outside = 0;
  for (const Boltzmann& machine : hidden_machines(3)) {
    const State rows = test::exact_rows(machine, 5, Key{3});
    const double truth = mean_with_error(*exact_free_energy(machine, rows, {})).value;
    for (std::uint64_t k = 0; k < 200; ++k) {
      ClampedRows clamped(machine, rows, Key{k});
      clamped.anneal(rows.chains(), 4, {});
      const Estimate found = mean_free_energy(clamped.found()).mean;
      within += std::abs(found.value - truth) < 1.96 * found.standard_error;
      outside += !holds(found, truth);
    }
  }
  EXPECT_NEAR(static_cast<double>(within) / 800.0, 0.962, 4.0 * 0.0068);
  EXPECT_LE(outside, 7u);
}

TEST(AnnealingLaw, FindsTheLogZOfLattices) {
  // Exact values of Kaufman (1949) for 8 x 8 spins. The last one is at the critical coupling.
  struct Lattice {
    float coupling;
    double log_z;
  };
  for (const auto& [coupling, log_z] :
       {Lattice{0.2f, 47.01014742}, Lattice{0.4f, 56.59938876}, Lattice{0.44068679f, 60.14178079}}) {
    Boltzmann machine(Spin{64}, grid_graph(8, 8, Border::kPeriodic));
    machine.update([&](Parameters& p) { std::ranges::fill(p["couplings"], coupling); }, {});
    const State rows = independent_start(machine, 64, Key{2}, {}).layers[0];
    const AnnealedLogZ found = annealed_along(*path_to(machine, rows, {}), rows, 64, {50, 200, 600}, Key{3});
    EXPECT_NEAR(found.log_z.value, log_z, 4.0 * found.log_z.standard_error) << coupling;
    EXPECT_NEAR(found.log_z.value, log_z, 0.1) << coupling;
    EXPECT_TRUE(holds(found.log_z, log_z)) << coupling;
  }
}

/// Real units, each in two wells of its own, which are not equally deep.
struct Wells {
  std::size_t count;
  std::vector<Layer> layers() const { return {Gaussian{count}}; }
  std::vector<double> energy(LayerStates x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) {
      for (const float value : x[0].reals().row(r)) {
        const double z = value, square = z * z - 1.0;
        out[r] += 2.0 * square * square - 0.3 * z;
      }
    }
    return out;
  }
};

TEST(AnnealingLaw, HoldsForAnyEnergyOfRealUnits) {
  const double of_one = exact_log_z(Wells{1}, {})->value;
  const Wells machine{4};
  // Rows at the wells: the deviations are about right, the weights of the wells are not.
  State rows(Matrix<float>(kRows, 4));
  const Draw draw = Key{5}.at(Purpose::kTest);
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t i = 0; i < 4; ++i) rows.reals()(r, i) = draw.uniform(r, i) < 0.5 ? -1.0f : 1.0f;
  }
  const AnnealedLogZ found = annealed_along(*path_to(machine, rows, {}), rows, 64, {32, 128, 512}, Key{6});
  EXPECT_NEAR(found.log_z.value, 4.0 * of_one, 4.0 * found.log_z.standard_error);
  EXPECT_LT(found.log_z.standard_error, 0.1);
  EXPECT_TRUE(holds(found.log_z, 4.0 * of_one));
}

TEST(AnnealingLaw, HoldsForANeuralEnergy) {
  Neural machine({{1.0f, -2.0f}, {0.5f, 3.0f}}, {8});
  initialise(machine, Key{7}, {});
  const Draw draw = Key{8}.at(Purpose::kTest);
  machine.update(
      [&](Parameters& p) {
        for (std::uint32_t k = 0; k < p.values().size(); ++k) p.values()[k] += static_cast<float>(draw.normal(0, k));
      },
      {});
  State rows(Matrix<float>(kRows, 2));
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      rows.reals()(r, i) =
          static_cast<float>(machine.bowl().mean[i] + machine.bowl().deviation[i] * draw.normal(r + 1, i));
    }
  }
  const double truth = exact_log_z(machine, {})->value;
  const AnnealedLogZ found = annealed_along(*path_to(machine, rows, {}), rows, 64, {32, 128, 512}, Key{9});
  EXPECT_NEAR(found.log_z.value, truth, 4.0 * found.log_z.standard_error);
  EXPECT_TRUE(holds(found.log_z, truth));
}

/// What a machine might have been on its way: weaker in all parameters, and with some noise.
template <class Machine>
std::vector<Parameters> snapshots_of(const Machine& machine, const std::vector<double>& shares) {
  const Draw draw = Key{11}.at(Purpose::kTest);
  std::vector<Parameters> out;
  for (std::uint32_t s = 0; s < shares.size(); ++s) {
    out.push_back(machine.parameters());
    const std::span<float> values = out.back().values();
    for (std::uint32_t k = 0; k < values.size(); ++k) {
      values[k] = static_cast<float>(shares[s] * values[k] + 0.1 * draw.normal(s, k));
    }
  }
  return out;
}

TEST(AnnealingLaw, HoldsAlongATrajectory) {
  std::size_t outside = 0;
  const auto expect_truth = [&](const auto& machine, std::uint64_t seed) {
    const State rows = test::exact_rows(machine, kRows, Key{seed});
    const auto path = path_through(machine, snapshots_of(machine, {0.2, 0.5, 0.6, 0.9}), rows, {});
    const AnnealedLogZ found = annealed_along(*path, rows, 64, {16, 128}, Key{seed});
    const double truth = *exact_log_z(machine, {});
    EXPECT_NEAR(found.log_z.value, truth, 4.0 * found.log_z.standard_error) << seed;
    outside += !holds(found.log_z, truth);
  };
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    expect_truth(test::random_machine(Bernoulli{6}, Spin{5}, 1.0, seed), seed);
    expect_truth(test::random_machine(Gaussian{4}, Bernoulli{5}, 1.0, seed), seed);
    expect_truth(some_boltzmann(Potts{15, 3}, site_graph(dense_graph(5), 3), 9, 0.8, seed), seed);
  }
  EXPECT_LE(outside, 1u);  // of 24
}

}  // namespace
}  // namespace ergodic
