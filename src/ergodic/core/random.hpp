// Counter-based random numbers, by the bijection of core/ars.hpp.
//
// A number is a pure function of (seed, purpose, step, chain, index). There is no generator state anywhere, so any
// thread may draw any number at any time, and a resumed run draws what an uninterrupted one would have drawn.
#pragma once

#include <cstdint>
#include <span>

#include "ergodic/core/ars.hpp"

namespace ergodic {

/// What a random number is for. Two purposes never share a number.
enum class Purpose : std::uint8_t {
  kInitialWeights,
  kInitialChains,
  kGibbs,
  kShuffle,
  kBinarise,
  kSplit,
  kSynthetic,
  kMonitor,
  kTest,
  kDataHidden,
  kRecall,
  kDamage,
  kMetropolis,
  kLangevin,
  kHamiltonian,
  kTempering,
  kJump,
  kAnnealing,
  kClamped,
  kPopulation,
  kDropout,
};

/// All the random numbers of one purpose at one step: a table indexed by (row, index) that costs nothing to hold.
class Draw {
 public:
  Draw(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint8_t stream)
      : keys_(ars_keys({static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), 0, 0})),
        step_low_(static_cast<std::uint32_t>(step)),
        tag_((static_cast<std::uint32_t>(purpose) << 24) | (static_cast<std::uint32_t>(stream) << 16) |
             (static_cast<std::uint32_t>(step >> 32) & 0xFFFFu)) {}

  /// 128 bits at (row, index).
  Words words(std::uint32_t row, std::uint32_t index) const { return ars(counter(row, index), keys_); }

  /// 128 bits at each of (row, first_index), (row, first_index + 1), ...
  void words(std::uint32_t row, std::uint32_t first_index, std::span<Words> out) const;

  /// Uniform in [0, 1) on a grid of 2^-53.
  double uniform(std::uint32_t row, std::uint32_t index) const { return uniform(words(row, index)); }
  /// The uniform number that these words make.
  static double uniform(const Words& words);
  /// Uniform integer in [0, bound), unbiased to 2^-64.
  std::uint64_t below(std::uint64_t bound, std::uint32_t row, std::uint32_t index) const;
  /// Standard normal, by inversion of a uniform.
  double normal(std::uint32_t row, std::uint32_t index) const;

  /// What the 128 bits at (row, index) are made of, for code that makes many of them at once. The seed is the lower
  /// half of the key, and the upper half is 0.
  Words counter(std::uint32_t row, std::uint32_t index) const { return {index, row, step_low_, tag_}; }
  const ArsKeys& keys() const { return keys_; }

 private:
  ArsKeys keys_;
  std::uint32_t step_low_;
  std::uint32_t tag_;
};

/// The seed of a run, from which every draw is made.
struct Key {
  std::uint64_t seed = 0;

  /// The numbers for one purpose at one step (below 2^48); streams keep apart what shares both.
  Draw at(Purpose purpose, std::uint64_t step = 0, std::uint8_t stream = 0) const {
    return {seed, purpose, step, stream};
  }
};

}  // namespace ergodic
