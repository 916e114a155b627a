#include "ergodic/report/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

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

}  // namespace
}  // namespace ergodic
