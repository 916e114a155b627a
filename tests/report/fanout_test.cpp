#include "ergodic/report/fanout.hpp"

#include <gtest/gtest.h>

namespace ergodic {
namespace {

struct Listener : Observer {
  std::vector<std::string> heard;
  bool stop = false;

  void progress(const Progress& p) override { heard.push_back("progress " + std::to_string(p.done)); }
  void record(const Record& r) override { heard.push_back("record " + std::to_string(r.update)); }
  void warn(const std::string& message) override { heard.push_back("warn " + message); }
  void note(const std::string& message) override { heard.push_back("note " + message); }
  bool stop_requested() override {
    heard.push_back("stop?");
    return stop;
  }
};

TEST(Fanout, EveryListenerHearsEveryCall) {
  Listener a, b;
  Fanout both({&a, &b});
  both.progress({3, 9});
  both.record({7, 0.5, {}});
  both.warn("w");
  both.note("n");
  EXPECT_FALSE(both.stop_requested());
  EXPECT_EQ(a.heard, (std::vector<std::string>{"progress 3", "record 7", "warn w", "note n", "stop?"}));
  EXPECT_EQ(a.heard, b.heard);
}

TEST(Fanout, StopsWhenAnyoneAsksAndAsksEveryone) {
  Listener a, b;
  Fanout both({&a, &b});
  b.stop = true;
  EXPECT_TRUE(both.stop_requested());
  a.stop = true;
  b.stop = false;
  EXPECT_TRUE(both.stop_requested());
  EXPECT_EQ(b.heard.size(), 2u);
  EXPECT_FALSE(Fanout({}).stop_requested());
}

}  // namespace
}  // namespace ergodic
