#include "ergodic/kernels/pair_counts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/pair_counts.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "ergodic/core/aligned.hpp"
#include "ergodic/kernels/lookup-inl.hpp"

// What all targets share.
#ifndef ERGODIC_PAIR_COUNTS_SHARED
#define ERGODIC_PAIR_COUNTS_SHARED
namespace ergodic {
namespace {

constexpr std::size_t kTileColumns = PairCounts::kColumns;

/// One block of rows of one side.
struct CountBlock {
  const LookupPlan::Block* plan;
  const Bits* x;
  const Bits* y;
  std::size_t first_unit;  // of x
  std::size_t units;
  std::size_t first_row;
  std::size_t rows;
  bool negative;
};

}  // namespace

/// What a thread needs for a tile.
struct CountScratch {
  alignas(kCacheLine) std::array<std::int8_t, LookupPlan::kMaxGroups * kGroupBytes> table;
  alignas(kCacheLine) std::array<std::int16_t, LookupPlan::kMaxRows * kTileColumns> counts{};  // zero between tiles
  alignas(kCacheLine) std::array<float, LookupPlan::kMaxRows * kTileColumns> sums;        // of what has been folded
  alignas(kCacheLine) std::array<float, PairCounts::kRows * PairCounts::kColumns> block;  // of some rows, complete
  // The vectors to project onto, and the projections.
  alignas(kCacheLine) std::array<float, kTileColumns> y;
  alignas(kCacheLine) std::array<float, LookupPlan::kMaxRows> x;
  std::array<double, kTileColumns> onto_columns;
  std::array<double, LookupPlan::kMaxRows> onto_rows;
};

// Counts times the integers of a projection, summed over so many rows, are exact in float.
inline constexpr std::size_t kExactRows = 16;

/// Counts of some rows of a tile that are to be multiplied and added to earlier sums.
struct Fold {
  std::size_t begin, end;
  float weight;
  bool first;  // there are no earlier sums
  float* out;  // of row `begin`; may be the earlier sums
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void add_counts(const CountBlock& block, std::size_t tile, CountScratch& scratch) {
  for (std::size_t r = block.first_row; r < block.first_row + block.rows; ++r) {
    const std::uint64_t columns = block.y->row(r)[tile];
    for (std::size_t i = 0; i < block.units; ++i) {
      if (!block.x->get(r, block.first_unit + i)) continue;
      for (std::size_t c = 0; c < kTileColumns; ++c) {
        std::int16_t& count = scratch.counts[i * kTileColumns + c];
        const int on = static_cast<int>((columns >> c) & 1u);
        count = static_cast<std::int16_t>(block.negative ? count - on : count + on);
      }
    }
  }
}

void fold(const Fold& f, CountScratch& scratch) {
  std::array<double, kTileColumns> columns{};
  for (std::size_t r = f.begin; r < f.end; ++r) {
    double row = 0.0;
    for (std::size_t c = 0; c < kTileColumns; ++c) {
      const std::size_t k = r * kTileColumns + c;
      const float count = scratch.counts[k];
      f.out[k - f.begin * kTileColumns] = (f.first ? 0.0f : scratch.sums[k]) + f.weight * count;
      scratch.counts[k] = 0;
      row += count * scratch.y[c];
      columns[c] += count * scratch.x[r];
    }
    scratch.onto_rows[r] += f.weight * row;
  }
  for (std::size_t c = 0; c < kTileColumns; ++c) scratch.onto_columns[c] += f.weight * columns[c];
}

#else
using Tile = Entry<std::int8_t>;

/// Adds the counts of one block of rows, in 8 bits, to those in 16.
void add_counts(const CountBlock& block, std::size_t tile, CountScratch& scratch) {
  const auto one = hn::Set(Tile::d, static_cast<std::int8_t>(block.negative ? -1 : 1));
  std::int8_t* HWY_RESTRICT table = scratch.table.data();
  for (std::uint32_t used = block.plan->used_groups; used != 0; used &= used - 1) {
    const auto g = static_cast<std::size_t>(std::countr_zero(used));
    std::uint64_t words[kGroupBits] = {};
    const std::size_t first = g * kGroupBits;
    for (std::size_t k = 0; k < std::min(kGroupBits, block.rows - std::min(block.rows, first)); ++k) {
      words[k] = block.y->row(block.first_row + first + k)[tile];
    }
    for (std::size_t c = 0; c < kTileColumns; c += Tile::kLanes) {
      const auto row = [&](std::size_t k) ERGODIC_LAMBDA {
        return hn::IfThenElseZero(hn::LoadMaskBits(Tile::d, reinterpret_cast<const std::uint8_t*>(&words[k]) + c / 8),
                                  one);
      };
      fill_group(row(0), row(1), row(2), row(3), table + g * kGroupBytes + c);
    }
  }
  std::int16_t* HWY_RESTRICT counts = scratch.counts.data();
  look_up<std::int8_t, LookupPlan::kMaxGroups>(
      *block.plan, table, [&](std::size_t unit, const Tile::V* sum) ERGODIC_LAMBDA {
        const hn::Half<Tile::D> half;
        const hn::Rebind<std::int16_t, decltype(half)> d16;
        unroll<Tile::kVectors>([&](auto v) ERGODIC_LAMBDA {
          std::int16_t* HWY_RESTRICT to = counts + unit * kTileColumns + v * Tile::kLanes;
          const auto low = hn::PromoteTo(d16, hn::LowerHalf(half, sum[v])),
                     high = hn::PromoteTo(d16, hn::UpperHalf(half, sum[v]));
          hn::Store(hn::Add(hn::Load(d16, to), low), d16, to);
          hn::Store(hn::Add(hn::Load(d16, to + Tile::kLanes / 2), high), d16, to + Tile::kLanes / 2);
        });
      });
}

/// out = sums + weight * counts; adds the projections; counts = 0.
void fold(const Fold& f, CountScratch& scratch) {
  const hn::CappedTag<float, 8> df;
  const hn::RebindToSigned<decltype(df)> d32;
  const hn::Rebind<std::int16_t, decltype(df)> d16;
  constexpr std::size_t kLanes = hn::MaxLanes(df), kVectors = kTileColumns / kLanes;
  const auto factor = hn::Set(df, f.weight);
  std::array<double, kTileColumns> columns{};
  for (std::size_t begin = f.begin; begin < f.end; begin += kExactRows) {
    hn::VFromD<decltype(df)> column[kVectors];
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { column[v] = hn::Zero(df); });
    for (std::size_t r = begin; r < std::min(f.end, begin + kExactRows); ++r) {
      std::int16_t* HWY_RESTRICT counts = scratch.counts.data() + r * kTileColumns;
      const float* earlier = scratch.sums.data() + r * kTileColumns;
      float* out = f.out + (r - f.begin) * kTileColumns;
      const auto x = hn::Set(df, scratch.x[r]);
      auto row = hn::Zero(df);
      unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
        constexpr std::size_t kAt = v * kLanes;
        const auto count = hn::ConvertTo(df, hn::PromoteTo(d32, hn::Load(d16, counts + kAt)));
        const auto before = f.first ? hn::Zero(df) : hn::Load(df, earlier + kAt);
        hn::Store(hn::Add(before, hn::Mul(factor, count)), df, out + kAt);
        hn::Store(hn::Zero(d16), d16, counts + kAt);
        row = hn::MulAdd(count, hn::Load(df, scratch.y.data() + kAt), row);
        column[v] = hn::MulAdd(count, x, column[v]);
      });
      const auto whole = hn::SumOfLanes(d32, hn::ConvertTo(d32, row));
      scratch.onto_rows[r] += f.weight * static_cast<double>(hn::GetLane(whole));
    }
    alignas(kCacheLine) float sums[kTileColumns];
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { hn::Store(column[v], df, sums + v * kLanes); });
    for (std::size_t c = 0; c < kTileColumns; ++c) columns[c] += sums[c];
  }
  for (std::size_t c = 0; c < kTileColumns; ++c) scratch.onto_columns[c] += f.weight * columns[c];
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(add_counts);
HWY_EXPORT(fold);

constexpr std::size_t kBlockWords = 2;
constexpr std::size_t kMaxBlockRows = LookupPlan::kMaxGroups * kGroupBits;
constexpr std::size_t kMaxCount = 32767;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Transposes 64 x 64 bits in place: swaps ever smaller squares across the diagonal.
void transpose_square(std::array<std::uint64_t, 64>& rows) {
  std::uint64_t mask = 0x00000000FFFFFFFFu;
  for (std::size_t size = 32; size != 0; size >>= 1, mask ^= mask << size) {
    for (std::size_t k = 0; k < 64; k = ((k | size) + 1) & ~size) {
      const std::uint64_t swapped = ((rows[k] >> size) ^ rows[k | size]) & mask;
      rows[k] ^= swapped << size;
      rows[k | size] ^= swapped;
    }
  }
}

}  // namespace

void PairCounts::transpose(const Bits& x, Side& side, const Context& context) {
  // Blocks of equal size, each a whole number of groups.
  side.blocks = std::max<std::size_t>(1, divide_up(x.rows(), kMaxBlockRows));
  side.block_rows = divide_up(divide_up(x.rows(), side.blocks), kGroupBits) * kGroupBits;
  const std::size_t units = x.cols();
  side.transposed.resize(side.blocks * units * kBlockWords);
  context.for_blocks(Bits::words_for(units), 4, [&](std::size_t first_word, std::size_t last_word) {
    const Timed timed(context.profile, Stage::kPlan);
    std::array<std::uint64_t, 64> square;
    for (std::size_t w = first_word; w < last_word; ++w) {
      for (std::size_t b = 0; b < side.blocks; ++b) {
        for (std::size_t s = 0; s < kBlockWords; ++s) {
          const std::size_t begin = std::min(x.rows(), b * side.block_rows + s * 64);
          const std::size_t end = std::min({x.rows(), (b + 1) * side.block_rows, begin + 64});
          for (std::size_t k = 0; k < 64; ++k) square[k] = begin + k < end ? x.row(begin + k)[w] : 0;
          transpose_square(square);
          for (std::size_t k = 0; k < std::min<std::size_t>(64, units - w * 64); ++k) {
            side.transposed[(b * units + w * 64 + k) * kBlockWords + s] = square[k];
          }
        }
      }
    }
  });
}

/// Counts one tile, for x's units from `first` on, and says what is left to fold.
PairCounts::Unfolded PairCounts::count_tile(std::span<const WeightedPairs> pairs, std::size_t first, std::size_t rows,
                                            std::size_t tile, CountScratch& scratch) const {
  Unfolded left{pairs[0].weight, true};
  std::size_t counted = 0;
  scratch.onto_columns.fill(0.0);
  scratch.onto_rows.fill(0.0);
  for (std::size_t s = 0; s < pairs.size(); ++s) {
    const Side& side = sides_[s];
    for (std::size_t b = 0; b < side.blocks; ++b) {
      const std::size_t begin = b * side.block_rows;
      const std::size_t count = std::min(side.block_rows, pairs[s].y->rows() - begin);
      const bool same_size = left.weight == pairs[s].weight || left.weight == -pairs[s].weight;
      if (counted + count > kMaxCount || !same_size) {
        HWY_DYNAMIC_DISPATCH(fold)({0, rows, left.weight, left.first, scratch.sums.data()}, scratch);
        left = {pairs[s].weight, false};
        counted = 0;
      }
      counted += count;
      const bool negative = pairs[s].weight != left.weight;
      HWY_DYNAMIC_DISPATCH(add_counts)
      ({&side.plan.block(b), pairs[s].x, pairs[s].y, first, rows, begin, count, negative}, tile, scratch);
    }
  }
  return left;
}

int PairCounts::projected_bits(std::size_t rows) {
  constexpr int kFloatBits = 24;
  return kFloatBits - static_cast<int>(std::bit_width(kExactRows - 1) + std::bit_width(std::min(rows, kMaxCount)));
}

void PairCounts::run(std::span<const WeightedPairs> pairs, const Projection& projection, const Sink& sink,
                     const Context& context) {
  assert(!pairs.empty());
  if (sides_.size() < pairs.size()) sides_.resize(pairs.size());
  for (std::size_t s = 0; s < pairs.size(); ++s) transpose(*pairs[s].x, sides_[s], context);

  const std::size_t units = pairs[0].x->cols(), columns = pairs[0].y->cols(), tiles = Bits::words_for(columns);
  std::size_t counted_rows = 0;
  for (const WeightedPairs& side : pairs) counted_rows += side.x->rows();
  partial_.resize(tiles * units);
  std::fill(projection.onto_y.begin(), projection.onto_y.end(), 0.0);
  const std::size_t chunks = divide_up(units, LookupPlan::kMaxRows),
                    chunk = divide_up(divide_up(units, chunks), 64) * 64;
  for (std::size_t first = 0; first < units; first += chunk) {
    const std::size_t rows = std::min(chunk, units - first);
    for (std::size_t s = 0; s < pairs.size(); ++s) {
      Side& side = sides_[s];
      side.plan.make({side.transposed.data() + first * kBlockWords, rows, side.blocks, kBlockWords, kBlockWords,
                      units * kBlockWords},
                     context);
    }
    context.for_blocks(tiles, 1, [&](std::size_t tile, std::size_t) {
      thread_local CountScratch scratch;
      const std::size_t first_column = tile * kTileColumns, width = std::min(kTileColumns, columns - first_column);
      std::copy_n(projection.x.begin() + static_cast<std::ptrdiff_t>(first), rows, scratch.x.begin());
      scratch.y.fill(0.0f);
      std::copy_n(projection.y.begin() + static_cast<std::ptrdiff_t>(first_column), width, scratch.y.begin());
      const Unfolded left = [&] {
        const Timed timed(context.profile, Stage::kCount, counted_rows * rows * kTileColumns);
        return count_tile(pairs, first, rows, tile, scratch);
      }();
      // Block by block, so that each is still in the nearest cache when it is used.
      for (std::size_t r = 0; r < rows; r += kRows) {
        const std::size_t end = std::min(rows, r + kRows);
        {
          const Timed timed(context.profile, Stage::kCount);
          HWY_DYNAMIC_DISPATCH(fold)({r, end, left.weight, left.first, scratch.block.data()}, scratch);
        }
        sink(first + r, first_column, {scratch.block.data(), end - r, kTileColumns});
      }
      std::copy_n(scratch.onto_rows.begin(), rows,
                  partial_.begin() + static_cast<std::ptrdiff_t>(tile * units + first));
      for (std::size_t c = 0; c < width; ++c) projection.onto_y[first_column + c] += scratch.onto_columns[c];
    });
  }
  for (std::size_t i = 0; i < units; ++i) {
    double sum = 0.0;
    for (std::size_t tile = 0; tile < tiles; ++tile) sum += partial_[tile * units + i];
    projection.onto_x[i] = sum;
  }
}

}  // namespace ergodic
#endif  // HWY_ONCE
