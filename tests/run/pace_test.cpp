#include "ergodic/run/pace.hpp"

#include <gtest/gtest.h>

#include "ergodic/core/stopped.hpp"
#include "ergodic/data/planar.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/machine/kinds.hpp"
#include "run/listener.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{3};

/// A clock that a trial moves by a second each time it asks: whatever is timed takes one.
struct Ticking {
  double now = 0.0;
  Clock clock() {
    return [this] { return now += 1.0; };
  }
};

std::vector<float> values_of(const Machine& machine) {
  return {machine.parameters().values().begin(), machine.parameters().values().end()};
}

TEST(Pace, TheMachineIsAfterwardsAsItWasAndLearnsTheSame) {
  for (const char* kind : {"rbm", "boltzmann", "dbn", "dbm", "neural"}) {
    Settings settings;
    if (std::string_view(kind) == "dbn" || std::string_view(kind) == "dbm") settings["hidden"] = Counts{6, 5};
    const Dataset given = std::string_view(kind) == "neural" ? two_moons(100, 0) : bars_and_stripes(3);
    const auto untried = kind_named(kind).make(settings, given, kKey, {});
    const auto tried = kind_named(kind).make(settings, given, kKey, {});
    const TrainingData data{untried->rows_from(given), {}};  // with their labels, if the machine learns them
    Ticking ticking;
    TrainOptions options;
    EXPECT_GE(updates_within(1000.0, *tried, data, options, kKey, {}, ticking.clock()), 1u);
    EXPECT_EQ(values_of(*tried), values_of(*untried)) << kind;
    options.updates = 8;
    fit(*tried, data, options, kKey, {});
    fit(*untried, data, options, kKey, {});
    EXPECT_EQ(values_of(*tried), values_of(*untried)) << kind;
  }
}

TEST(Pace, UpdatesAndRecordsFillTheTime) {
  // Two updates take a second at first, so that the two seconds that are left of the trial have time for four. They are
  // tried in two places, an update alone and then two: a second each. So an update takes half a second, what is fixed
  // one for both places, and a record one. 16 rows are an epoch of one update, and records are made every 17 updates,
  // if these are 1700 or a little more: 1000 seconds are 1 + 107 records and 1785 updates.
  TrainingData data{bars_and_stripes(3), {}};
  const auto machine = kind_named("rbm").make({}, data.train, kKey, {});
  Ticking ticking;
  const std::uint64_t found = updates_within(1000.0, *machine, data, {}, kKey, {}, ticking.clock());
  EXPECT_NEAR(static_cast<double>(found), 1785.0, 15.0);
}

TEST(Pace, ATrialThatIsStoppedSaysSo) {
  TrainingData data{bars_and_stripes(3), {}};
  const auto machine = kind_named("rbm").make({}, data.train, kKey, {});
  test::Listener listener;
  listener.stop_after = 0;
  EXPECT_THROW(updates_within(1.0, *machine, data, {}, kKey, Context{nullptr, &listener}), Stopped);
}

}  // namespace
}  // namespace ergodic
