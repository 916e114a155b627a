#include "ergodic/run/budget.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/model/exact.hpp"

namespace ergodic {
namespace {

TEST(Budget, IsTemperaturesOrSeconds) {
  EXPECT_EQ(budget_from("20000").temperatures, 20000u);
  EXPECT_EQ(budget_from("30s").temperatures, 0u);
  EXPECT_EQ(budget_from("30s").seconds, 30.0);
  EXPECT_EQ(budget_from("0.5s").seconds, 0.5);
  for (const char* wrong :
       {"", "s", "0", "-5", "1.5", "many", "30 s", "30m", "0s", "-1s", "nans", "infs", "5000000000"}) {
    EXPECT_THROW(budget_from(wrong), UsageError) << wrong;
  }
}

/// Hears what is said, and asks to stop after so many progresses.
struct Listener : Observer {
  std::vector<std::string> notes;
  std::uint64_t left = ~std::uint64_t{0};
  void progress(const Progress&) override { --left; }
  void note(const std::string& text) override { notes.push_back(text); }
  bool stop_requested() override { return left == 0; }
};

/// A small machine, and rows of all its states.
struct Setting {
  Rbm rbm = test::random_machine(Bernoulli{6}, Bernoulli{5}, 0.5, 1);
  State rows{64, 6, Bernoulli::kLevels};
  std::unique_ptr<Path> path;

  Setting() {
    for (std::size_t r = 0; r < 64; ++r) {
      for (std::size_t i = 0; i < 6; ++i) rows.bits().set(r, i, (r >> i) & 1u);
    }
    path = path_to(rbm, rows, {});
  }
};

TEST(Budget, IsSpentInRoundsThatGrow) {
  const Setting setting;
  Listener listener;
  const auto found = spend({1600, 0.0}, *setting.path, setting.rows, Key{1}, Context{nullptr, &listener});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->stopped);
  EXPECT_EQ(found->found.temperatures, 1600u);
  ASSERT_EQ(listener.notes.size(), 3u);
  EXPECT_NE(listener.notes[0].find(" 100 temperatures"), std::string::npos);
  EXPECT_NE(listener.notes[1].find(" 400 temperatures"), std::string::npos);
  EXPECT_NEAR(found->found.log_z.value, *exact_log_z(setting.rbm, {}), 4.0 * found->found.log_z.standard_error);
  EXPECT_EQ(spend({1, 0.0}, *setting.path, setting.rows, Key{1}, {})->found.temperatures, 1u);
}

TEST(Budget, OfSecondsIsTurnedIntoTemperaturesByTheClock) {
  // The clock goes on by a hundredth of a second with each look at it: a hundred temperatures seem to take that long.
  const Setting setting;
  double now = 0.0;
  const Clock clock = [&] { return now += 0.01; };
  const auto found = spend({0, 0.2}, *setting.path, setting.rows, Key{1}, {}, clock);
  ASSERT_TRUE(found);
  EXPECT_GT(found->found.temperatures, 1000u);
  EXPECT_LT(found->found.temperatures, 100000u);
}

TEST(Budget, AStopGivesThePartialAnswer) {
  const Setting setting;
  Listener listener;
  listener.left = 1000;  // the first round has 2 * 100 + 100 steps, the second 2 * 400 + 100
  const auto found = spend({1600, 0.0}, *setting.path, setting.rows, Key{1}, Context{nullptr, &listener});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->stopped);
  EXPECT_EQ(found->found.temperatures, 100u);
  listener = Listener();
  listener.left = 10;
  EXPECT_FALSE(spend({1600, 0.0}, *setting.path, setting.rows, Key{1}, Context{nullptr, &listener}).has_value());
}

}  // namespace
}  // namespace ergodic
