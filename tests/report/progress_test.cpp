#include "ergodic/report/progress.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

const std::string kErase = "\x1b[K";

// A reporter with a clock that stands still until told, writing into memory.
class Fixture : public testing::Test {
 protected:
  Fixture() : out_(open_memstream(&buffer_, &size_)) {
    options_.out = out_;
    options_.clock = [this] { return now_; };
  }
  ~Fixture() override {
    reporter_.reset();
    std::fclose(out_);
    std::free(buffer_);
  }

  ProgressReporter& reporter() {
    if (!reporter_) reporter_ = std::make_unique<ProgressReporter>(options_);
    return *reporter_;
  }

  // What was written since the last call.
  std::string written() {
    std::fflush(out_);
    const std::string fresh(buffer_ + seen_, size_ - seen_);
    seen_ = size_;
    return fresh;
  }

  // The live line after `done` of 1000 updates at 100 a second.
  std::string live_after(std::uint64_t done) {
    now_ = 0.0;
    reporter().progress({0, 1000, per_epoch_});
    written();
    now_ = static_cast<double>(done) / 100.0;
    reporter().progress({done, 1000, per_epoch_});
    return written();
  }

  char* buffer_ = nullptr;
  std::size_t size_ = 0;
  std::size_t seen_ = 0;
  std::FILE* out_;
  double now_ = 0.0;
  std::uint64_t per_epoch_ = 0;
  ProgressOptions options_;
  std::unique_ptr<ProgressReporter> reporter_;
};

struct Plain : Fixture {};
struct Live : Fixture {
  Live() { options_.live = true; }
};

TEST_F(Plain, ARecordIsOneLineWithoutWhatIsZero) {
  reporter();
  now_ = 12.34;
  reporter().record({600, 1.0, {{"error", 0.123456}, {"dead", 0.0}, {"norm", 28777.4}}});
  reporter().record({900, 1.5, {{"error", 2.0}, {"norm", std::numeric_limits<double>::quiet_NaN()}}});
  EXPECT_EQ(written(),
            "[    12.3 s]  epoch 1  error=0.1235  norm=28777\n"
            "[    12.3 s]  epoch 1.5  error=2  norm=nan\n");
}

TEST_F(Plain, SaysThatItIsAliveAfterHalfAMinuteWithoutARecord) {
  per_epoch_ = 100;
  reporter().progress({0, 1000, per_epoch_});
  now_ = 29.9;
  reporter().progress({299, 1000, per_epoch_});
  EXPECT_EQ(written(), "");
  now_ = 30.0;
  reporter().progress({300, 1000, per_epoch_});
  EXPECT_EQ(written(), "[    30.0 s]   30%  epoch 4/10  10 updates/s  1:10 left\n");
  now_ = 59.0;
  reporter().record({590, 5.9, {}});
  EXPECT_EQ(written(), "[    59.0 s]  epoch 5.9\n");
  now_ = 88.0;
  reporter().progress({880, 1000, per_epoch_});
  EXPECT_EQ(written(), "");
}

TEST_F(Plain, QuietLeavesOnlyWarnings) {
  options_.quiet = true;
  reporter().record({1, 1.0, {{"error", 1.0}}});
  now_ = 100.0;
  reporter().progress({1, 10, per_epoch_});
  reporter().note("good to know");
  reporter().warn("two\nlines");
  EXPECT_EQ(written(), "warning: two lines\n");
}

TEST_F(Plain, ANoteIsALine) {
  reporter().note("two\nlines");
  EXPECT_EQ(written(), "two lines\n");
}

TEST_F(Plain, StopIsWhatTheFlagSays) {
  EXPECT_FALSE(reporter().stop_requested());
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  ProgressReporter with_flag(options_);
  EXPECT_FALSE(with_flag.stop_requested());
  stop = true;
  EXPECT_TRUE(with_flag.stop_requested());
}

TEST_F(Live, ShowsBarEpochRateAndTimeLeft) {
  per_epoch_ = 250;
  EXPECT_EQ(live_after(500), "\r[########........]  50%  epoch 3/4  100 updates/s  0:05 left" + kErase);
}

TEST_F(Live, TheLastEpochIsNotExceededAtTheEnd) {
  per_epoch_ = 300;  // 3 1/3 epochs: the fourth is a short one
  EXPECT_EQ(live_after(1000), "\r[################] 100%  epoch 4/4  100 updates/s" + kErase);
}

TEST_F(Live, WithoutATotalItCounts) {
  reporter().stage({"sampling", "sweeps"});
  reporter().progress({0, 0, per_epoch_});
  now_ = 2.0;
  written();
  reporter().progress({50, 0, per_epoch_});
  EXPECT_EQ(written(), "\r50 sweeps  sampling  25 sweeps/s" + kErase);
}

TEST_F(Live, SaysWhatIsDoneNow) {
  reporter().stage({"training", "updates"});
  per_epoch_ = 250;
  EXPECT_EQ(live_after(500), "\r[########........]  50%  training  epoch 3/4  100 updates/s  0:05 left" + kErase);
  reporter().stage({"mixing", "sweeps"});
  now_ = 6.0;
  reporter().progress({0, 40, 0});
  now_ = 7.0;
  written();
  reporter().progress({10, 40, 0});
  EXPECT_EQ(written(), "\r[####............]  25%  mixing  10 sweeps/s  0:03 left" + kErase);
}

TEST_F(Live, IsDrawnAtMostTenTimesASecond) {
  std::size_t drawn = 0;
  for (std::uint64_t done = 0; done < 1000; ++done) {
    now_ = static_cast<double>(done) / 1000.0;
    reporter().progress({done, 1000, per_epoch_});
    drawn += !written().empty();
  }
  EXPECT_GE(drawn, 9u);
  EXPECT_LE(drawn, 10u);
}

TEST_F(Live, TheRateFollowsRecentWorkSmoothly) {
  live_after(500);
  for (std::uint64_t k = 1; k <= 10; ++k) {  // ten seconds, three times the memory, at 10 a second
    now_ += 1.0;
    reporter().progress({500 + 10 * k, 1000, per_epoch_});
  }
  // 10 + 90 exp(-10 / 3) = 13.21
  EXPECT_NE(written().find("  13.21 updates/s"), std::string::npos);
}

TEST_F(Live, AResumedOrNewComputationStartsItsRateAfresh) {
  reporter().progress({900, 1000, per_epoch_});  // resumed: the first 900 took no time here
  now_ = 1.0;
  reporter().progress({910, 1000, per_epoch_});
  EXPECT_NE(written().find("10 updates/s  0:09 left"), std::string::npos);
  now_ = 2.0;
  reporter().progress({0, 50, per_epoch_});
  EXPECT_EQ(written(), "\r[................]   0%" + kErase);
}

TEST_F(Live, ANarrowTerminalLosesFieldsFromTheRight) {
  per_epoch_ = 250;
  const std::string bar = "[########........] ";
  const std::string full = " 50%  epoch 3/4  100 updates/s  0:05 left  error=0.1  norm=2";
  for (std::size_t width = 1; width <= 90; ++width) {
    options_.width = width;
    now_ = 0.0;
    reporter_.reset();
    reporter().record({1, 0.0, {{"error", 0.1}, {"norm", 2.0}}});
    std::string line = live_after(500);
    ASSERT_TRUE(line.starts_with("\r") && line.ends_with(kErase)) << line;
    line = line.substr(1, line.size() - 1 - kErase.size());
    EXPECT_LT(line.size(), width) << "the last column stays free";
    const std::string fields = line.starts_with(bar) ? line.substr(bar.size()) : line;
    EXPECT_TRUE(full.starts_with(fields)) << line;
    EXPECT_TRUE(fields.empty() || fields.size() == full.size() || full.substr(fields.size(), 2) == "  ") << line;
    EXPECT_EQ(fields == full, width > full.size()) << line;
    EXPECT_EQ(line.starts_with(bar), fields.size() + bar.size() < width) << line;
  }
}

TEST_F(Live, TheDefaultWidthIsEighty) {
  reporter().record({1, 0.0, {{std::string(46, 'x'), 1.0}}});  // with " 50%  100 updates/s  0:05 left  " and "=1": 80
  written();
  EXPECT_EQ(live_after(500), "\r[########........]  50%  100 updates/s  0:05 left" + kErase);
  reporter_.reset();
  now_ = 0.0;
  reporter().record({1, 0.0, {{std::string(45, 'x'), 1.0}}});
  written();
  EXPECT_EQ(live_after(500), "\r 50%  100 updates/s  0:05 left  " + std::string(45, 'x') + "=1" + kErase);
}

TEST_F(Live, RecordsAndWarningsStayAboveTheLiveLine) {
  const std::string live = live_after(500);
  reporter().warn("a chain does not mix");
  EXPECT_EQ(written(), "\r" + kErase + "warning: a chain does not mix\n" + live);
  reporter().record({500, 5.0, {{"error", 0.25}}});
  const std::string with_monitor = live.substr(0, live.size() - kErase.size()) + "  error=0.25" + kErase;
  const std::string text = written();
  EXPECT_TRUE(text.starts_with("\r" + kErase)) << text;
  EXPECT_NE(text.find("[     5.0 s]      5.00      0.25\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(with_monitor)) << text;
}

TEST_F(Live, RecordsAreATableWithItsHeadOnce) {
  const Record record{5, 1.5, {{"free_energy_gap", -3.5}, {"dead", 0.0}, {"pseudo_log_likelihood", -121.7}}};
  reporter().record(record);
  EXPECT_EQ(written(),
            "                            free                pseudo\n"
            "                          energy                   log\n"
            "                 epoch       gap      dead  likelihood\n"
            "[     0.0 s]      1.50      -3.5         0      -121.7\n");
  reporter().record(record);
  EXPECT_EQ(written(), "[     0.0 s]      1.50      -3.5         0      -121.7\n");
}

TEST_F(Live, ATableLosesItsLastColumnsOnANarrowTerminal) {
  options_.width = 40;
  reporter().record({5, 1.5, {{"free_energy_gap", -3.5}, {"dead", 0.0}, {"pseudo_log_likelihood", -121.7}}});
  EXPECT_EQ(written(),
            "                            free\n"
            "                          energy\n"
            "                 epoch       gap\n"
            "[     0.0 s]      1.50      -3.5\n");
}

TEST_F(Live, ThePartsOfAWholeShareOneBar) {
  reporter().stage({"free energies", ""});
  reporter().progress({0, 1000, 0});
  now_ = 1.0;
  reporter().progress({100, 1000, 0});
  written();
  reporter().stage({"log Z", ""});
  now_ = 2.0;
  reporter().progress({200, 1000, 0});
  const std::string text = written();  // the rate is known from the part before
  EXPECT_NE(text.find(" 20%  log Z  0:08 left"), std::string::npos) << text;
}

TEST_F(Live, FinishErasesTheLineOnce) {
  live_after(500);
  reporter().finish();
  EXPECT_EQ(written(), "\r" + kErase);
  reporter().warn("late");
  EXPECT_EQ(written(), "warning: late\n");
  reporter_.reset();
  EXPECT_EQ(written(), "");
}

TEST_F(Live, TheDestructorErasesTheLine) {
  live_after(500);
  reporter_.reset();
  EXPECT_EQ(written(), "\r" + kErase);
}

}  // namespace
}  // namespace ergodic
