#include "ergodic/model/graph_sweep.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::random_matrix, test::random_state;

/// A machine of two-valued units on a graph with lists.
struct Machine {
  Graph graph;
  Matrix<float> couplings, bias;  // a row each
  Levels levels;
  Colours colours = colours_of(graph);
  AlignedVector<ThresholdTable> thresholds = {};

  GraphFields fields() const { return {graph, couplings.row(0), bias.row(0)}; }
  void renew() { make_thresholds({graph.neighbour_lists(), couplings.row(0), bias.row(0), levels}, thresholds, {}); }
};

/// Colour by colour, unit by unit, each by its field given all others.
State defined_sweep(State x, const Machine& machine, const Draw& draw, std::uint64_t first_chain, FixedUnits fixed) {
  for (const std::vector<std::uint32_t>& colour : machine.colours) {
    for (const std::uint32_t i : colour) {
      for (std::size_t r = 0; r < x.chains(); ++r) {
        if (fixed.at(r, i)) continue;
        const double field = machine.fields().of(i, [&](std::size_t j) { return x.value(r, j); });
        const double p = sigmoid(x.levels().gap() * field);
        x.bits().set(r, i, coin(draw, static_cast<std::uint32_t>(first_chain + r), i, p));
      }
    }
  }
  return x;
}

void expect_defined_sweep(const State& start, Machine& machine, std::uint64_t seed, FixedUnits fixed = {}) {
  const Draw draw = Key{seed}.at(Purpose::kGibbs, seed);
  const State truth = defined_sweep(start, machine, draw, 50, fixed);
  test::for_each_target([&] {
    machine.renew();
    State x = start;
    sweep_colours(x, machine.fields(), {machine.colours, machine.thresholds, fixed}, draw, 50, {});
    ASSERT_TRUE(x == truth) << x.chains() << " chains of " << x.units() << " units, low " << x.levels().low;
  });
}

/// Compares with the definition at one size after another, with other inputs and other graphs each time. Units have
/// four neighbours at most, or more, or none.
class SweepCases {
 public:
  void check(std::size_t chains, std::size_t units) {
    const double degree = kDegrees[varied_.turn() % std::size(kDegrees)];
    Graph graph = random_graph(units, std::min(degree, static_cast<double>(units - 1) / 2.0), Key{varied_.turn()});
    if (graph.site_units() > 0 && graph.edges() > 0) return varied_.next();  // it has no lists
    const Levels levels = varied_.pairing().first;
    const std::size_t edges = graph.edges();
    Machine machine{std::move(graph), varied_.weights(1, edges), varied_.bias(units), levels};
    expect_defined_sweep(random_state(chains, units, levels, varied_.density(), varied_.turn()), machine,
                         varied_.turn());
    varied_.next();
  }

 private:
  static constexpr double kDegrees[] = {0.0, 1.5, 3.0, 4.0, 5.0, 6.5};
  test::VariedInputs varied_;
};

TEST(GraphSweep, BitsAreThoseOfTheDefinitionForAnyNumberOfUnits) {
  SweepCases cases;
  for (std::size_t units = 1; units <= 130; ++units) {
    for (const std::size_t chains : {9u, 33u}) ASSERT_NO_FATAL_FAILURE(cases.check(chains, units));
  }
}

TEST(GraphSweep, BitsAreThoseOfTheDefinitionForAnyNumberOfChains) {
  SweepCases cases;
  for (std::size_t chains = 1; chains <= 130; ++chains) ASSERT_NO_FATAL_FAILURE(cases.check(chains, 50));
}

TEST(GraphSweep, BitsAreThoseOfTheDefinitionForCouplingsOfAnySize) {
  SweepCases cases;
  for (std::size_t k = 0; k < 630; ++k) ASSERT_NO_FATAL_FAILURE(cases.check(20, 40));
}

TEST(GraphSweep, BitsAreThoseOfTheDefinitionWhereLargeCouplingsCancel) {
  // Each unit of one side has all units of the other as neighbours. Its bias takes away what they add, so that a field
  // made of thousands is of order one: rounded to float at every step, it is off by up to 2^-11 each time, which moves
  // the upper 16 random bits by 8 or more. Without a margin some of the 40,000 draws of a case would be wrong.
  for (const Levels levels : {kBinary, kSpins}) {
    for (const std::size_t degree : {4u, 6u}) {
      for (const float size : {100.0f, 1e3f, 1e4f}) {
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (std::size_t i = 0; i < 20; ++i) {
          for (std::size_t j = 0; j < degree; ++j) pairs.emplace_back(i, 20 + j);
        }
        Machine machine{graph_from_edges(20 + degree, pairs), random_matrix(1, pairs.size(), 3, 0.3f * size),
                        random_matrix(1, 20 + degree, 4), levels};
        for (std::size_t e = 0; e < pairs.size(); ++e) {
          const bool high = pairs[e].second % 2 == 0;
          machine.bias(0, pairs[e].first) -= machine.couplings(0, e) * (high ? levels.high : levels.low);
        }
        State start = random_state(200, 20 + degree, levels, 0.5, 5);
        Bits fixed(1, 20 + degree);
        for (std::size_t j = 0; j < degree; ++j) {
          fixed.set(0, 20 + j, true);
          for (std::size_t r = 0; r < 200; ++r) start.bits().set(r, 20 + j, (20 + j) % 2 == 0);
        }
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
          ASSERT_NO_FATAL_FAILURE(expect_defined_sweep(start, machine, seed, FixedUnits(fixed)));
        }
      }
    }
  }
}

Machine lattice(Levels levels) {
  Graph graph = grid_graph(10, 9, Border::kPeriodic);  // of three colours, with three words of units
  Matrix<float> couplings = random_matrix(1, graph.edges(), 3, 0.4f), bias = random_matrix(1, graph.units(), 4, 0.3f);
  return {std::move(graph), std::move(couplings), std::move(bias), levels};
}

TEST(GraphSweep, FixedUnitsStayAndTheOthersAreThoseOfTheDefinition) {
  for (const Levels levels : {kBinary, kSpins}) {
    Machine machine = lattice(levels);
    const State start = random_state(70, 90, levels, 0.5, 5);
    for (const Bits& fixed : {test::random_bits(1, 90, 0.3, 6), test::random_bits(70, 90, 0.7, 7), Bits(1, 90)}) {
      ASSERT_NO_FATAL_FAILURE(expect_defined_sweep(start, machine, 9, FixedUnits(fixed)));
    }
  }
}

TEST(GraphSweep, BitsDependNeitherOnThreadsNorOnTheSplitOfTheChains) {
  for (const Levels levels : {kBinary, kSpins}) {
    Machine machine = lattice(levels);
    machine.renew();
    const Draw draw = Key{6}.at(Purpose::kGibbs);
    const State start = random_state(100, 90, levels, 0.5, 5), truth = defined_sweep(start, machine, draw, 7, {});
    const auto swept = [&](State x, std::uint64_t first_chain, const Context& context) {
      sweep_colours(x, machine.fields(), {machine.colours, machine.thresholds}, draw, first_chain, context);
      return x;
    };
    test::for_each_target([&] {
      for (const std::size_t count : {1u, 2u, 3u, 6u}) {  // 6 have not enough tiles of chains
        Threads threads(count);
        ASSERT_TRUE(swept(start, 7, Context{&threads}) == truth) << count << " threads";
      }
      for (const std::size_t split : {1u, 31u, 32u, 33u, 99u}) {
        ASSERT_TRUE(swept(test::rows_of(start, 0, split), 7, {}) == test::rows_of(truth, 0, split)) << split;
        ASSERT_TRUE(swept(test::rows_of(start, split, 100 - split), 7 + split, {}) ==
                    test::rows_of(truth, split, 100 - split))
            << split;
      }
    });
  }
}

TEST(GraphSweep, ThreadsShareTheUnitsOfAFewChains) {
  // Enough units for several threads to load, draw and store a part each.
  const Levels levels = kSpins;
  Graph graph = grid_graph(70, 100, Border::kOpen);
  Matrix<float> couplings = random_matrix(1, graph.edges(), 3, 0.4f), bias = random_matrix(1, graph.units(), 4, 0.3f);
  Machine machine{std::move(graph), std::move(couplings), std::move(bias), levels};
  machine.renew();
  const Draw draw = Key{6}.at(Purpose::kGibbs);
  const State start = random_state(3, 7000, levels, 0.5, 5), truth = defined_sweep(start, machine, draw, 7, {});
  Threads threads(3);
  State x = start;
  sweep_colours(x, machine.fields(), {machine.colours, machine.thresholds}, draw, 7, Context{&threads});
  EXPECT_TRUE(x == truth);
}

}  // namespace
}  // namespace ergodic
