// State: a batch of one layer, a row for each chain. Two-valued units are packed bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ergodic/core/bits.hpp"

namespace ergodic {

/// The two values that a bit stands for: {0, 1} or {-1, +1}.
struct Levels {
  float low = 0.0f;
  float high = 1.0f;

  float gap() const { return high - low; }
  bool operator==(const Levels&) const = default;
};

class State {
 public:
  State() = default;
  State(std::size_t chains, std::size_t units, Levels levels) : State(Bits(chains, units), levels) {}
  State(Bits bits, Levels levels) : bits_(std::move(bits)), levels_(levels) {}

  std::size_t chains() const { return bits_.rows(); }
  std::size_t units() const { return bits_.cols(); }
  Levels levels() const { return levels_; }
  const Bits& bits() const { return bits_; }
  Bits& bits() { return bits_; }
  float value(std::size_t chain, std::size_t unit) const { return bits_.get(chain, unit) ? levels_.high : levels_.low; }

  bool operator==(const State&) const = default;

 private:
  Bits bits_;
  Levels levels_;
};

}  // namespace ergodic
