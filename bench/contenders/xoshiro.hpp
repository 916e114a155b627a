// xoshiro128++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), for one 32-bit word or
// for a vector of them: as many independent generators side by side.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace bench {

template <class Word>
class Xoshiro {
 public:
  explicit Xoshiro(std::uint64_t seed) {
    for (Word& word : state_) {
      std::array<std::uint32_t, sizeof(Word) / sizeof(std::uint32_t)> lanes;
      for (std::uint32_t& lane : lanes) lane = static_cast<std::uint32_t>(split_mix(seed) >> 32);
      std::memcpy(&word, lanes.data(), sizeof(Word));
    }
  }

  Word next() {
    const Word result = rotated(state_[0] + state_[3], 7) + state_[0];
    const Word shifted = state_[1] << 9;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 11);
    return result;
  }

 private:
  static Word rotated(Word x, int k) { return (x << k) | (x >> (32 - k)); }

  /// SplitMix64, which the authors recommend for seeding.
  static std::uint64_t split_mix(std::uint64_t& x) {
    std::uint64_t z = x += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  Word state_[4];
};

}  // namespace bench
