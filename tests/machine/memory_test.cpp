#include "ergodic/machine/memory.hpp"

#include <gtest/gtest.h>

#include "ergodic/data/synthetic.hpp"
#include "ergodic/trainer/network_learner.hpp"

namespace ergodic {
namespace {

struct Notes : Observer {
  void note(const std::string& text) override { said.push_back(text); }
  std::vector<std::string> said;
};

TEST(Memory, ANetworkIsAnnouncedIfItTakesMuch) {
  const Dataset data = bars_and_stripes(4);
  Notes notes;
  announce_memory(ClassifierSize{{16, 100, 2}, 1, 100, false, &data}, {nullptr, &notes});
  EXPECT_TRUE(notes.said.empty());
  announce_memory(ClassifierSize{{16, 3000, 3000, 2}, 1, 100, false, &data}, {nullptr, &notes});
  ASSERT_EQ(notes.said.size(), 1u);
  // 9.06 million parameters of 44 bytes, and little else.
  EXPECT_EQ(notes.said[0], "a network of 16, 3000, 3000, 2 units: about 410 MB");
}

TEST(Memory, AnOptimiserThatKeepsMoreTakesMore) {
  const Dataset data = bars_and_stripes(4);
  const auto bytes = [&](std::size_t kept) {
    return bytes_for_training(ClassifierSize{{16, 1000, 2}, kept, 1, false, &data});
  };
  EXPECT_NEAR(bytes(2) - bytes(1), 16.0 * (17 * 1000 + 1001 * 2), 1.0);
}

/// What hidden layers make of the rows is drawn anew for each batch, and not held.
TEST(Memory, PreTrainingHoldsTheRowsOnceMore) {
  Dataset data;
  data.values = Bits(1'000'000, 16);
  const ClassifierSize without{{16, 10, 5, 2}, 1, 1, false, &data}, with{{16, 10, 5, 2}, 1, 1, true, &data};
  const auto rows = static_cast<double>(data.bytes().size());
  EXPECT_NEAR(bytes_for_training(with) - bytes_for_training(without), rows, 0.01 * rows);
}

}  // namespace
}  // namespace ergodic
