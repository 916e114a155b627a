// Which entries of a look-up table each row of bits selects.
//
// A table has an entry of one cache line for each of the 16 values of each group of four bits. The entry of the empty
// selection is zero in every table, so it need be neither filled nor looked up. Rows are sorted by how many look-ups
// they have, so that the loops over them have a fixed length and no branch to guess. A plan is made once and used with
// the tables of all tiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

inline constexpr std::size_t kGroupBits = 4;
inline constexpr std::size_t kGroupEntries = std::size_t{1} << kGroupBits;
inline constexpr std::size_t kEntryBytes = 64;
inline constexpr std::size_t kGroupBytes = kGroupEntries * kEntryBytes;

/// The bits of many rows in blocks of a few words each: word w of row r in block b is at
/// first[b * block_stride + r * row_stride + w].
struct BitBlocks {
  const std::uint64_t* first = nullptr;
  std::size_t rows = 0;
  std::size_t blocks = 0;
  std::size_t words = 1;  ///< words of a row in a block, at most 2
  std::size_t row_stride = 1;
  std::size_t block_stride = 1;

  const std::uint64_t* at(std::size_t block, std::size_t row) const {
    return first + block * block_stride + row * row_stride;
  }
};

/// Rows [first, first + rows) of bits in blocks of one word.
inline BitBlocks blocks_of(const Bits& bits, std::size_t first, std::size_t rows) {
  const std::size_t words = Bits::words_for(bits.cols());
  return {bits.row(first).data(), rows, words, 1, words, 1};
}

class LookupPlan {
 public:
  static constexpr std::size_t kMaxRows = 512;
  static constexpr std::size_t kMaxGroups = 28;  ///< a table of 28 KiB is what the first-level cache holds
  static constexpr std::size_t kMaxPairs = kMaxGroups / 2;
  static constexpr std::size_t kWordGroups = 64 / kGroupBits;
  static constexpr std::size_t kFewSums = 5;                   ///< of the nine of a group
  static constexpr std::size_t kMaxEntries = 2 * kWordGroups;  ///< of a row of two words

  /// An entry as blocks of one or two words have it: its number, for which a byte is enough if there is one word; or
  /// where it begins, in bytes.
  template <std::size_t kWords>
  using Entry = std::conditional_t<kWords == 1, std::uint8_t, std::uint16_t>;

  struct Block {
    std::uint32_t used_groups = 0;  ///< those that some row selects from
    /// Those of them, in a block of one word, from which rows select many sums of both pairs of bits: all are worth
    /// filling. In the others only those that some row selects are, which are the entries `sums`.
    std::uint32_t full_groups = 0;
    std::uint32_t sum_count = 0;
    std::array<std::uint8_t, kWordGroups * kFewSums> sums{};
    std::array<std::uint16_t, kMaxPairs + 2> first{};  ///< places [first[p], first[p + 1]) have p pairs
    std::array<std::uint8_t, kMaxRows> set_bits{};     ///< of each row
    std::array<std::uint16_t, kMaxRows> row{};         ///< the row at each place
    std::array<std::uint16_t, kMaxPairs + 1> begin{};  ///< of the entries of the first place with p pairs
    std::size_t used_memory = 0;
    /// The entries. Those of places with equally many follow each other without a gap, so that few lines are touched;
    /// before the next there is room for what is written beyond an end.
    std::array<std::uint16_t, kMaxEntries*(kMaxRows + kMaxPairs + 1)> memory{};

    /// The entries of the first place with so many pairs.
    template <std::size_t kWords>
    const Entry<kWords>* entries(std::size_t pairs) const {
      return reinterpret_cast<const Entry<kWords>*>(memory.data()) + begin[pairs];
    }

    /// Becomes the same plan of so many rows; nothing is copied that none of them uses.
    void copy(const Block& other, std::size_t rows);
  };

  /// Plans at most kMaxRows rows.
  void make(const BitBlocks& bits, const Context& context) { make_all(std::array{Task{this, bits}}, context); }

  struct Task {
    LookupPlan* plan = nullptr;
    BitBlocks bits;
  };
  /// Makes some plans at once.
  static void make_all(std::span<const Task> tasks, const Context& context);

  /// Plans one block again, after its bits have changed.
  void remake_block(const BitBlocks& bits, std::size_t block);

  std::size_t rows() const { return rows_; }
  const Block& block(std::size_t b) const { return blocks_[b]; }
  /// How many bits of each row are set.
  void count_set_bits(std::span<std::uint32_t> out) const;

 private:
  std::size_t rows_ = 0;
  std::size_t used_blocks_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace ergodic
