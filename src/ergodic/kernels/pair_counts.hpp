// How often two units are on together: the statistics of binary machines, in integers.
//
// The same look-up tables as for products, with the roles turned: four rows of y select-and-add in one table entry, and
// the bits of four rows of one unit of x choose it. Sums of up to 112 rows run in 8 bits, of up to 32767 in 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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

/// Products of the sums with vectors of integers of a few bits, see projected_bits: onto_x(i) = sum over j of sum(i, j)
/// y(j), onto_y(j) = sum over i of sum(i, j) x(i).
struct Projection {
  std::span<const float> x, y;
  std::span<double> onto_x, onto_y;
};

struct CountScratch;

class PairCounts {
 public:
  static constexpr std::size_t kRows = 64, kColumns = 64;  ///< of a block

  /// Receives the sums of a block: rows [first_row, first_row + block.rows()) of x's units, columns [first_column,
  /// first_column + 64) of y's, those beyond the last being zero. Called by several threads.
  using Sink = std::function<void(std::size_t first_row, std::size_t first_column, MatrixView<const float> block)>;

  /// The sums over both sides, block by block, and their projections. Sides with opposite weights are subtracted in
  /// integers.
  void run(std::span<const WeightedPairs> sides, const Projection& projection, const Sink& sink,
           const Context& context);

  /// How many bits the integers of a projection may have, beside the sign, so that all is exact: for sides of so many
  /// rows.
  static int projected_bits(std::size_t rows);

 private:
  struct Side {
    LookupPlan plan;
    std::vector<std::uint64_t> transposed;  // [block][unit of x][2 words]: the rows' bits of each unit
    std::size_t blocks = 0;
    std::size_t block_rows = 0;
  };

  /// Counts that have not been multiplied with their weight and added to the sums, of which they are the first or not.
  struct Unfolded {
    float weight;
    bool first;
  };

  Unfolded count_tile(std::span<const WeightedPairs> pairs, std::size_t first, std::size_t rows, std::size_t tile,
                      CountScratch& scratch) const;
  void transpose(const Bits& x, Side& side, const Context& context);

  std::vector<Side> sides_;
  std::vector<double> partial_;  // [tile][unit of x]: onto_x, as far as a tile goes
};

}  // namespace ergodic
