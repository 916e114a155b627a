// Memory that begins on a cache line, as vector instructions like it.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace ergodic {

inline constexpr std::size_t kCacheLine = 64;

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kCacheLine}));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete (memory, std::align_val_t{kCacheLine}); }
  bool operator==(const AlignedAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace ergodic
