// What the tests of run/ share: an observer that remembers what it hears, and stops when told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"

namespace ergodic::test {

struct Listener : Observer {
  std::vector<Stage> stages;
  std::vector<std::string> warnings;
  std::uint64_t progresses = 0;
  std::uint64_t steps_back = 0;                  ///< progresses after which less was done than before
  std::uint64_t stop_after = ~std::uint64_t{0};  ///< so many progresses

  void stage(const Stage& stage) override { stages.push_back(stage); }
  void progress(const Progress& progress) override {
    ++progresses;
    if (progress.done < last_done_) ++steps_back;
    last_done_ = progress.done;
  }
  void warn(const std::string& text) override { warnings.push_back(text); }
  bool stop_requested() override { return progresses >= stop_after; }

  std::vector<std::string> stage_names() const {
    std::vector<std::string> out;
    for (const Stage& stage : stages) out.push_back(stage.name);
    return out;
  }

 private:
  std::uint64_t last_done_ = 0;
};

}  // namespace ergodic::test
