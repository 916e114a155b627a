// State: a batch of one layer, a row for each chain. Units of few values are packed bits, others are floats.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

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
  State(Bits bits, Levels levels) : values_(Packed{std::move(bits), levels}) {}
  explicit State(Matrix<float> reals) : values_(std::move(reals)) {}

  std::size_t chains() const { return real() ? reals().rows() : bits().rows(); }
  std::size_t units() const { return real() ? reals().cols() : bits().cols(); }
  /// Whether the values are floats; then there are no bits and levels, and the other way round.
  bool real() const { return std::holds_alternative<Matrix<float>>(values_); }

  Levels levels() const { return std::get<Packed>(values_).levels; }
  const Bits& bits() const { return std::get<Packed>(values_).bits; }
  Bits& bits() { return std::get<Packed>(values_).bits; }
  const Matrix<float>& reals() const { return std::get<Matrix<float>>(values_); }
  Matrix<float>& reals() { return std::get<Matrix<float>>(values_); }
  float value(std::size_t chain, std::size_t unit) const {
    if (const auto* packed = std::get_if<Packed>(&values_)) {
      return packed->bits.get(chain, unit) ? packed->levels.high : packed->levels.low;
    }
    return reals()(chain, unit);
  }

  /// A row of another state of the same kind in place of this one.
  void set_row(std::size_t row, const State& from, std::size_t from_row) {
    if (real()) {
      std::ranges::copy(from.reals().row(from_row), reals().row(row).begin());
    } else {
      std::ranges::copy(from.bits().row(from_row), bits().row(row).begin());
    }
  }

  /// Exchanges a row with that of another state of the same kind.
  void swap_rows(std::size_t row, State& other) {
    if (real()) {
      std::ranges::swap_ranges(reals().row(row), other.reals().row(row));
    } else {
      std::ranges::swap_ranges(bits().row(row), other.bits().row(row));
    }
  }

  /// Some of the rows alone.
  State rows(std::size_t begin, std::size_t count) const {
    State out = real() ? State(Matrix<float>(count, units())) : State(count, units(), levels());
    for (std::size_t r = 0; r < count; ++r) out.set_row(r, *this, begin + r);
    return out;
  }

  bool operator==(const State&) const = default;

 private:
  struct Packed {
    Bits bits;
    Levels levels;

    bool operator==(const Packed&) const = default;
  };

  std::variant<Packed, Matrix<float>> values_;
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
