#include "ergodic/run/recall.hpp"

#include <gtest/gtest.h>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/rbm.hpp"
#include "model/patterns.hpp"
#include "run/listener.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{6};

/// A network that stores five patterns of 200 units.
struct Memory {
  explicit Memory(const std::string& rule = "pseudo-inverse")
      : patterns(test::random_patterns(5, 200, 1)),
        machine(kind_named("hopfield").make({{"rule", rule}}, Dataset{"patterns", patterns.bits()}, kKey, {})) {}

  State patterns;
  std::unique_ptr<Machine> machine;
};

TEST(Recall, DamagedPatternsComeBack) {
  for (const char* rule : {"pseudo-inverse", "storkey", "hebb", "modern"}) {
    const Memory memory(rule);
    const RecallResult found = recall_rows(*memory.machine, memory.patterns, 0.2, {}, kKey, {});
    EXPECT_FALSE(found.stopped);
    EXPECT_NEAR(*found.overlap_before, 0.6, 0.011) << rule;  // a fifth of the units of each row, but for rounding
    EXPECT_GT(*found.overlap_after, 0.99) << rule;
    EXPECT_EQ(found.converged, 5u) << rule;
    EXPECT_EQ(found.cycles, 0u) << rule;
    EXPECT_LT(found.energy_after, found.energy_before) << rule;
    EXPECT_FALSE(found.given == memory.patterns);
    ASSERT_EQ(found.values.rows(), 5u);
    for (std::size_t r = 0; r < 5; ++r) {
      for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_GT(found.values(r, i) * memory.patterns.value(r, i), 0.0) << rule << " " << r << " " << i;
      }
    }
  }
}

TEST(Recall, WithoutDamageAMemoryStays) {
  const Memory memory;
  const RecallResult found = recall_rows(*memory.machine, memory.patterns, 0.0, {}, kKey, {});
  EXPECT_TRUE(found.given == memory.patterns);
  EXPECT_FALSE(found.overlap_before.has_value());
  EXPECT_FALSE(found.overlap_after.has_value());
  EXPECT_EQ(found.energy_after, found.energy_before);
}

TEST(Recall, ARowDoesNotDependOnThoseBesideIt) {
  // More rows than are recalled at a time.
  const Memory memory;
  State rows(600, 200, Spin::kLevels);
  for (std::size_t r = 0; r < 600; ++r) rows.set_row(r, memory.patterns, r % 5);
  const RecallResult found = recall_rows(*memory.machine, rows, 0.3, {UpdateOrder::kRandom, 100}, kKey, {});
  ASSERT_EQ(found.values.rows(), 600u);
  const RecalledRows alone =
      *memory.machine->recall({UpdateOrder::kRandom, 100}, found.given.rows(300, 1), 300, kKey, {});
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(found.values(300, i), alone.values(0, i));
}

TEST(Recall, AStopLeavesNothingToSee) {
  const Memory memory;
  test::Listener listener;
  listener.stop_after = 0;
  const RecallResult found = recall_rows(*memory.machine, memory.patterns, 0.2, {}, kKey, Context{nullptr, &listener});
  EXPECT_TRUE(found.stopped);
  EXPECT_EQ(found.values.rows(), 0u);
  EXPECT_EQ(listener.stage_names(), (std::vector<std::string>{"recall"}));
}

TEST(Recall, OtherMachinesAreRefusedByTheirTitle) {
  const RbmMachine rbm{Rbm(Spin{200}, Bernoulli{3})};
  expect_parts(message_of<UsageError>([&] { recall_rows(rbm, Memory().patterns, 0.2, {}, kKey, {}); }),
               {"Hopfield network", "restricted Boltzmann machine", "ergodic sample"});
}

}  // namespace
}  // namespace ergodic
