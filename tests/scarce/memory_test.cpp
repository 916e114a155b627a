// A program of its own, because it replaces operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "program.hpp"

namespace {
std::size_t left = ~std::size_t{0};  // allocations that succeed

bool granted() { return left > 0 && left-- > 0; }
}  // namespace

// Not inlined: GCC would otherwise see free() called on what `new` returned, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = granted() ? std::malloc(size) : nullptr) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  if (void* memory = granted() ? std::aligned_alloc(align, (size + align - 1) / align * align) : nullptr) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace ergodic::cli {
namespace {

struct Ending {
  int code;
  std::string said;
};

/// The command, if only so many allocations succeed, and none afterwards.
Ending with_allocations(std::size_t count) {
  const std::string out = testing::TempDir() + "/scarce.safetensors";
  std::vector<std::string> words{"ergodic",  "train", "--data",  "bars-and-stripes:3", "--hidden", "4",
                                 "--epochs", "1",     "--quiet", "--threads",          "1",        "--out",
                                 out};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  left = count;
  const int code = run(static_cast<int>(argv.size()), argv.data());
  left = ~std::size_t{0};
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(ScarceMemory, TheCommandSaysSoWhereverItEnds) {
  constexpr std::size_t kStep = 997, kEnough = 1000000;
  std::size_t count = 0;
  for (; count < kEnough; count += kStep) {
    const Ending ending = with_allocations(count);
    if (ending.code == 0) break;
    ASSERT_EQ(ending.code, 70) << "after " << count << " allocations: " << ending.said;
    ASSERT_EQ(ending.said, "ergodic: not enough memory\n");
  }
  EXPECT_GT(count, 10 * kStep);  // it ended in many places
  EXPECT_LT(count, kEnough);
}

}  // namespace
}  // namespace ergodic::cli
