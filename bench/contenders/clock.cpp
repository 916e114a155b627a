#include "clock.hpp"

#include <algorithm>
#include <cstdint>

namespace bench {
namespace {

constexpr int kTries = 5;  // an interruption makes a try too slow, and nothing makes it too fast
constexpr int kRounds = 100'000;

/// Eight additions, each of which needs the one before. The compiler may not look through them, and the addend is in a
/// register: some processors do additions of constants in no time.
inline void eight_additions(std::uint64_t& sum, std::uint64_t addend) {
  for (int k = 0; k < 8; ++k) {
    sum += addend;
    asm volatile("" : "+r"(sum));
  }
}

}  // namespace

double core_hertz() {
  std::uint64_t sum = 0, addend = 1;
  asm volatile("" : "+r"(addend));
  double best = 0.0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Stopwatch watch;
    watch.start();
    for (int round = 0; round < kRounds; ++round) eight_additions(sum, addend);
    watch.stop();
    best = std::max(best, 8.0 * kRounds / watch.seconds());
  }
  return best;
}

}  // namespace bench
