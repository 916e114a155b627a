#include "ergodic/kernels/sparse_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/sparse_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include "ergodic/kernels/table_sampling-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Without vectors the definition runs instead.
void add_rows_of(const Bits&, std::size_t, std::size_t, const QuantisedWeights&, std::int32_t*, std::size_t) {}
std::size_t count_on(std::span<const std::uint64_t>) { return 0; }
#else

/// The sums of kTiles tiles for one row of bits. `out` has them a `stride` apart.
template <std::size_t kTiles>
HWY_INLINE void add_row(std::span<const std::uint64_t> bits, const QuantisedWeights& weights, std::size_t tile,
                        std::int32_t* HWY_RESTRICT out, std::size_t stride) {
  constexpr std::size_t kAll = kTiles * kVectors, kBlock = kBlockRows * kTileColumns;
  const std::int16_t* HWY_RESTRICT block = weights.block(tile, 0);
  const std::size_t tile_stride = weights.blocks() * kBlock;
  V32 lower[kAll], upper[kAll];
  unroll<kAll>([&](auto k) ERGODIC_LAMBDA { lower[k] = upper[k] = hn::Zero(d32); });
  for (std::size_t b = 0; b < bits.size(); ++b, block += kBlock) {
    std::uint64_t left = bits[b];
    if (left == 0) continue;
    V16 sums[kAll];  // which no sum over a block overflows
    unroll<kAll>([&](auto k) ERGODIC_LAMBDA { sums[k] = hn::Zero(d16); });
    for (; left != 0; left &= left - 1) {
      const std::int16_t* HWY_RESTRICT row = block + static_cast<std::size_t>(std::countr_zero(left)) * kTileColumns;
      unroll<kAll>([&](auto k) ERGODIC_LAMBDA {
        sums[k] = hn::Add(sums[k], hn::Load(d16, row + k / kVectors * tile_stride + k % kVectors * kLanes));
      });
    }
    unroll<kAll>([&](auto k) ERGODIC_LAMBDA {
      lower[k] = hn::Add(lower[k], lower32(sums[k]));
      upper[k] = hn::Add(upper[k], upper32(sums[k]));
    });
  }
  unroll<kAll>([&](auto k) ERGODIC_LAMBDA {
    std::int32_t* HWY_RESTRICT to = out + k / kVectors * stride + k % kVectors * kLanes;
    hn::Store(lower[k], d32, to);
    hn::Store(upper[k], d32, to + kLanes / 2);
  });
}

/// The same for rows [begin, end) of x, which follow each other in `out` too.
template <std::size_t kTiles>
HWY_INLINE void add_tiles(const Bits& x, std::size_t begin, std::size_t end, const QuantisedWeights& weights,
                          std::size_t tile, std::int32_t* out, std::size_t stride) {
  for (std::size_t r = begin; r < end; ++r, out += kTileColumns) add_row<kTiles>(x.row(r), weights, tile, out, stride);
}

template <std::size_t... kLess>
HWY_INLINE void add_all_tiles(std::index_sequence<kLess...>, const Bits& x, std::size_t begin, std::size_t end,
                              const QuantisedWeights& weights, std::int32_t* out, std::size_t stride) {
  for (std::size_t tile = 0, some = 0; tile < weights.tiles(); tile += some) {
    some = std::min(sizeof...(kLess), weights.tiles() - tile);
    std::int32_t* const to = out + tile * stride;
    ((some == kLess + 1 ? add_tiles<kLess + 1>(x, begin, end, weights, tile, to, stride) : void()), ...);
  }
}

void add_rows_of(const Bits& x, std::size_t begin, std::size_t end, const QuantisedWeights& weights, std::int32_t* out,
                 std::size_t stride) {
  // As many tiles at once as there are registers for: how many bits of a word are set cannot be guessed.
  constexpr std::size_t kMost = kVectors == 1 ? 8 : kVectors == 2 ? 2 : 1;
  add_all_tiles(std::make_index_sequence<kMost>{}, x, begin, end, weights, out, stride);
}

std::size_t count_on(std::span<const std::uint64_t> bits) {
  std::size_t count = 0;
  for (const std::uint64_t word : bits) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(add_rows_of);
HWY_EXPORT(count_on);

constexpr std::size_t kRowsAtATime = 32;
constexpr std::size_t kSpareRows = 15;  // after the last, for readers of whole vectors of rows
constexpr std::size_t kFewUnits = 16;   // of which one is on

}  // namespace

bool few_are_on(const State& x) {
  if (x.levels() != Levels{0.0f, 1.0f}) return false;
  return kFewUnits * HWY_DYNAMIC_DISPATCH(count_on)(x.bits().words()) <= x.units() * x.chains();
}

void find_sparse_sums(const State& x, std::size_t first, std::size_t rows, const QuantisedWeights& weights,
                      InputSums& out, const Context& context) {
  assert(first + rows <= x.chains());
  const std::size_t stride = rows * kTileColumns;
  out.sums.resize(weights.tiles() * stride + kSpareRows * kTileColumns);
  out.set_bits.resize(rows);
  context.for_blocks(rows, kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    const Timed timed(context.profile, ProfiledStage::kProduct, (end - begin) * x.units() * weights.exponents().size());
    HWY_DYNAMIC_DISPATCH(add_rows_of)
    (x.bits(), first + begin, first + end, weights, out.sums.data() + begin * kTileColumns, stride);
    for (std::size_t r = begin; r < end; ++r) {
      out.set_bits[r] = static_cast<std::uint32_t>(HWY_DYNAMIC_DISPATCH(count_on)(x.bits().row(first + r)));
    }
  });
}

}  // namespace ergodic
#endif  // HWY_ONCE
