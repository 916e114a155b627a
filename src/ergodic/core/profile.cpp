#include "ergodic/core/profile.hpp"

#include <algorithm>

namespace ergodic {

double cycles_per_second() {
  double best = 0.0;  // an interruption can only make it look slower
  for (int round = 0; round < 5; ++round) {
    constexpr std::uint64_t kAdditions = 1000000;
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t sum = 0, addend = 1;
    asm volatile("" : "+r"(addend));  // in a register: some processors add constants in no time
    for (std::uint64_t k = 0; k < kAdditions; k += 10) {
#pragma GCC unroll 10
      for (int i = 0; i < 10; ++i) {
        sum += addend;
        asm volatile("" : "+r"(sum));  // or the compiler would multiply
      }
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(kAdditions) / time.count());
  }
  return best;
}

}  // namespace ergodic
