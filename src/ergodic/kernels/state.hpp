// State: a batch of one layer, a row for each chain. Units of few values are packed bits, others are floats.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/matrix.hpp"

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
  explicit State(Matrix<float> reals) : reals_(std::move(reals)), real_(true) {}

  std::size_t chains() const { return real_ ? reals_.rows() : bits_.rows(); }
  std::size_t units() const { return real_ ? reals_.cols() : bits_.cols(); }
  /// Whether the values are floats; then there are no bits and levels, and the other way round.
  bool real() const { return real_; }

  Levels levels() const {
    assert(!real_);
    return levels_;
  }
  const Bits& bits() const { return bits_; }
  Bits& bits() { return bits_; }
  const Matrix<float>& reals() const { return reals_; }
  Matrix<float>& reals() { return reals_; }
  float value(std::size_t chain, std::size_t unit) const {
    if (real_) return reals_(chain, unit);
    return bits_.get(chain, unit) ? levels_.high : levels_.low;
  }

  /// A row of another state of the same kind in place of this one.
  void set_row(std::size_t row, const State& from, std::size_t from_row) {
    if (real_) {
      std::ranges::copy(from.reals_.row(from_row), reals_.row(row).begin());
    } else {
      std::ranges::copy(from.bits_.row(from_row), bits_.row(row).begin());
    }
  }

  /// The same row of another state of the same kind, and this one there.
  void swap_rows(std::size_t row, State& other) {
    if (real_) {
      std::ranges::swap_ranges(reals_.row(row), other.reals_.row(row));
    } else {
      std::ranges::swap_ranges(bits_.row(row), other.bits_.row(row));
    }
  }

  /// Some of the rows alone.
  State rows(std::size_t begin, std::size_t count) const {
    State out = real_ ? State(Matrix<float>(count, units())) : State(count, units(), levels_);
    for (std::size_t r = 0; r < count; ++r) out.set_row(r, *this, begin + r);
    return out;
  }

  bool operator==(const State&) const = default;

 private:
  Bits bits_;
  Levels levels_;
  Matrix<float> reals_;
  bool real_ = false;
};

/// Which units of which chains stay as they are while others are drawn: one row of bits for all chains, or a row for
/// each. Without bits, none stay.
class FixedUnits {
 public:
  FixedUnits() = default;
  explicit FixedUnits(const Bits& bits) : bits_(&bits) {}

  bool at(std::size_t chain, std::size_t unit) const { return bits_ && bits_->get(row(chain), unit); }
  /// 32 units at once, as Bits has them.
  std::uint32_t half_word(std::size_t chain, std::size_t half) const {
    return bits_ ? bits_->half_word(row(chain), half) : 0;
  }

 private:
  std::size_t row(std::size_t chain) const { return bits_->rows() == 1 ? 0 : chain; }

  const Bits* bits_ = nullptr;
};

}  // namespace ergodic
