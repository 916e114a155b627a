#include "ergodic/model/boltzmann.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/letters.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_boltzmann, test::random_state;

TEST(Boltzmann, ItsParametersAreOneBufferWithTwoSlots) {
  const Boltzmann machine(Spin{6}, grid_graph(2, 3, Border::kOpen));
  ASSERT_EQ(machine.parameters().slots().size(), 2u);
  EXPECT_EQ(machine.parameters().slot("couplings").shape, std::vector<std::size_t>{7});
  EXPECT_EQ(machine.parameters().slot("bias").shape, std::vector<std::size_t>{6});
  EXPECT_EQ(machine.parameters().slot("bias").offset, 7u);
}

TEST(Boltzmann, OnlyUnitsOfFewValuesOnAGraphOfTheirNumber) {
  for (const Layer& layer : {Layer{Gaussian{6}}, Layer{Relu{6}}}) {
    expect_parts(message_of<UsageError>([&] { Boltzmann(layer, dense_graph(6)); }),
                 {"bernoulli, spin or potts", "found " + std::string(name_of(layer)), "RBM"});
  }
  expect_parts(message_of<UsageError>([] {
                 Boltzmann(Potts{6, 3}, dense_graph(6));
               }),
               {"units 0 and 1", "site 0", "different sites"});
  expect_parts(
      message_of<UsageError>([] {
        Boltzmann(Potts{6, 3}, graph_from_edges(6, std::vector<std::pair<std::size_t, std::size_t>>{{0, 3}, {4, 5}}));
      }),
      {"units 4 and 5", "site 1"});
  expect_parts(message_of<UsageError>([] { Boltzmann(Spin{6}, dense_graph(7)); }), {"6 units", "found 7"});
}

TEST(Boltzmann, TheFirstUnitsAreVisible) {
  EXPECT_EQ(Boltzmann(Spin{6}, dense_graph(6)).visible(), 6u);
  const Boltzmann machine(Potts{6, 3}, site_graph(dense_graph(2), 3), 3);
  EXPECT_EQ(machine.visible(), 3u);
  EXPECT_EQ(machine.hidden(), 3u);
  for (const std::size_t visible : {0u, 7u}) {
    expect_parts(message_of<UsageError>([&] { Boltzmann(Spin{6}, dense_graph(6), visible); }),
                 {"of 6 units", "found " + std::to_string(visible)});
  }
  expect_parts(message_of<UsageError>([] {
                 Boltzmann(Potts{6, 3}, site_graph(dense_graph(2), 3), 4);
               }),
               {"whole sites of 3", "found 4"});
}

TEST(Boltzmann, TheMemoryOfADenseOneIsSaidBeforeItIsTaken) {
  const DenseMemory memory = memory_of_dense(65536);
  EXPECT_EQ(memory.couplings, 2147450880u);
  EXPECT_EQ(memory.coupling_bytes, 8589803520u);
  EXPECT_EQ(memory.matrix_entries, 4294967296u);
  EXPECT_EQ(memory.matrix_bytes, 25769803776u);
  EXPECT_EQ(memory.bytes(), memory.coupling_bytes + memory.matrix_bytes);
  EXPECT_EQ(memory_of_dense(33).matrix_bytes, 33u * 33 * 4 + 64 * 64 * 2);
  EXPECT_LE(memory_of_dense(18900).matrix_bytes, kMaxMatrixBytes);
  EXPECT_GT(memory_of_dense(19000).matrix_bytes, kMaxMatrixBytes);
  EXPECT_EQ(memory_of_dense(3339, 21).couplings, 159u * 158 / 2 * 21 * 21);
  EXPECT_EQ(memory_of_dense(3339, 21).matrix_bytes, 3339u * 3339 * 4);
  expect_parts(message_of<UsageError>([] { Boltzmann(Bernoulli{65536}, dense_graph(65536)); }),
               {"65536 units", "2.1 billion couplings", "8.0 GiB", "4.3 billion entries", "24.0 GiB", "2 GiB", "RBM",
                "sparse graph"});
}

TEST(Boltzmann, ASparseOneOfThatSizeIsMadeAndSampled) {
  const Boltzmann machine(Spin{65536}, grid_graph(256, 256, Border::kPeriodic));
  State x = machine.make_state(1);
  machine.resample(0, {&x, 1}, Key{1}.at(Purpose::kGibbs), 0, {});
  // Without couplings every unit is a fair coin.
  std::size_t high = 0;
  for (std::size_t i = 0; i < x.units(); ++i) high += x.bits().get(0, i);
  EXPECT_NEAR(static_cast<double>(high), 32768.0, 4.0 * 128.0);
}

/// The letters of sites, by uniform numbers.
State random_letters(std::size_t chains, const Potts& units, std::uint64_t seed) {
  const std::vector<double> fields(units.units);
  State out = make_state(units, chains);
  const Draw numbers = Key{seed}.at(Purpose::kTest);
  for (std::uint32_t r = 0; r < chains; ++r) draw(units, {fields}, {numbers, r, out, r});
  return out;
}

TEST(Boltzmann, ASweepOfLettersDrawsEachSiteGivenAllOthersForAnyThreadsAndSplit) {
  // 70 sites of 5 letters: on complete, sparse and irregular graphs.
  constexpr std::size_t kSites = 70, kLetters = 5;
  const Potts units{kSites * kLetters, kLetters};
  Bits fixed(100, units.units);
  for (std::size_t r = 0; r < 100; ++r) {
    for (std::size_t i = 0; i < units.units; ++i) fixed.set(r, i, (i / kLetters + r) % 4 == 0);
  }
  for (const Graph& sites :
       {dense_graph(kSites), random_graph(kSites, 6.0, Key{2}), random_graph(kSites, 60.0, Key{3})}) {
    const Boltzmann machine = random_boltzmann(units, site_graph(sites, kLetters), 0.3, 4);
    const State start = random_letters(100, units, 5);
    const Draw numbers = Key{6}.at(Purpose::kGibbs, 3);
    State truth = start;
    for (std::uint32_t r = 0; r < 100; ++r) {
      for (std::uint32_t s = 0; s < kSites; ++s) {
        if (fixed.get(r, s * kLetters)) continue;
        std::vector<double> fields, storage;
        for (std::size_t a = 0; a < kLetters; ++a) fields.push_back(machine.field(truth, r, s * kLetters + a));
        const std::size_t letter = LetterWeights(fields, storage).drawn(numbers.uniform(11 + r, s));
        for (std::size_t a = 0; a < kLetters; ++a) truth.bits().set(r, s * kLetters + a, a == letter);
      }
    }
    for (const std::size_t count : {1u, 3u}) {
      Threads threads(count);
      State found = start;
      machine.resample_given(fixed, 0, {&found, 1}, numbers, 11, Context{&threads});
      EXPECT_TRUE(found == truth) << count << " threads";
    }
    State whole = start, second = test::rows_of(start, 33, 67);
    machine.resample(0, {&whole, 1}, numbers, 11, {});
    machine.resample(0, {&second, 1}, numbers, 11 + 33, {});
    EXPECT_TRUE(second == test::rows_of(whole, 33, 67));
  }
}

void expect_same_sums_for_any_threads(const Boltzmann& machine, const State& x) {
  std::vector<double> weights(x.chains());
  for (std::size_t r = 0; r < weights.size(); ++r) weights[r] = 1.0 / static_cast<double>(r + 3);
  const auto sums = [&](const Context& context) {
    Statistics statistics(machine.parameters().values().size()), pseudo = statistics;
    machine.add_statistics(x, weights, statistics, context);
    machine.add_pseudo_statistics(x, weights, pseudo, context);
    return std::tuple(statistics, pseudo, machine.energy(x, context), machine.pseudo_log_likelihood(x, context));
  };
  const auto truth = sums({});
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    EXPECT_EQ(sums(Context{&threads}), truth) << count << " threads";
  }
}

TEST(Boltzmann, SumsOverLettersDependNotOnThreads) {
  const Potts units{60, 4};
  expect_same_sums_for_any_threads(random_boltzmann(units, site_graph(random_graph(15, 8.0, Key{1}), 4), 0.3, 4),
                                   random_letters(300, units, 8));
}

TEST(Boltzmann, ASparseOneOf65536UnitsSumsItsStatistics) {
  const Boltzmann machine = random_boltzmann(Spin{65536}, grid_graph(256, 256, Border::kPeriodic), 0.2, 1);
  State x = machine.make_state(4);
  for (std::uint64_t sweep = 0; sweep < 3; ++sweep) {
    machine.resample(0, {&x, 1}, Key{1}.at(Purpose::kGibbs, sweep), 0, {});
  }
  const double share = 0.25;
  Statistics statistics(machine.parameters().values().size());
  machine.add_statistics(x, {&share, 1}, statistics, {});
  double energy = 0.0;
  for (std::size_t k = 0; k < statistics.size(); ++k) energy -= statistics[k] * machine.parameters().values()[k];
  double mean = 0.0;
  for (const double e : machine.energy(x, {})) mean += share * e;
  EXPECT_NEAR(energy, mean, 1e-6 * std::abs(mean));  // the same sum in another order
}

/// Machines of both unit types on dense and sparse graphs, larger than a tile of the kernels.
template <class F>
void for_each_machine(const F& f) {
  for (const auto type : test::kUnitTypes) {
    for (const Graph& graph : {dense_graph(70), grid_graph(7, 10, Border::kPeriodic), random_graph(70, 6.0, Key{2}),
                               random_graph(70, 60.0, Key{3})}) {
      SCOPED_TRACE(std::string(type) + ", " + std::to_string(graph.edges()) + " edges");
      f(random_boltzmann(make_layer(type, 70), graph, 0.3, 4));
    }
  }
}

/// Every third unit, another third in the next row.
Bits every_third(std::size_t rows, std::size_t units) {
  Bits out(rows, units);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = r % 3; i < units; i += 3) out.set(r, i, true);
  }
  return out;
}

/// The order in which a machine promises to draw its units.
std::vector<std::uint32_t> order_of(const Boltzmann& machine) {
  std::vector<std::uint32_t> out;
  if (machine.graph().dense()) {
    for (std::uint32_t i = 0; i < machine.graph().units(); ++i) out.push_back(i);
    return out;
  }
  for (const auto& group : colours_of(machine.graph())) out.insert(out.end(), group.begin(), group.end());
  return out;
}

/// One unit after the other that is not fixed, each by its field given all others.
void sweep_plainly(const Boltzmann& machine, const Bits& fixed, State& x, const Draw& draw, std::uint64_t first_chain) {
  const std::vector<std::uint32_t> order = order_of(machine);
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (const std::uint32_t i : order) {
      if (fixed.get(fixed.rows() == 1 ? 0 : r, i)) continue;
      const double p = sigmoid(x.levels().gap() * machine.field(x, r, i));
      x.bits().set(r, i, coin(draw, static_cast<std::uint32_t>(first_chain + r), i, p));
    }
  }
}

TEST(Boltzmann, ASweepDrawsEachUnitGivenAllOthers) {
  for_each_machine([](const Boltzmann& machine) {
    const State start = random_state(45, 70, levels_of(machine.units()), 0.5, 5);
    const Draw draw = Key{6}.at(Purpose::kGibbs, 3);
    State truth = start, found = start;
    sweep_plainly(machine, Bits(1, 70), truth, draw, 11);
    machine.resample(0, {&found, 1}, draw, 11, {});
    EXPECT_TRUE(found == truth);
  });
}

TEST(Boltzmann, FixedUnitsStayAndTheOthersAreDrawnGivenThem) {
  for_each_machine([](const Boltzmann& machine) {
    const State start = random_state(45, 70, levels_of(machine.units()), 0.5, 5);
    const Draw draw = Key{6}.at(Purpose::kGibbs, 3);
    for (const Bits& fixed : {every_third(1, 70), every_third(45, 70), Bits(1, 70)}) {
      State truth = start, found = start;
      sweep_plainly(machine, fixed, truth, draw, 11);
      machine.resample_given(fixed, 0, {&found, 1}, draw, 11, {});
      EXPECT_TRUE(found == truth);
    }
  });
}

TEST(Boltzmann, AMaskHasARowForAllChainsOrForEach) {
  const Boltzmann machine(Spin{6}, dense_graph(6));
  State x = machine.make_state(3);
  for (const Bits& fixed : {Bits(2, 6), Bits(3, 5), Bits(0, 6)}) {
    expect_parts(message_of<UsageError>([&] {
                   machine.resample_given(fixed, 0, {&x, 1}, Key{1}.at(Purpose::kGibbs), 0, {});
                 }),
                 {"6 bits in 1 row", "3 rows", "found " + std::to_string(fixed.rows()) + " rows"});
  }
}

TEST(Boltzmann, BitsDependNeitherOnThreadsNorOnTheSplitOfTheBatch) {
  for_each_machine([](const Boltzmann& machine) {
    const State start = random_state(300, 70, levels_of(machine.units()), 0.5, 5);
    const Bits fixed = every_third(1, 70);
    const Draw draw = Key{6}.at(Purpose::kGibbs);
    const auto swept = [&](State x, std::uint64_t first_chain, const Context& context) {
      machine.resample(0, {&x, 1}, draw, first_chain, context);
      machine.resample_given(fixed, 0, {&x, 1}, Key{7}.at(Purpose::kGibbs), first_chain, context);
      return x;
    };
    const State truth = swept(start, 9, {});
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      EXPECT_TRUE(swept(start, 9, Context{&threads}) == truth) << count << " threads";
    }
    for (const std::size_t split : {1u, 31u, 32u, 33u, 128u}) {
      EXPECT_TRUE(swept(test::rows_of(start, 0, split), 9, {}) == test::rows_of(truth, 0, split)) << split;
      EXPECT_TRUE(swept(test::rows_of(start, split, 300 - split), 9 + split, {}) ==
                  test::rows_of(truth, split, 300 - split))
          << split;
    }
  });
}

TEST(Boltzmann, ManyUnitsOfAColourAreSharedAmongThreads) {
  // More than one task for each colour of a tile, and more than one slab of chains.
  const Boltzmann machine = random_boltzmann(Spin{3600}, grid_graph(60, 60, Border::kPeriodic), 0.5, 1);
  const State start = random_state(70, 3600, Spin::kLevels, 0.5, 2);
  const Draw draw = Key{3}.at(Purpose::kGibbs);
  State truth = start;
  machine.resample(0, {&truth, 1}, draw, 0, {});
  Threads threads(3);
  State x = start;
  machine.resample(0, {&x, 1}, draw, 0, Context{&threads});
  EXPECT_TRUE(x == truth);
}

TEST(Boltzmann, SumsDependNotOnThreads) {
  for_each_machine([](const Boltzmann& machine) {
    expect_same_sums_for_any_threads(machine, random_state(101, 70, levels_of(machine.units()), 0.4, 8));
  });
}

TEST(Boltzmann, StatisticsAddTheRowsByTheirWeights) {
  const Boltzmann machine = random_boltzmann(Bernoulli{4}, grid_graph(2, 2, Border::kOpen), 1.0, 1);
  const State rows = test::states_of({0b0011, 0b1111, 0b0101}, 4, Bernoulli::kLevels);
  Statistics out(8, 1.0);  // edges 01, 02, 13, 23, then units
  machine.add_statistics(rows, std::vector{1.0, 10.0, 100.0}, out, {});
  EXPECT_EQ(out, (Statistics{12, 111, 11, 11, 112, 12, 111, 11}));
  Statistics mean(8);
  const double share = 0.25;
  machine.add_statistics(rows, {&share, 1}, mean, {});
  EXPECT_EQ(mean, (Statistics{0.5, 0.5, 0.25, 0.25, 0.75, 0.5, 0.5, 0.25}));
}

TEST(ExactBoltzmann, ResultsDependNotOnThreads) {
  // 2^17 states are 32 blocks.
  const Boltzmann machine = random_boltzmann(Spin{17}, random_graph(17, 5.0, Key{1}), 0.5, 2);
  const double log_z = *exact_log_z(machine, {});
  const Statistics statistics = exact_statistics(machine, {});
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    EXPECT_EQ(*exact_log_z(machine, Context{&threads}), log_z);
    EXPECT_EQ(exact_statistics(machine, Context{&threads}), statistics);
  }
}

TEST(ExactBoltzmann, LargeEnergiesDoNotOverflow) {
  Boltzmann machine(Spin{13}, dense_graph(13));
  machine.update([](Parameters& p) { std::fill(p["couplings"].begin(), p["couplings"].end(), 100.0f); }, {});
  // Two ground states, all up and all down, of energy -7800; the next is 2400 above them.
  EXPECT_NEAR(*exact_log_z(machine, {}), 7800.0 + std::log(2.0), 1e-9);
  const Statistics statistics = exact_statistics(machine, {});
  for (std::size_t e = 0; e < 78; ++e) EXPECT_NEAR(statistics[e], 1.0, 1e-9);
  for (std::size_t i = 0; i < 13; ++i) EXPECT_NEAR(statistics[78 + i], 0.0, 1e-9);
}

TEST(ExactBoltzmann, TheLargestMachineIsExactToo) {
  // A ring of n spins has Z = (2 cosh K)^n + (2 sinh K)^n, and d log Z / dK is n times the mean of neighbours'
  // products.
  constexpr std::size_t n = kMaxEnumeratedUnits;
  std::vector<std::pair<std::size_t, std::size_t>> ring;
  for (std::size_t i = 0; i < n; ++i) ring.push_back({i, (i + 1) % n});
  Boltzmann machine(Spin{n}, graph_from_edges(n, ring));
  machine.update([](Parameters& p) { std::fill(p["couplings"].begin(), p["couplings"].end(), 1.5f); }, {});
  const double t = std::tanh(1.5), power = std::pow(t, n);
  EXPECT_NEAR(*exact_log_z(machine, {}), n * std::log(2.0 * std::cosh(1.5)) + std::log1p(power), 1e-10);
  const Statistics statistics = exact_statistics(machine, {});
  for (std::size_t e = 0; e < n; ++e) EXPECT_NEAR(statistics[e], (t + power / t) / (1.0 + power), 1e-10);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(statistics[n + i], 0.0, 1e-10);
}

TEST(ExactBoltzmann, RefusesWhatCannotBeEnumerated) {
  const Boltzmann machine(Spin{25}, grid_graph(5, 5, Border::kOpen));
  expect_parts(message_of<UsageError>([&] { exact_statistics(machine, {}); }), {"24 units", "found 25"});
  // 21^5 states are too few to be refused, 21^6 too many.
  EXPECT_TRUE(enumerable(Boltzmann(Potts{105, 21}, site_graph(grid_graph(1, 5, Border::kOpen), 21))));
  EXPECT_FALSE(enumerable(Boltzmann(Potts{126, 21}, site_graph(grid_graph(1, 6, Border::kOpen), 21))));
}

}  // namespace
}  // namespace ergodic
