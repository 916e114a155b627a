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
#include <cmath>
#include <utility>

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
  bool first;  // nothing has been counted yet
};

}  // namespace

/// 64 x 64 bits.
struct alignas(kCacheLine) BitSquare : std::array<std::uint64_t, 64> {};

/// What a thread needs for a tile.
struct CountScratch {
  alignas(kCacheLine) std::array<std::int8_t, LookupPlan::kMaxGroups * kGroupBytes> table{};
  alignas(kCacheLine) std::array<std::int16_t, LookupPlan::kMaxRows * kTileColumns> counts;
  alignas(kCacheLine) std::array<std::int8_t, LookupPlan::kMaxRows * kTileColumns> narrow_counts;
  alignas(kCacheLine) std::array<float, LookupPlan::kMaxRows * kTileColumns> sums;  // of earlier counts
  bool any_earlier = false;

  /// Adds the counts of some rows to the sums, to make room for others.
  void fold(std::size_t rows, float weight) {
    for (std::size_t k = 0; k < rows * kTileColumns; ++k) {
      sums[k] = (any_earlier ? sums[k] : 0.0f) + weight * static_cast<float>(counts[k]);
    }
    any_earlier = true;
  }
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

template <class Count>
void add_to(const CountBlock& block, std::size_t tile, CountScratch&, Count* counts) {
  if (block.first) std::fill_n(counts, block.units * kTileColumns, Count{0});
  for (std::size_t r = block.first_row; r < block.first_row + block.rows; ++r) {
    const std::uint64_t columns = block.y->row(r)[tile];
    for (std::size_t i = 0; i < block.units; ++i) {
      if (!block.x->get(r, block.first_unit + i)) continue;
      for (std::size_t c = 0; c < kTileColumns; ++c) {
        Count& count = counts[i * kTileColumns + c];
        const int on = static_cast<int>((columns >> c) & 1u);
        count = static_cast<Count>(block.negative ? count - on : count + on);
      }
    }
  }
}

/// Swaps ever smaller squares across the diagonal. Adds how many bits each row has then.
void transpose_square(BitSquare& rows, std::array<std::uint64_t, 64>& set_bits) {
  std::uint64_t mask = 0x00000000FFFFFFFFu;
  for (std::size_t size = 32; size != 0; size >>= 1, mask ^= mask << size) {
    for (std::size_t k = 0; k < 64; k = ((k | size) + 1) & ~size) {
      const std::uint64_t swapped = ((rows[k] >> size) ^ rows[k | size]) & mask;
      rows[k] ^= swapped << size;
      rows[k | size] ^= swapped;
    }
  }
  for (std::size_t k = 0; k < 64; ++k) set_bits[k] += static_cast<std::uint64_t>(std::popcount(rows[k]));
}

#else
using Tile = Entry<std::int8_t>;

/// Brings together the bytes of a column of bytes, and takes their bits one after the other. Adds how many bits each
/// row has then.
void transpose_square(BitSquare& rows, std::array<std::uint64_t, 64>& set_bits) {
  const hn::CappedTag<std::uint8_t, 64> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kVectors = sizeof(BitSquare) / kLanes, kHalf = kVectors / 2;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(rows.data());
  V from[kVectors];
  unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { from[v] = hn::Load(d, bytes + v * kLanes); });
  // A place has six bits for the row, then three for the byte. The lowest becomes the highest, three times.
  unroll<3>([&](auto) ERGODIC_LAMBDA {
    V to[kVectors];
    unroll<kHalf>([&](auto v) ERGODIC_LAMBDA {
      to[v] = hn::ConcatEven(d, from[2 * v + 1], from[2 * v]);
      to[v + kHalf] = hn::ConcatOdd(d, from[2 * v + 1], from[2 * v]);
    });
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { from[v] = to[v]; });
  });
  constexpr std::size_t kOfByte = 64 / kLanes;  // vectors
  unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
    const hn::RebindToSigned<decltype(d)> di;
    auto left = hn::BitCast(di, from[v]);
    unroll<8>([&](auto k) ERGODIC_LAMBDA {
      const std::size_t row = v / kOfByte * 8 + 7 - k;
      hn::StoreMaskBits(di, hn::Lt(left, hn::Zero(di)), bytes + row * 8 + v % kOfByte * (kLanes / 8));
      left = hn::Add(left, left);
    });
  });
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  for (std::size_t k = 0; k < 64; k += hn::Lanes(d64)) {
    const auto more = hn::PopulationCount(hn::Load(d64, rows.data() + k));
    hn::StoreU(hn::Add(hn::LoadU(d64, set_bits.data() + k), more), d64, set_bits.data() + k);
  }
}

/// Adds the counts of one block of rows, which are made in 8 bits.
template <class Count>
HWY_INLINE void add_to(const CountBlock& block, std::size_t tile, CountScratch& scratch, Count* HWY_RESTRICT counts) {
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
  const hn::Half<Tile::D> half;
  const hn::Rebind<std::int16_t, decltype(half)> d16;
  // put(where, vector of counts), once or twice for a vector of sums.
  const auto look_up_block = [&](const auto& put) ERGODIC_LAMBDA {
    look_up<Tile, LookupPlan::kMaxGroups>(*block.plan, table, [&](std::size_t unit, const Tile::V* sum) ERGODIC_LAMBDA {
      unroll<Tile::kVectors>([&](auto v) ERGODIC_LAMBDA {
        Count* HWY_RESTRICT to = counts + unit * kTileColumns + v * Tile::kLanes;
        if constexpr (sizeof(Count) == 1) {
          put(Tile::d, sum[v], to);
        } else {
          put(d16, hn::PromoteTo(d16, hn::LowerHalf(half, sum[v])), to);
          put(d16, hn::PromoteTo(d16, hn::UpperHalf(half, sum[v])), to + Tile::kLanes / 2);
        }
      });
    });
  };
  if (block.first) {
    for (std::size_t k = 0; k < block.plan->first[1]; ++k) {
      std::fill_n(counts + block.plan->row[k] * kTileColumns, kTileColumns, Count{0});
    }
    look_up_block([&](auto d, auto count, Count* to) ERGODIC_LAMBDA { hn::Store(count, d, to); });
  } else {
    look_up_block([&](auto d, auto count, Count* to)
                      ERGODIC_LAMBDA { hn::Store(hn::Add(hn::Load(d, to), count), d, to); });
  }
}
#endif

void add_counts(const CountBlock& block, std::size_t tile, CountScratch& scratch) {
  add_to(block, tile, scratch, scratch.counts.data());
}
void add_narrow_counts(const CountBlock& block, std::size_t tile, CountScratch& scratch) {
  add_to(block, tile, scratch, scratch.narrow_counts.data());
}
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(add_counts);
HWY_EXPORT(add_narrow_counts);
HWY_EXPORT(transpose_square);

constexpr std::size_t kBlockWords = 2;
constexpr std::size_t kMaxBlockRows = LookupPlan::kMaxGroups * kGroupBits;
constexpr std::size_t kMaxCount = 32767, kMaxNarrowCount = 127;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Whether all differences fit 8 bits.
bool are_narrow(std::span<const WeightedPairs> pairs) {
  std::size_t positive = 0, negative = 0;
  for (const WeightedPairs& side : pairs) {
    if (std::abs(side.weight) != std::abs(pairs[0].weight)) return false;
    (side.weight < 0.0f ? negative : positive) += side.x->rows();
  }
  return std::max(positive, negative) <= kMaxNarrowCount;
}

}  // namespace

void PairCounts::begin(std::span<const WeightedPairs> pairs, const Context& context) {
  assert(!pairs.empty());
  if (sides_.size() < pairs.size()) sides_.resize(pairs.size());
  const std::size_t units = pairs[0].x->cols();
  for (std::size_t s = 0; s < pairs.size(); ++s) {
    // Blocks of equal size, each a whole number of groups.
    const std::size_t rows = pairs[s].x->rows();
    Side& side = sides_[s];
    side.blocks = std::max<std::size_t>(1, divide_up(rows, kMaxBlockRows));
    side.block_rows = divide_up(divide_up(rows, side.blocks), kGroupBits) * kGroupBits;
    side.transposed.resize(side.blocks * units * kBlockWords);
    side.rows_on.resize(units);
  }
  context.for_blocks_of_all(
      pairs.size(), [&](std::size_t) { return Bits::words_for(units); }, 4,
      [&](std::size_t s, std::size_t first_word, std::size_t last_word) {
        const Timed timed(context.profile, ProfiledStage::kPlan);
        for (std::size_t w = first_word; w < last_word; ++w) transpose_word(*pairs[s].x, w, sides_[s]);
      });
}

void PairCounts::transpose_word(const Bits& x, std::size_t word, Side& side) {
  BitSquare square;
  const std::size_t units = x.cols(), first = word * Bits::kWordBits, count = std::min(Bits::kWordBits, units - first);
  std::array<std::uint64_t, 64> rows_on{};
  for (std::size_t b = 0; b < side.blocks; ++b) {
    for (std::size_t s = 0; s < kBlockWords; ++s) {
      const std::size_t begin = std::min(x.rows(), b * side.block_rows + s * 64);
      const std::size_t end = std::min({x.rows(), (b + 1) * side.block_rows, begin + 64});
      for (std::size_t k = 0; k < 64; ++k) square[k] = begin + k < end ? x.row(begin + k)[word] : 0;
      HWY_DYNAMIC_DISPATCH(transpose_square)(square, rows_on);
      for (std::size_t k = 0; k < count; ++k) {
        side.transposed[(b * units + first + k) * kBlockWords + s] = square[k];
      }
    }
  }
  for (std::size_t k = 0; k < count; ++k) side.rows_on[first + k] = static_cast<std::uint32_t>(rows_on[k]);
}

/// Counts one tile of a chunk, and returns the weight of the counts.
float PairCounts::count_tile(std::span<const WeightedPairs> pairs, bool narrow, const Chunk& chunk, std::size_t tile,
                             CountScratch& scratch) const {
  float weight = pairs[0].weight;
  std::size_t counted = 0;
  scratch.any_earlier = false;
  for (std::size_t s = 0; s < pairs.size(); ++s) {
    const Side& side = sides_[s];
    for (std::size_t b = 0; b < side.blocks; ++b) {
      const std::size_t begin = b * side.block_rows;
      const std::size_t count = std::min(side.block_rows, pairs[s].y->rows() - begin);
      const bool same_size = weight == pairs[s].weight || weight == -pairs[s].weight;
      if (counted + count > kMaxCount || !same_size) {
        scratch.fold(chunk.units, weight);
        weight = pairs[s].weight;
        counted = 0;
      }
      const bool first_block = counted == 0;
      counted += count;
      const bool negative = pairs[s].weight != weight;
      const CountBlock block{&side.plans[chunk.plan].block(b),
                             pairs[s].x,
                             pairs[s].y,
                             chunk.first,
                             chunk.units,
                             begin,
                             count,
                             negative,
                             first_block};
      narrow ? HWY_DYNAMIC_DISPATCH(add_narrow_counts)(block, tile, scratch)
             : HWY_DYNAMIC_DISPATCH(add_counts)(block, tile, scratch);
    }
  }
  return weight;
}

void PairCounts::run(std::span<const WeightedPairs> pairs, const Sink& sink, const Context& context) {
  const std::size_t units = pairs[0].x->cols(), columns = pairs[0].y->cols(), tiles = Bits::words_for(columns);
  const bool narrow = are_narrow(pairs);
  std::size_t counted_rows = 0;
  for (const WeightedPairs& side : pairs) counted_rows += side.x->rows();
  const std::size_t of_chunk = divide_up(divide_up(units, divide_up(units, LookupPlan::kMaxRows)), 64) * 64;
  for (std::size_t begin = 0; begin < units; begin += kChunks * of_chunk) {
    std::array<Chunk, kChunks> chunks;
    std::size_t count = 0;
    tasks_.clear();
    for (; count < kChunks && begin + count * of_chunk < units; ++count) {
      const std::size_t first = begin + count * of_chunk;
      chunks[count] = {first, std::min(of_chunk, units - first), count};
      for (Side& side : std::span(sides_).first(pairs.size())) {
        const std::uint64_t* const words = side.transposed.data() + first * kBlockWords;
        tasks_.push_back({&side.plans[count],
                          {words, chunks[count].units, side.blocks, kBlockWords, kBlockWords, units * kBlockWords}});
      }
    }
    LookupPlan::make_all(tasks_, context);
    // By turns of each chunk: tiles beside each other share cache lines of what the sink writes, but not of other rows.
    context.for_blocks(count * tiles, 1, [&](std::size_t b, std::size_t) {
      thread_local CountScratch scratch;
      const Chunk& chunk = chunks[b % count];
      const std::size_t tile = b / count;
      const float weight = [&] {
        const Timed timed(context.profile, ProfiledStage::kCount, counted_rows * chunk.units * kTileColumns);
        return count_tile(pairs, narrow, chunk, tile, scratch);
      }();
      // Block by block, so that each is still in the nearest cache when it is used.
      for (std::size_t r = 0; r < chunk.units; r += kRows) {
        const std::size_t some = std::min(kRows, chunk.units - r);
        const std::size_t place = r * kTileColumns;
        const auto view = [&](const auto& counts) { return MatrixView(counts.data() + place, some, kTileColumns); };
        const CountView counts = narrow ? CountView(view(std::as_const(scratch.narrow_counts)))
                                        : CountView(view(std::as_const(scratch.counts)));
        const float* earlier = scratch.any_earlier ? scratch.sums.data() + place : nullptr;
        sink(chunk.first + r, tile * kTileColumns, {counts, weight, earlier});
      }
    });
  }
}

}  // namespace ergodic
#endif  // HWY_ONCE
