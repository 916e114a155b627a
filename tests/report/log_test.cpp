#include "ergodic/report/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

namespace fs = std::filesystem;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Log : public testing::Test {
 protected:
  Log() {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::temp_directory_path() / ("ergodic_log_" + test + "_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    path_ = folder_ / "log.jsonl";
  }
  ~Log() override { fs::remove_all(folder_); }

  Clock clock() {
    return [this] { return now_; };
  }
  std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void set_content(const std::string& text) { std::ofstream(path_) << text; }

  // The message of the DataError that f throws; empty if it throws none.
  template <class F>
  static std::string data_error_of(const F& f) {
    try {
      f();
    } catch (const DataError& error) {
      return error.what();
    }
    return {};
  }

  fs::path folder_, path_;
  double now_ = 100.0;
};

std::string row(int update) {
  return "{\"update\":" + std::to_string(update) + ",\"epoch\":1.0,\"seconds\":" + std::to_string(update) +
         ".5,\"error\":0.5}\n";
}

TEST_F(Log, EachRecordIsOnTheDiskAsOneLineAtOnce) {
  JsonLog log(path_, std::nullopt, clock());
  EXPECT_EQ(content(), "");
  now_ = 102.31;
  log.record({600, 1.0, {{"error", 0.0412}, {"a \"b\"", -3.0}}});
  const std::string first = "{\"update\":600,\"epoch\":1.0,\"seconds\":2.31,\"error\":0.0412,\"a \\\"b\\\"\":-3.0}\n";
  EXPECT_EQ(content(), first);
  log.record({700, 1.5, {{"error", kNan}, {"norm", kInfinity}}});
  EXPECT_EQ(content(), first + "{\"update\":700,\"epoch\":1.5,\"seconds\":2.31,\"error\":null,\"norm\":null}\n");
}

TEST_F(Log, AResumedRunTakesWhateverWasWritten) {
  {
    JsonLog log(path_);
    log.record({1, 0.1, {{"b", 1.0 / 3.0}, {"a", kNan}}});
    log.record({18446744073709551615u, 1e9, {}});
  }
  const std::string written = content();
  JsonLog(path_, LogPlace{0, 18446744073709551615u});
  EXPECT_EQ(content(), written);
}

TEST_F(Log, AFreshRunTruncates) {
  set_content(row(1));
  JsonLog log(path_);
  EXPECT_EQ(content(), "");
}

TEST_F(Log, AResumedRunKeepsTheRowsUpToItsCheckpoint) {
  set_content(row(100) + row(200) + row(300) + row(400));
  JsonLog log(path_, LogPlace{0, 200}, clock());
  EXPECT_EQ(content(), row(100) + row(200));
  now_ += 1.25;
  log.record({300, 3.0, {}});
  EXPECT_EQ(content(), row(100) + row(200) + "{\"update\":300,\"epoch\":3.0,\"seconds\":201.75}\n")
      << "the seconds go on from the last row that was kept";
}

std::string rescue_row(int back_to, int rescues) {
  return "{\"update\":" + std::to_string(back_to) +
         ",\"epoch\":1.0,\"seconds\":9.0,\"rescues\":" + std::to_string(rescues) + ".0}\n";
}

TEST_F(Log, AResumedRunKnowsHowOftenItWentBack) {
  const std::string before = row(100) + row(200), after = rescue_row(100, 1) + row(200);
  const std::string all = before + after + row(300) + rescue_row(100, 2) + row(200);
  const auto kept = [&](LogPlace place) {
    set_content(all);
    JsonLog(path_, place);
    return content();
  };
  EXPECT_EQ(kept({0, 250}), before);
  EXPECT_EQ(kept({1, 100}), before + rescue_row(100, 1));
  EXPECT_EQ(kept({1, 250}), before + after);
  EXPECT_EQ(kept({2, 250}), all);
}

TEST_F(Log, AResumedRunDropsATornLine) {
  const std::string torn = row(300).substr(0, 25);
  set_content(row(100) + row(200) + torn);
  JsonLog(path_, LogPlace{0, 500});
  EXPECT_EQ(content(), row(100) + row(200));
}

TEST_F(Log, AResumedRunWithNothingToDropLeavesTheFileAsItIs) {
  set_content(row(100) + row(200));
  JsonLog(path_, LogPlace{0, 200});
  EXPECT_EQ(content(), row(100) + row(200));
}

TEST_F(Log, AResumedRunWhoseLogIsGoneBeginsANewOne) {
  JsonLog log(path_, LogPlace{0, 200});
  EXPECT_EQ(content(), "");
}

TEST_F(Log, AFileThatIsNoLogIsRefusedAndUntouched) {
  set_content(row(1) + "dear diary\n" + row(3));
  const std::string message = data_error_of([&] { JsonLog(path_, LogPlace{0, 1}); });
  EXPECT_NE(message.find(path_.string() + ", line 2: "), std::string::npos) << message;
  EXPECT_EQ(content(), row(1) + "dear diary\n" + row(3));
}

TEST_F(Log, ReadingIsStrict) {
  const std::pair<const char*, const char*> cases[] = {
      {"\n", "line 2: expected one JSON object"},
      {"[1]\n", "line 2: expected one JSON object"},
      {"{\"update\":1,\"epoch\":1}\n", "line 2: the member \"seconds\" is missing"},
      {"{\"update\":-1,\"epoch\":1,\"seconds\":1}\n", "line 2: \"update\" must be a whole number"},
      {"{\"update\":1.5,\"epoch\":1,\"seconds\":1}\n", "line 2: \"update\" must be a whole number"},
      {"{\"update\":1,\"epoch\":1,\"seconds\":1,\"x\":\"1\"}\n", "line 2: \"x\" must be a number or null"},
  };
  for (const auto& [text, expected] : cases) {
    set_content(row(1) + text);
    const std::string message = data_error_of([&] { JsonLog(path_, LogPlace{0, 1}); });
    EXPECT_NE(message.find(expected), std::string::npos) << text << message;
  }
}

TEST_F(Log, WhatCannotBeOpenedOrWrittenIsAnIoError) {
  EXPECT_THROW(JsonLog(folder_ / "none" / "log.jsonl"), IoError);
  EXPECT_THROW(JsonLog(folder_ / "none" / "log.jsonl", LogPlace{0, 7}), IoError);
  JsonLog full("/dev/full");
  EXPECT_THROW(full.record({1, 1.0, {}}), IoError);
}

TEST_F(Log, NamesMustBeDistinct) {
  JsonLog log(path_);
  EXPECT_THROW(log.record({1, 1.0, {{"epoch", 2.0}}}), UsageError);
  EXPECT_THROW(log.record({1, 1.0, {{"x", 2.0}, {"x", 3.0}}}), UsageError);
  EXPECT_EQ(content(), "");
}

TEST_F(Log, IsReadBackAsItWasWritten) {
  JsonLog log(path_, std::nullopt, clock());
  now_ = 101.5;
  log.record({0, 0.0, {{"error", 0.5}}});
  now_ = 103.0;
  log.record({10, 1.0, {{"error", kNan}, {"other", -2.0}}});
  const LoggedRun run = read_log(path_);
  ASSERT_EQ(run.records.size(), 2u);
  EXPECT_EQ(run.records[0].seconds, 1.5);
  EXPECT_EQ(run.records[1].record.update, 10u);
  EXPECT_EQ(run.records[1].record.epoch, 1.0);
  EXPECT_EQ(run.records[1].seconds, 3.0);
  EXPECT_EQ(run.records[0].record.values, (std::vector<std::pair<std::string, double>>{{"error", 0.5}}));
  EXPECT_TRUE(std::isnan(run.records[1].record.values[0].second));
  EXPECT_EQ(run.records[1].record.values[1], (std::pair<std::string, double>("other", -2.0)));
  EXPECT_EQ(run.fault, "");
  EXPECT_EQ(run.rescues, 0u);
}

TEST_F(Log, WhatARunWentBackBehindIsNotPartOfIt) {
  set_content(row(1) + row(2) + row(3) +
              "{\"update\":1,\"epoch\":1.0,\"seconds\":4.0,\"rescues\":1.0,\"learning_rate\":0.1}\n" + row(2));
  const LoggedRun run = read_log(path_);
  ASSERT_EQ(run.records.size(), 2u);
  EXPECT_EQ(run.records[0].record.update, 1u);
  EXPECT_EQ(run.records[1].record.update, 2u);
  EXPECT_EQ(run.rescues, 1u);
}

TEST_F(Log, IsReadUpToItsFirstFault) {
  set_content(row(1) + row(2) + "{\"update\": 3, \"ep");
  EXPECT_EQ(read_log(path_).records.size(), 2u);
  EXPECT_NE(read_log(path_).fault.find("line 3: "), std::string::npos);
  set_content(row(1) + "dear diary\n" + row(3));
  EXPECT_EQ(read_log(path_).records.size(), 1u);
  EXPECT_NE(read_log(path_).fault.find("line 2: "), std::string::npos);
  set_content("dear diary\n" + row(3));
  EXPECT_THROW(read_log(path_), DataError);
  set_content("");
  EXPECT_TRUE(read_log(path_).records.empty());
  EXPECT_EQ(read_log(path_).fault, "");
}

}  // namespace
}  // namespace ergodic
