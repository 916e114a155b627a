#include "ergodic/core/threads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ergodic/core/context.hpp"

namespace ergodic {
namespace {

TEST(Threads, EveryBlockRunsExactlyOnce) {
  for (const std::size_t count : {1u, 2u, 3u, 8u}) {
    Threads threads(count);
    EXPECT_EQ(threads.count(), count);
    for (const std::size_t blocks : {0u, 1u, 2u, 7u, 1000u}) {
      std::vector<std::atomic<int>> hits(blocks);
      threads.run(blocks, [&](std::size_t b) { ++hits[b]; });
      for (const auto& h : hits) EXPECT_EQ(h, 1);
    }
  }
}

TEST(Threads, TheLowestBlocksExceptionArrivesAndThePoolLivesOn) {
  Threads threads(3);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> finished = 0;
    try {
      threads.run(100, [&](std::size_t b) {
        if (b == 17 || b == 60) throw std::runtime_error(std::to_string(b));
        ++finished;
      });
      FAIL() << "no exception arrived";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "17");
    }
    EXPECT_EQ(finished, 98);
  }
  std::atomic<int> sum = 0;
  threads.run(10, [&](std::size_t b) { sum += static_cast<int>(b); });
  EXPECT_EQ(sum, 45);
}

TEST(Threads, CallersFromSeveralThreadsTakeTurns) {
  constexpr std::size_t kCallers = 4, kJobs = 200, kBlocks = 50;
  Threads threads(3);
  std::atomic<bool> mixed = false;
  std::array<std::atomic<std::size_t>, kCallers> done{};
  {
    std::vector<std::jthread> callers;
    for (std::size_t c = 0; c < kCallers; ++c) {
      callers.emplace_back([&, c] {
        for (std::size_t job = 0; job < kJobs; ++job) {
          threads.run(kBlocks, [&, c](std::size_t) { ++done[c]; });
          if (done[c] != (job + 1) * kBlocks) mixed = true;  // run returned before all of its blocks were done
        }
      });
    }
  }
  EXPECT_FALSE(mixed);
  for (const auto& count : done) EXPECT_EQ(count, kJobs * kBlocks);
}

TEST(Threads, AJobWithinAJobIsAnError) {
  Threads threads(2);
  EXPECT_THROW(threads.run(4, [&](std::size_t) { threads.run(4, [](std::size_t) {}); }), std::logic_error);
  std::atomic<int> sum = 0;
  threads.run(10, [&](std::size_t b) { sum += static_cast<int>(b); });
  EXPECT_EQ(sum, 45);
}

TEST(Context, BlocksDependOnTheSizeAlone) {
  const auto cuts = [](const Context& context) {
    std::vector<std::size_t> ends(11);
    context.for_blocks(103, 10, [&](std::size_t begin, std::size_t end) { ends[begin / 10] = end; });
    return ends;
  };
  Threads threads(3);
  EXPECT_EQ(cuts(Context{}), cuts(Context{&threads}));
  EXPECT_EQ(cuts(Context{}).back(), 103u);
}

TEST(Context, BlocksOfSeveralRangesCoverEachOnce) {
  const std::vector<std::size_t> counts = {0, 103, 1, 0, 40, 7, 0};
  Threads threads(3);
  for (const Context& context : {Context{}, Context{&threads}}) {
    std::vector<std::vector<int>> seen;
    for (const std::size_t count : counts) seen.emplace_back(count);
    context.for_blocks_of_all(
        counts.size(), [&](std::size_t k) { return counts[k]; }, 10,
        [&](std::size_t k, std::size_t begin, std::size_t end) {
          EXPECT_TRUE(begin % 10 == 0 && (end == begin + 10 || end == counts[k])) << begin << " to " << end;
          for (std::size_t i = begin; i < end; ++i) ++seen[k][i];
        });
    for (std::size_t k = 0; k < counts.size(); ++k) EXPECT_EQ(seen[k], std::vector<int>(counts[k], 1));
  }
}

}  // namespace
}  // namespace ergodic
