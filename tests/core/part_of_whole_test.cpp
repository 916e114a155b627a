#include "ergodic/core/part_of_whole.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ergodic {
namespace {

class Listener : public Observer {
 public:
  void stage(const Stage& stage) override { stages.push_back(stage.name + "/" + stage.unit); }
  void progress(const Progress& p) override {
    shares.push_back(static_cast<double>(p.done) / static_cast<double>(p.total));
  }
  void note(const std::string& text) override { notes.push_back(text); }
  bool stop_requested() override { return stop; }

  std::vector<double> shares;
  std::vector<std::string> stages, notes;
  bool stop = false;
};

TEST(PartOfWhole, MovesTheWholeFromOneShareToAnother) {
  Listener listener;
  const Context whole{nullptr, &listener};
  PartOfWhole first(whole, 0.0, 0.25), second(whole, 0.25, 1.0);
  first.context().progress({5, 10});
  first.context().progress({10, 10});
  second.context().progress({0, 4});
  second.context().progress({2, 4});
  EXPECT_EQ(listener.shares, (std::vector{0.125, 0.25, 0.25, 0.625}));
}

TEST(PartOfWhole, NeverGoesBack) {
  Listener listener;
  const Context whole{nullptr, &listener};
  PartOfWhole part(whole, 0.5, 1.0);
  for (const std::uint64_t done : {8u, 2u, 20u, 9u}) part.context().progress({done, 10});
  part.context().progress({7, 0});  // of a total that is not known
  EXPECT_EQ(listener.shares, (std::vector{0.9, 0.9, 1.0, 1.0}));
}

TEST(PartOfWhole, PartsOfPartsAreParts) {
  Listener listener;
  const Context whole{nullptr, &listener};
  PartOfWhole outer(whole, 0.5, 1.0);
  const Context part = outer.context();
  PartOfWhole inner(part, 0.5, 1.0);
  inner.context().stage({"log Z", "sweeps"});
  inner.context().progress({1, 2});
  inner.context().note("half");
  EXPECT_EQ(listener.shares, std::vector{0.875});
  EXPECT_EQ(listener.stages, std::vector<std::string>{"log Z/"});
  EXPECT_EQ(listener.notes, std::vector<std::string>{"half"});
  EXPECT_FALSE(inner.context().stop_requested());
  listener.stop = true;
  EXPECT_TRUE(inner.context().stop_requested());
}

}  // namespace
}  // namespace ergodic
