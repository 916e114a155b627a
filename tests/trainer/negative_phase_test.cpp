#include "ergodic/trainer/negative_phase.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/contrastive_divergence.hpp"
#include "ergodic/trainer/fast_weights.hpp"
#include "ergodic/trainer/population_chains.hpp"
#include "ergodic/trainer/tempered_chains.hpp"
#include "exact_rows.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChains = 4000;

double share_up(const State& x) {
  double up = 0.0;
  for (std::size_t r = 0; r < x.chains(); ++r) up += x.bits().get(r, 0) ? 1.0 : 0.0;
  return up / static_cast<double>(x.chains());
}

/// Ten spins that are nearly all up or all down, with a barrier between that Gibbs sampling hardly ever crosses.
Rbm two_valleys() {
  Rbm out(Spin{10}, Spin{1});
  out.update([](Parameters& p) { std::ranges::fill(p["weights"], 1.5f); }, {});
  return out;
}

/// Tilts the valleys step by step, with chains that begin half and half, as is right at first; the share that is up.
template <class Phase>
double share_after_tilting(double tilt) {
  constexpr int kUpdates = 50;
  Rbm rbm = two_valleys();
  State visible = rbm.make_state(Rbm::kVisible, kChains);
  for (std::size_t r = 0; r < kChains; r += 2) {
    for (std::size_t i = 0; i < visible.units(); ++i) visible.bits().set(r, i, true);
  }
  const SimulatorOf<Rbm, Gibbs> simulator(rbm, Gibbs{});
  Phase phase(2, start_at(rbm, std::move(visible), 0, Key{3}, {}));
  for (std::uint64_t update = 0; update < kUpdates; ++update) {
    phase.advance(simulator, {}, update, Key{3}, {});
    rbm.update([&](Parameters& p) { p["hidden_bias"][0] += static_cast<float>(tilt / kUpdates); }, {});
    phase.follow(simulator, {.update = update, .rate = 1.0, .rows = {}}, Key{3}, {});
  }
  return share_up(phase.chains()->layers[Rbm::kVisible]);
}

TEST(NegativePhase, APopulationFollowsValleysThatChainsAloneDoNot) {
  // A hidden spin with bias t is up with probability 1/(1 + exp(-2t)); of the visible ones a few are not as it is.
  constexpr double kTilt = 0.5, kUp = 1.5;
  const double up = 1.0 / (1.0 + std::exp(-2.0 * kTilt)), same = 1.0 / (1.0 + std::exp(-2.0 * kUp));
  const double expected = up * same + (1.0 - up) * (1.0 - same);
  EXPECT_LT(share_after_tilting<PersistentChains>(kTilt), 0.55);
  // Twice the error of as many independent draws: chains that multiply have the same ancestors.
  EXPECT_NEAR(share_after_tilting<PopulationChains>(kTilt), expected, 4.0 * 2.0 * 0.5 / std::sqrt(kChains));
}

/// Of two-valued units, letters and real ones: a draw could leave any as they were. Fixed units must stay as the data
/// is.
TEST(NegativePhase, ContrastiveDivergenceKnowsNothingOfEarlierUpdates) {
  for (const Layer& visible : test::all_layers(4)) {
    Bits fixed(1, units_of(visible));
    for (std::size_t s = 0; s < 2; ++s) {
      const auto [first, size] = sites(visible)[s];
      for (std::size_t i = first; i < first + size; ++i) fixed.set(0, i, true);
    }
    for (const Gibbs& kernel : {Gibbs{}, Gibbs{fixed}}) {
      Rbm rbm(visible, Bernoulli{7});
      rbm.update([](Parameters& p) { std::ranges::fill(p["weights"], 0.3f); }, {});
      const Chains first = independent_start(rbm, 20, Key{1}, {}), second = independent_start(rbm, 20, Key{2}, {});
      const SimulatorOf<Rbm, Gibbs> simulator(rbm, kernel);
      ContrastiveDivergence kept(1), fresh(1);
      kept.advance(simulator, first, 0, Key{3}, {});
      const auto* again = std::get<const Chains*>(kept.advance(simulator, second, 1, Key{3}, {}));
      const auto* anew = std::get<const Chains*>(fresh.advance(simulator, second, 1, Key{3}, {}));
      for (std::size_t block = 0; block < rbm.layers().size(); ++block) {
        for (std::size_t r = 0; r < 20; ++r) {
          for (std::size_t i = 0; i < again->layers[block].units(); ++i) {
            ASSERT_EQ(again->layers[block].value(r, i), anew->layers[block].value(r, i)) << name_of(visible);
          }
        }
      }
    }
  }
}

Chains exact_chains(const Rbm& rbm, Key key) { return start_at(rbm, test::exact_rows(rbm, kChains, key), 0, key, {}); }
Chains exact_chains(const Boltzmann& machine, Key key) { return {{test::exact_rows(machine, kChains, key)}}; }

Statistics mean_statistics(const Rbm& rbm, const Chains& chains) {
  Statistics out(rbm.parameters().values().size());
  const double weight = 1.0 / kChains;
  rbm.add_statistics(Rbm::kVisible, chains.layers[0], moments_of(chains.layers[1]), {&weight, 1}, out, {});
  return out;
}
Statistics mean_statistics(const Boltzmann& machine, const Chains& chains) {
  Statistics out(machine.parameters().values().size());
  const double weight = 1.0 / kChains;
  machine.add_statistics(chains.layers[0], {&weight, 1}, out, {});
  return out;
}

/// The mean statistics of a population that begins with exact draws of one machine and follows it to another one, in
/// steps so large that sweeps alone would lag behind.
template <class Model>
Statistics followed(Model machine, const Model& to, Key key) {
  constexpr std::uint64_t kUpdates = 3;
  const std::span<const float> values = machine.parameters().values();
  const std::vector<float> first(values.begin(), values.end());
  const SimulatorOf<Model, Gibbs> simulator(machine, Gibbs{});
  PopulationChains population(1, exact_chains(machine, key));
  for (std::uint64_t update = 0; update < kUpdates; ++update) {
    population.advance(simulator, {}, update, key, {});
    const float share = static_cast<float>(update + 1) / kUpdates;
    const auto mix = [&](Parameters& p) {
      for (std::size_t k = 0; k < first.size(); ++k) {
        p.values()[k] = (1.0f - share) * first[k] + share * to.parameters().values()[k];
      }
    };
    machine.update(mix, {});
    population.follow(simulator, {.update = update, .rate = 1.0, .rows = {}}, key, {});
  }
  return mean_statistics(machine, *population.chains());
}

template <class Model>
void expect_that_a_population_follows(const Model& from, const Model& to) {
  constexpr std::size_t kTimes = 30;
  const Statistics exact = exact_statistics(to, {});
  Statistics sum(exact.size()), squares(exact.size());
  for (std::uint64_t seed = 1; seed <= kTimes; ++seed) {
    const Statistics found = followed(from, to, Key{seed});
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const double off = found[k] - exact[k];
      sum[k] += off;
      squares[k] += off * off;
    }
  }
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double mean = sum[k] / kTimes, variance = (squares[k] / kTimes - mean * mean) / (kTimes - 1);
    // Student's t of 29 degrees of freedom is beyond 5 once in 40,000 times, and there are some 40 statistics.
    EXPECT_LT(std::abs(mean), 5.0 * std::sqrt(variance)) << "statistic " << k;
  }
}

TEST(NegativePhase, APopulationOfAnRbmFollowsItsSteps) {
  expect_that_a_population_follows(test::random_machine(Bernoulli{5}, Spin{3}, 0.5, 1),
                                   test::random_machine(Bernoulli{5}, Spin{3}, 1.0, 2));
}

TEST(NegativePhase, APopulationOfABoltzmannMachineFollowsItsSteps) {
  expect_that_a_population_follows(test::random_boltzmann(Spin{6}, Graph(6), 0.3, 1),
                                   test::random_boltzmann(Spin{6}, Graph(6), 0.6, 2));
}

/// How often each state of the visible units is there, against its probability.
test::ChiSquare fit_to(const Rbm& rbm, const State& visible) {
  const std::size_t units = visible.units();
  std::vector<std::size_t> counts(std::size_t{1} << units);
  for (std::size_t r = 0; r < visible.chains(); ++r) ++counts[visible.bits().row(r)[0]];
  std::vector<double> probabilities(counts.size());
  State all(counts.size(), units, visible.levels());
  for (std::size_t s = 0; s < counts.size(); ++s) all.bits().row(s)[0] = s;
  const std::vector<double> energies = rbm.free_energy(all, {});
  const double log_z = *exact_log_z(rbm, {});
  for (std::size_t s = 0; s < counts.size(); ++s) probabilities[s] = std::exp(-energies[s] - log_z);
  return test::chi_square(counts, probabilities);
}

void expect_fit(const Rbm& rbm, const State& visible) {
  const test::ChiSquare found = fit_to(rbm, visible);
  EXPECT_LT(found.value, found.critical());
}

/// So many updates that leave the machine as it is.
void stand_still(NegativePhase& phase, const Simulator& simulator, std::uint64_t updates) {
  for (std::uint64_t update = 0; update < updates; ++update) {
    phase.advance(simulator, {}, update, Key{3}, {});
    phase.follow(simulator, {.update = update, .rate = 0.1, .rows = {}}, Key{3}, {});
  }
}

TEST(NegativePhase, WithoutStepsFastWeightsVanishAndChainsAreThoseOfTheMachine) {
  Rbm rbm = test::random_machine(Bernoulli{5}, Bernoulli{4}, 1.0, 4);
  const SimulatorOf<Rbm, Gibbs> simulator(rbm, Gibbs{});
  FastWeights phase(1, simulator.start(kChains, Key{3}, {}), simulator, 0.1);
  std::ranges::fill(phase.memory(), 0.5f);
  stand_still(phase, simulator, 100);
  for (const float fast : phase.memory()) EXPECT_NEAR(fast, 0.5 * std::pow(0.95, 100), 1e-6);
  std::ranges::fill(phase.memory(), 0.0f);
  stand_still(phase, simulator, 30);
  expect_fit(rbm, phase.chains()->layers[Rbm::kVisible]);
}

TEST(NegativePhase, FastWeightsFollowTheGradientAtTheFirstRate) {
  Rbm rbm = test::random_machine(Bernoulli{5}, Bernoulli{4}, 1.0, 4);
  const SimulatorOf<Rbm, Gibbs> simulator(rbm, Gibbs{});
  constexpr double kFirstRate = 0.5, kRate = 0.125, kGradient = 0.25;
  FastWeights phase(1, simulator.start(kChains, Key{3}, {}), simulator, kFirstRate);
  double expected = 0.0;
  for (std::uint64_t update = 0; update < 40; ++update) {
    phase.advance(simulator, {}, update, Key{3}, {});
    rbm.update([&](Parameters& p) { p["visible_bias"][0] += static_cast<float>(kRate * kGradient); }, {});
    phase.follow(simulator, {.update = update, .rate = kRate, .rows = {}}, Key{3}, {});
    expected = 0.95 * expected + kFirstRate * kGradient;
  }
  const std::size_t moved = rbm.parameters().slot("visible_bias").offset;
  // 40 steps, each of which rounds a parameter of size 1 to 6e-8, which counts four times.
  for (std::size_t k = 0; k < phase.memory().size(); ++k) {
    EXPECT_NEAR(phase.memory()[k], k == moved ? expected : 0.0, 1e-5) << k;
  }
  // The chains are those of the machine with both.
  Rbm both = rbm;
  both.update([&](Parameters& p) { p["visible_bias"][0] += phase.memory()[moved]; }, {});
  std::vector<float> kept(phase.memory().begin(), phase.memory().end());
  for (std::uint64_t update = 0; update < 30; ++update) {
    phase.advance(simulator, {}, update, Key{4}, {});
    std::ranges::copy(kept, phase.memory().begin());
  }
  expect_fit(both, phase.chains()->layers[Rbm::kVisible]);
}

TEST(NegativePhase, TemperedChainsAreThoseOfTheMachinesOfTheirLevels) {
  constexpr std::size_t kLevels = 4;
  const Rbm first = test::random_machine(Bernoulli{5}, Bernoulli{4}, 0.3, 5);
  const Rbm last = test::random_machine(Bernoulli{5}, Bernoulli{4}, 1.5, 6);
  Rbm rbm = first;
  const SimulatorOf<Rbm, Gibbs> simulator(rbm, Gibbs{});
  TemperedChains phase(2, simulator.start(kChains, Key{3}, {}), simulator, kLevels);
  rbm = last;
  stand_still(phase, simulator, 60);
  const std::vector<float> betas(phase.memory().begin(), phase.memory().begin() + kLevels);  // of the next update
  stand_still(phase, simulator, 1);
  EXPECT_EQ(betas.front(), 1.0f);
  EXPECT_EQ(betas.back(), 0.0f);
  for (std::size_t k = 0; k < kLevels; ++k) {
    Rbm level = last;
    level.update(
        [&](Parameters& p) {
          for (std::size_t i = 0; i < p.values().size(); ++i) {
            const float from = first.parameters().values()[i];
            p.values()[i] = from + betas[k] * (p.values()[i] - from);
          }
        },
        {});
    expect_fit(level, phase.chains()->layers[2 * k]);
  }
}

TEST(NegativePhase, TemperedChainsFollowValleysThatChainsAloneDoNot) {
  // As above, but the machine tilts for as long as copies need to cross the barrier by way of the machine without it.
  constexpr double kTilt = 0.5, kUp = 1.5;
  const double up = 1.0 / (1.0 + std::exp(-2.0 * kTilt)), same = 1.0 / (1.0 + std::exp(-2.0 * kUp));
  Rbm rbm(Spin{10}, Spin{1});
  const SimulatorOf<Rbm, Gibbs> simulator(rbm, Gibbs{});
  TemperedChains phase(1, simulator.start(kChains, Key{3}, {}), simulator, 6);
  rbm = two_valleys();
  rbm.update([&](Parameters& p) { p["hidden_bias"][0] = static_cast<float>(kTilt); }, {});
  for (State& layer : phase.chains()->layers) layer = State(kChains, layer.units(), layer.levels());  // all down
  stand_still(phase, simulator, 200);
  EXPECT_NEAR(share_up(phase.chains()->layers[Rbm::kVisible]), up * same + (1.0 - up) * (1.0 - same),
              4.0 * 0.5 / std::sqrt(kChains));
}

TEST(NegativePhase, SweepsGrowInAStraightLine) {
  TrainOptions options;
  options.steps = 2;
  options.updates = 9;
  EXPECT_EQ(Sweeps(options).at(5), 2u);
  options.final_steps = 6;
  const Sweeps grown(options);
  std::vector<std::uint64_t> found;
  for (std::uint64_t update = 0; update < 10; ++update) found.push_back(grown.at(update));
  EXPECT_EQ(found, (std::vector<std::uint64_t>{2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
  options.updates = 1;
  EXPECT_EQ(Sweeps(options).at(0), 6u);
}

TEST(NegativePhase, AStateOfAnotherMethodIsRefused) {
  Rbm rbm(Bernoulli{5}, Bernoulli{4});
  const SimulatorOf<Rbm, Gibbs> simulator(rbm, Gibbs{});
  PersistentChains chains(1, simulator.start(3, Key{3}, {}));
  TemperedChains tempered(1, simulator.start(3, Key{3}, {}), simulator, 3);
  LearnerState state;
  tempered.put(state);
  EXPECT_EQ(state.chains.layers.size(), 6u);
  EXPECT_THROW(chains.take(state), DataError);
  state.chains.layers.resize(2);
  tempered.take(state);
  EXPECT_EQ(tempered.chains()->layers.size(), 6u) << "chains of the machine alone start every level";
}

}  // namespace
}  // namespace ergodic
