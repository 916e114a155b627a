#include "ergodic/core/aligned.hpp"

#include <sys/mman.h>

#include <new>

namespace ergodic {
namespace {

constexpr std::size_t kLargePage = std::size_t{1} << 21;

std::align_val_t alignment(std::size_t bytes) {
  return std::align_val_t{bytes >= kLargePage / 2 ? kLargePage : kCacheLine};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment(bytes));
#ifdef MADV_HUGEPAGE
  // Advice only: where it cannot be followed, nothing is lost but speed.
  if (bytes >= kLargePage / 2) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
  return memory;
}

void release_aligned(void* memory, std::size_t bytes) { ::operator delete(memory, alignment(bytes)); }

}  // namespace ergodic
