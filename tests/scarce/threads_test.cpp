// A program of its own, because it replaces pthread_create.
#include "ergodic/core/threads.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace {
std::atomic<std::int64_t> created = 0, most = 1000000;  // threads, and how many the system grants
}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  if (created >= most) return EAGAIN;
  ++created;
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, argument);
}

namespace ergodic {
namespace {

TEST(ScarceThreads, ThePoolWorksWithThoseThatItGets) {
  for (const std::int64_t granted : {0, 1, 3, 7, 100}) {
    created = 0;
    most = granted;
    Threads threads(8);
    for (const std::size_t blocks : {2u, 1000u}) {
      std::vector<std::atomic<int>> hits(blocks);
      threads.run(blocks, [&](std::size_t b) { ++hits[b]; });
      for (const auto& h : hits) EXPECT_EQ(h, 1);
    }
    EXPECT_EQ(threads.count(), 1 + static_cast<std::size_t>(std::min<std::int64_t>(granted, 7)));
    most = 1000000;
  }
}

TEST(ScarceThreads, AreNotAskedForBeforeThereIsWork) {
  created = 0;
  Threads threads(8);
  threads.run(1, [](std::size_t) {});
  EXPECT_EQ(created, 0);
  threads.run(2, [](std::size_t) {});
  EXPECT_EQ(created, 7);
}

}  // namespace
}  // namespace ergodic
