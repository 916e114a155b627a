#include "ergodic/model/recall.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "ergodic/model/storage.hpp"
#include "model/patterns.hpp"

namespace ergodic {
namespace {

constexpr RecallOptions kInTurn{UpdateOrder::kRandom, 100}, kAtOnce{UpdateOrder::kSynchronous, 100};

State row_of(const State& rows, std::size_t row) {
  State out(1, rows.units(), rows.levels());
  for (std::size_t i = 0; i < rows.units(); ++i) out.bits().set(0, i, rows.bits().get(row, i));
  return out;
}

TEST(Recall, TheEnergyFallsAtEverySweepAndIsThatOfTheState) {
  // Sums are exact in this network, so there is nothing to forgive.
  const Hopfield network = test::random_network(90, 1);
  const State start = test::random_patterns(50, 90, 2);
  for (std::uint64_t sweeps = 1; sweeps < 12; ++sweeps) {
    const Recalled after = recall({UpdateOrder::kRandom, sweeps}, network, start, 0, Key{3}, {});
    for (std::size_t r = 0; r < 50; ++r) {
      const std::vector<double>& energies = after.paths[r].energies;
      ASSERT_EQ(energies.front(), test::defined_energy(network, start, r));
      ASSERT_EQ(energies.back(), test::defined_energy(network, after.rows, r));
      for (std::size_t s = 1; s < energies.size(); ++s) {
        const bool last = s + 1 == energies.size() && after.paths[r].ending == Ending::kAtRest;
        ASSERT_TRUE(last ? energies[s] == energies[s - 1] : energies[s] < energies[s - 1]);
      }
    }
  }
}

/// One sweep of one row straight from the definition, every energy computed anew; each flip must lower it.
void sweep_by_definition(const Hopfield& network, State& row, const Draw& draw, std::uint32_t number) {
  std::vector<std::size_t> order(network.units());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[draw.below(i, number, static_cast<std::uint32_t>(i))]);
  }
  for (const std::size_t i : order) {
    State flipped = row;
    flipped.bits().set(0, i, !row.bits().get(0, i));
    const double here = test::defined_energy(network, row, 0), there = test::defined_energy(network, flipped, 0);
    const double field = network.fields(row, {})(0, i);
    ASSERT_EQ(there < here, row.value(0, i) * field < 0.0);
    if (there < here) row = flipped;
  }
}

TEST(Recall, EveryStepIsTakenThatLowersTheEnergyAndNoOther) {
  const Hopfield network = test::random_network(37, 4);
  const State start = test::random_patterns(6, 37, 5);
  for (std::uint32_t r = 0; r < 6; ++r) {
    State row = row_of(start, r);
    for (std::uint64_t s = 0; s < 6; ++s) {
      sweep_by_definition(network, row, Key{8}.at(Purpose::kRecall, s), r);
      const Recalled after = recall({UpdateOrder::kRandom, s + 1}, network, start, 0, Key{8}, {});
      ASSERT_EQ(row_of(after.rows, r), row);
    }
  }
}

TEST(Recall, AStateAtRestOpposesNoField) {
  const Hopfield network = test::random_network(33, 6);
  const Recalled after = recall(kInTurn, network, test::random_patterns(40, 33, 7), 0, Key{1}, {});
  const Matrix<double> fields = network.fields(after.rows, {});
  for (std::size_t r = 0; r < 40; ++r) {
    ASSERT_EQ(after.paths[r].ending, Ending::kAtRest);
    for (std::size_t i = 0; i < 33; ++i) ASSERT_GE(after.rows.value(r, i) * fields(r, i), 0.0);
  }
  EXPECT_EQ(count_stable(network, after.rows, {}), 40u);
}

TEST(Recall, DamagedPatternsComeBack) {
  // The field of a damaged pattern is 0.8 of the signal; at a load of 0.01 the noise has a standard deviation of 0.1.
  const State patterns = test::random_patterns(10, 1000, 8);
  for (const StorageRule rule : {StorageRule::kHebb, StorageRule::kStorkey, StorageRule::kPseudoInverse}) {
    const Hopfield network = *store({rule, false}, patterns, {});
    for (const RecallOptions& options : {kInTurn, kAtOnce}) {
      const Recalled after = recall(options, network, test::with_flips(patterns, 100), 0, Key{2}, {});
      EXPECT_EQ(after.rows, patterns);
      for (const RecallPath& path : after.paths) EXPECT_EQ(path.ending, Ending::kAtRest);
    }
  }
}

TEST(Recall, ACycleOfTwoIsFoundWhenAllUnitsMoveAtOnce) {
  // Two units that want to be alike, and are not: each takes the other's place for ever.
  Matrix<float> couplings(2, 2);
  couplings(0, 1) = couplings(1, 0) = 1.0f;
  const Hopfield network(couplings, {0.0f, 0.0f});
  State start(1, 2, Spin::kLevels);
  start.bits().set(0, 0, true);
  const Recalled cycle = recall(kAtOnce, network, start, 0, Key{}, {});
  EXPECT_EQ(cycle.paths[0].ending, Ending::kCycle);
  EXPECT_EQ(cycle.paths[0].energies, (std::vector<double>{1.0, 1.0, 1.0}));
  EXPECT_EQ(cycle.rows, start);
  const Recalled in_turn = recall(kInTurn, network, start, 0, Key{}, {});
  EXPECT_EQ(in_turn.paths[0].ending, Ending::kAtRest);
  EXPECT_EQ(in_turn.paths[0].energies, (std::vector<double>{1.0, -1.0, -1.0}));
}

TEST(Recall, AllUnitsAtOnceFollowTheSignsOfTheirFields) {
  const Hopfield network = test::random_network(25, 9);
  const State start = test::random_patterns(30, 25, 10);
  const Matrix<double> fields = network.fields(start, {});
  const Recalled after = recall({UpdateOrder::kSynchronous, 1}, network, start, 0, Key{}, {});
  for (std::size_t r = 0; r < 30; ++r) {
    for (std::size_t i = 0; i < 25; ++i) {
      const bool expected = fields(r, i) == 0.0 ? start.bits().get(r, i) : fields(r, i) > 0.0;
      ASSERT_EQ(after.rows.bits().get(r, i), expected);
    }
  }
}

TEST(Recall, TheLimitOfSweepsHolds) {
  const Hopfield network = test::random_network(60, 11);
  const State start = test::random_patterns(20, 60, 12);
  for (const UpdateOrder order : {UpdateOrder::kRandom, UpdateOrder::kSynchronous}) {
    for (const RecallPath& path : recall({order, 1}, network, start, 0, Key{}, {}).paths) {
      EXPECT_EQ(path.sweeps(), 1u);
      EXPECT_EQ(path.ending, Ending::kLimit);
    }
  }
}

TEST(Recall, AUnitWithoutAFieldStays) {
  const Hopfield network(Matrix<float>(5, 5), std::vector<float>(5));
  const State start = test::random_patterns(8, 5, 13);
  for (const RecallOptions& options : {kInTurn, kAtOnce}) {
    const Recalled after = recall(options, network, start, 0, Key{}, {});
    EXPECT_EQ(after.rows, start);
    EXPECT_EQ(after.paths[0].sweeps(), 1u);
  }
}

TEST(Recall, AFieldThatIsZeroBeforeRoundingMovesNothing) {
  // 1e30 + 1e-3 - 1e30 is 0 in double: what is left of such a sum says nothing.
  Matrix<float> couplings(4, 4);
  const float parts[] = {0.0f, 1e30f, 1e-3f, -1e30f};
  for (std::size_t j = 1; j < 4; ++j) couplings(0, j) = couplings(j, 0) = parts[j];
  const Hopfield network(couplings, std::vector<float>{0, 3e30f, 3e30f, 3e30f});  // the others are held up
  State start(1, 4, Spin::kLevels);
  for (std::size_t i = 1; i < 4; ++i) start.bits().set(0, i, true);
  EXPECT_EQ(recall(kInTurn, network, start, 0, Key{}, {}).rows, start);
}

TEST(Recall, ARowDrawsItsOwnNumbersWhereverItStands) {
  const Hopfield network = test::random_network(50, 14);
  const State rows = test::random_patterns(9, 50, 15);
  const Recalled together = recall(kInTurn, network, rows, 0, Key{5}, {});
  bool other_key_differs = false;
  for (std::size_t r = 0; r < 9; ++r) {
    EXPECT_EQ(recall(kInTurn, network, row_of(rows, r), r, Key{5}, {}).rows, row_of(together.rows, r));
    other_key_differs |= recall(kInTurn, network, row_of(rows, r), r, Key{6}, {}).rows != row_of(together.rows, r);
  }
  EXPECT_TRUE(other_key_differs);
}

TEST(Recall, TheSameForAnyNumberOfThreads) {
  const Hopfield network = test::random_network(77, 16);
  const State rows = test::random_patterns(60, 77, 17);
  for (const RecallOptions& options : {kInTurn, kAtOnce}) {
    const Recalled alone = recall(options, network, rows, 0, Key{7}, {});
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      const Recalled shared = recall(options, network, rows, 0, Key{7}, Context{&threads});
      EXPECT_EQ(shared.rows, alone.rows);
      for (std::size_t r = 0; r < 60; ++r) {
        EXPECT_EQ(shared.paths[r].energies, alone.paths[r].energies);
        EXPECT_EQ(shared.paths[r].ending, alone.paths[r].ending);
      }
    }
  }
}

}  // namespace
}  // namespace ergodic
