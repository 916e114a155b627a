// A matrix of bits, packed 64 to a word: how binary data and binary states are held.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ergodic {

/// rows x cols bits, row-major, each row padded to whole words. The padding is always zero.
class Bits {
 public:
  static constexpr std::size_t kWordBits = 64;

  Bits() = default;
  Bits(std::size_t rows, std::size_t cols)
      : words_(rows * words_for(cols)), rows_(rows), cols_(cols), row_words_(words_for(cols)) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }

  bool get(std::size_t r, std::size_t c) const {
    assert(r < rows_ && c < cols_);
    return (words_[r * row_words_ + c / kWordBits] >> (c % kWordBits)) & 1u;
  }
  void set(std::size_t r, std::size_t c, bool value) {
    assert(r < rows_ && c < cols_);
    std::uint64_t& word = words_[r * row_words_ + c / kWordBits];
    const std::uint64_t mask = std::uint64_t{1} << (c % kWordBits);
    word = value ? word | mask : word & ~mask;
  }

  /// 32 columns at once, the least significant bit being column 32 * half. Threads may set different halves of a word
  /// at the same time.
  std::uint32_t half_word(std::size_t r, std::size_t half) const {
    std::uint32_t bits;
    std::memcpy(&bits, reinterpret_cast<const unsigned char*>(words_.data() + r * row_words_) + half * sizeof(bits),
                sizeof(bits));
    return bits;
  }
  void set_half_word(std::size_t r, std::size_t half, std::uint32_t bits) {
    static_assert(std::endian::native == std::endian::little);
    auto* bytes = reinterpret_cast<unsigned char*>(words_.data() + r * row_words_);
    std::memcpy(bytes + half * sizeof(bits), &bits, sizeof(bits));
  }

  /// The words of one row. A writer must keep the padding zero.
  std::span<std::uint64_t> row(std::size_t r) { return {words_.data() + r * row_words_, row_words_}; }
  std::span<const std::uint64_t> row(std::size_t r) const { return {words_.data() + r * row_words_, row_words_}; }
  std::span<std::uint64_t> words() { return words_; }
  std::span<const std::uint64_t> words() const { return words_; }

  static std::size_t words_for(std::size_t cols) { return (cols + kWordBits - 1) / kWordBits; }

  bool operator==(const Bits&) const = default;

 private:
  std::vector<std::uint64_t> words_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t row_words_ = 0;
};

/// Some columns alone.
inline Bits columns(const Bits& from, std::size_t first, std::size_t count) {
  assert(first + count <= from.cols());
  Bits out(from.rows(), count);
  const std::size_t shift = first % Bits::kWordBits, last_bits = count % Bits::kWordBits;
  for (std::size_t r = 0; r < from.rows(); ++r) {
    const std::span<const std::uint64_t> words = from.row(r).subspan(first / Bits::kWordBits);
    const std::span<std::uint64_t> to = out.row(r);
    for (std::size_t w = 0; w < to.size(); ++w) {
      to[w] = words[w] >> shift;
      if (shift > 0 && w + 1 < words.size()) to[w] |= words[w + 1] << (Bits::kWordBits - shift);
    }
    if (last_bits > 0) to.back() &= (std::uint64_t{1} << last_bits) - 1;
  }
  return out;
}

/// Rows of bits, and after them those of another matrix.
inline Bits beside(const Bits& left, const Bits& right) {
  assert(left.rows() == right.rows());
  Bits out(left.rows(), left.cols() + right.cols());
  const std::size_t shift = left.cols() % Bits::kWordBits;
  for (std::size_t r = 0; r < out.rows(); ++r) {
    std::ranges::copy(left.row(r), out.row(r).begin());
    const std::span<const std::uint64_t> words = right.row(r);
    const std::span<std::uint64_t> to = out.row(r).subspan(left.cols() / Bits::kWordBits);
    for (std::size_t w = 0; w < words.size(); ++w) {
      to[w] |= words[w] << shift;
      if (shift > 0 && w + 1 < to.size()) to[w + 1] = words[w] >> (Bits::kWordBits - shift);
    }
  }
  return out;
}

/// Calls f(column) for each set bit of a packed row, in ascending order.
template <class F>
void for_each_set(std::span<const std::uint64_t> row, const F& f) {
  for (std::size_t w = 0; w < row.size(); ++w) {
    for (std::uint64_t word = row[w]; word != 0; word &= word - 1) {
      f(w * Bits::kWordBits + static_cast<std::size_t>(std::countr_zero(word)));
    }
  }
}

}  // namespace ergodic
