#include "ergodic/core/spelling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ergodic {
namespace {

TEST(Spelling, CountsLettersThatDiffer) {
  EXPECT_EQ(edit_distance("train", "train"), 0u);
  EXPECT_EQ(edit_distance("trian", "train"), 1u);  // swapped
  EXPECT_EQ(edit_distance("hiden", "hidden"), 1u);
  EXPECT_EQ(edit_distance("Spin", "spin"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
}

TEST(Spelling, NamesWhatWasMeant) {
  const std::vector<std::string> names{"hidden", "hidden-type", "held-out", "epochs", "l1"};
  EXPECT_EQ(nearest_name("hiden", names), "hidden");
  EXPECT_EQ(nearest_name("epoch", names), "epochs");
  EXPECT_EQ(nearest_name("hidden-t", names), "hidden");  // two letters more are nearer than three fewer
  EXPECT_EQ(nearest_name("held", names), "held-out");    // begins so
  EXPECT_EQ(nearest_name("nonsense", names), "");
  EXPECT_EQ(nearest_name("x", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(did_you_mean("hiden", names, "--"), "; did you mean --hidden?");
  EXPECT_EQ(did_you_mean("nonsense", names), "");
}

}  // namespace
}  // namespace ergodic
