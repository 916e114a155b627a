#include "ergodic/estimator/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_rbm.hpp"

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

/// A machine with hidden units, and rows.
struct HiddenSetting {
  Boltzmann machine{Spin{9}, dense_graph(9), 4};
  State rows{400, 4, Spin::kLevels};
  double truth = 0.0;  // the mean of log Z(x)

  HiddenSetting() {
    const Draw draw = Key{4}.at(Purpose::kTest);
    machine.update(
        [&](Parameters& p) {
          for (std::uint32_t k = 0; k < p.values().size(); ++k) {
            p.values()[k] = static_cast<float>(0.5 * draw.normal(0, k));
          }
        },
        {});
    for (std::uint32_t r = 0; r < 400; ++r) {
      for (std::uint32_t i = 0; i < 4; ++i) rows.bits().set(r, i, draw.uniform(r + 1, i) < 0.5);
    }
    truth = -mean_with_error(*exact_free_energy(machine, rows, {})).value;
  }
  /// What a budget finds at the first rows.
  std::optional<ClampedLogZ> spent(const Budget& budget, std::size_t count, const Context& context,
                                   const Clock& clock = steady_seconds) const {
    ClampedRows clamped(machine, rows.rows(0, count), Key{1});
    return spend_on_rows(budget, clamped, context, clock);
  }
};

TEST(Budget, IsSpentOnRowsWithHiddenUnits) {
  const HiddenSetting setting;
  Listener listener;
  const Context context{nullptr, &listener};
  const auto found = setting.spent({100, 0.0}, 400, context);
  ASSERT_TRUE(found);
  // A fiftieth of 100 temperatures is fewer than 50, and a quarter of the work fewer than a hundred rows.
  EXPECT_EQ(found->rows, 100u);
  EXPECT_EQ(found->mean.temperatures, 50u);
  const double error = std::hypot(found->mean.log_z.standard_error, found->row_error);
  EXPECT_NEAR(found->mean.log_z.value, setting.truth, 4.0 * error);
  ASSERT_EQ(listener.notes.size(), 1u);
  EXPECT_NE(listener.notes[0].find("100 of 400 rows, 50 temperatures"), std::string::npos);
  Threads threads(3);
  const auto again = setting.spent({100, 0.0}, 400, Context{&threads});
  EXPECT_EQ(again->mean.log_z.value, found->mean.log_z.value);
  const auto more = setting.spent({5000, 0.0}, 400, {});
  EXPECT_EQ(more->mean.temperatures, 100u);
  EXPECT_GT(more->rows, 100u);
  listener.left = 3;
  EXPECT_FALSE(setting.spent({100, 0.0}, 400, context));
}

TEST(Budget, OfSecondsIsTurnedIntoRowsFirst) {
  // The clock goes on by a second with each look at it: four rows of 50 temperatures seem to take that long.
  const HiddenSetting setting;
  double now = 0.0;
  const Clock clock = [&] { return now += 1.0; };
  const auto rows_for = [&](double seconds) { return *setting.spent({0, seconds}, 40, {}, clock); };
  EXPECT_EQ(rows_for(0.1).rows, 16u);
  EXPECT_EQ(rows_for(4.0 * (1.0 + 5.0)).rows, 20u);  // of a quarter, after the first four
  EXPECT_EQ(rows_for(4.0 * (1.0 + 20.0)).rows, 40u);
  EXPECT_EQ(rows_for(4.0 * (1.0 + 20.0)).mean.temperatures, 100u);
  EXPECT_EQ(after_rows({0, 4.0}).seconds, 3.0);
}

}  // namespace
}  // namespace ergodic
