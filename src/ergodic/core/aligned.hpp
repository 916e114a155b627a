// Memory for large arrays: aligned to a cache line; large blocks use huge pages, which need fewer TLB entries.
#pragma once

#include <cstddef>
#include <vector>

namespace ergodic {

inline constexpr std::size_t kCacheLine = 64;

void* allocate_aligned(std::size_t bytes);
void release_aligned(void* memory, std::size_t bytes);

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_aligned(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) { release_aligned(memory, count * sizeof(T)); }
  bool operator==(const AlignedAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace ergodic
