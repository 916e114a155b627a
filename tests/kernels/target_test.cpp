#include "ergodic/kernels/target.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <set>

#include "ergodic/core/error.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

TEST(Target, ThePlainOneIsAlwaysThereAndLast) {
  const std::vector<std::string> targets = available_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.back(), "plain");
  EXPECT_EQ(std::set<std::string>(targets.begin(), targets.end()).size(), targets.size());
}

TEST(Target, TheBestOneIsActiveUnlessAnotherIsChosen) {
  EXPECT_EQ(active_target(), available_targets().front());
  test::for_each_target([] {});
  EXPECT_EQ(active_target(), available_targets().front());
}

TEST(Target, TheChosenOneIsActive) {
  std::size_t k = 0;
  test::for_each_target([&] {
    EXPECT_EQ(active_target(), available_targets()[k++]);
    EXPECT_EQ(plain_target(), active_target() == "plain");
  });
  EXPECT_EQ(k, available_targets().size());
}

TEST(Target, AnUnknownOneIsRefusedByNamingThoseThereAre) {
  const std::string before = active_target();
  try {
    use_target("nonsense");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("nonsense"), std::string::npos) << message;
    for (const std::string& target : available_targets()) EXPECT_NE(message.find(target), std::string::npos) << message;
  }
  EXPECT_THROW(use_target(""), UsageError);
  EXPECT_EQ(active_target(), before);
}

TEST(Target, NeitherListingTheTargetsNorARefusedOneChangesWhatRuns) {
  test::for_each_target([] {
    const std::size_t chosen = hwy::GetChosenTarget().GetIndex();
    available_targets();
    EXPECT_EQ(hwy::GetChosenTarget().GetIndex(), chosen);
    EXPECT_THROW(use_target("nonsense"), UsageError);
    EXPECT_EQ(hwy::GetChosenTarget().GetIndex(), chosen);
  });
}

}  // namespace
}  // namespace ergodic
