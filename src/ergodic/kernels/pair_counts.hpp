// How often two units are on together: the statistics of binary machines, in integers.
//
// Look-up tables serve here as for products, with the roles turned: four rows of y select-and-add in one table entry,
// and the bits of four rows of one unit of x choose it. Sums of up to 112 rows run in 8 bits, of up to 32767 in 16
// bits; where both sides have few rows, the differences stay in 8 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/lookup_plan.hpp"

namespace ergodic {

/// weight * #{rows r: x(r, i) and y(r, j) are on}, one side of a difference.
struct WeightedPairs {
  const Bits* x = nullptr;
  const Bits* y = nullptr;
  float weight = 1.0f;
};

/// Counts in as few bits as hold them.
using CountView = std::variant<MatrixView<const std::int16_t>, MatrixView<const std::int8_t>>;

/// The sums of a block: earlier + weight * count for each pair.
struct PairBlock {
  CountView counts;
  float weight = 1.0f;
  const float* earlier = nullptr;  ///< of the same shape; zeros if there are none

  std::size_t rows() const {
    return std::visit([](const auto& view) { return view.rows(); }, counts);
  }
};

struct CountScratch;

class PairCounts {
 public:
  static constexpr std::size_t kRows = 64, kColumns = 64;  ///< of a block

  /// Receives the sums of a block: rows [first_row, first_row + block.rows()) of x's units, columns [first_column,
  /// first_column + 64) of y's, those beyond the last being zero. Called by several threads.
  using Sink = std::function<void(std::size_t first_row, std::size_t first_column, const PairBlock& block)>;

  /// Begins to count: brings together what each unit of x is in all rows.
  void begin(std::span<const WeightedPairs> sides, const Context& context);
  /// In how many rows of a side each unit of x is on.
  std::span<const std::uint32_t> rows_on(std::size_t side) const { return sides_[side].rows_on; }
  /// The sums over the same sides, block by block. Sides with opposite weights are subtracted in integers.
  void run(std::span<const WeightedPairs> sides, const Sink& sink, const Context& context);

 private:
  static constexpr std::size_t kChunks = 2;  // of x's units, for each of which there is a plan at the same time
  struct Side {
    std::array<LookupPlan, kChunks> plans;
    std::vector<std::uint64_t> transposed;  // [block][unit of x][2 words]: the rows' bits of each unit
    std::vector<std::uint32_t> rows_on;     // of each unit of x
    std::size_t blocks = 0;
    std::size_t block_rows = 0;
  };

  /// x's units from `first` on.
  struct Chunk {
    std::size_t first = 0, units = 0;
    std::size_t plan = 0;  // which of its side's
  };

  float count_tile(std::span<const WeightedPairs> pairs, bool narrow, const Chunk& chunk, std::size_t tile,
                   CountScratch& scratch) const;
  static void transpose_word(const Bits& x, std::size_t word, Side& side);

  std::vector<Side> sides_;
  std::vector<LookupPlan::Task> tasks_;
};

}  // namespace ergodic
