#include "ergodic/kernels/sequential.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/sequential.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "ergodic/kernels/decide-inl.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/table_sampling-inl.hpp"
#include "ergodic/kernels/target.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Without vectors the definition runs instead.
void sweep_tile(const TableCall&, const LookupPlan&, FixedUnits, std::size_t, TileScratch&) {}
#else

/// A tile of as many chains as a vector has lanes, unit by unit. 32-bit values lie as `place` says.
struct alignas(kCacheLine) TileOfLanes {
  std::int32_t sums[kTileColumns][kLanes];
  std::uint16_t random[kTileColumns][kLanes];
  std::uint32_t bits[kLanes];   // of the tile, in each chain
  std::uint32_t fixed[kLanes];  // which of them stay
};

/// The value of bit c of each lane as 0 or -1, for lower or upper lanes.
HWY_INLINE V32 bit_mask(const std::uint32_t* bits, std::size_t c) {
  const hn::RebindToUnsigned<D32> du32;
  const auto moved = hn::ShiftLeftSame(hn::Load(du32, bits), static_cast<int>(31 - c));
  return hn::BroadcastSignBit(hn::BitCast(d32, moved));
}

/// The vector with all bits of one lane set, or none.
HWY_INLINE V16 with_lane(V16 lanes, std::size_t lane, bool set) {
  const auto here = hn::VecFromMask(d16, hn::Eq(hn::Iota(d16, 0), hn::Set(d16, static_cast<std::int16_t>(lane))));
  return set ? hn::Or(lanes, here) : hn::AndNot(here, lanes);
}

/// Draws the units of a tile one after the other, for rows [first, first + kLanes) of the call.
void sweep_lanes(const TableCall& call, std::size_t tile, std::size_t first, const TileRules& rules,
                 TileOfLanes& lanes) {
  constexpr std::size_t kUpper = kLanes / 2;
  const QuantisedWeights& weights = *call.map.quantised;
  const SigmoidPieces& pieces = sigmoid_pieces();
  const std::size_t first_unit = tile * kTileColumns;
  const std::size_t width = std::min(kTileColumns, call.map.bias.size() - first_unit);
  const std::size_t chains = std::min(kLanes, call.rows - first);
  const auto share = hn::Load(du16, call.terms.shares() + first);
  const auto used = static_cast<std::uint32_t>((std::uint64_t{1} << chains) - 1);
  for (std::size_t c = 0; c < width; ++c) {
    const std::size_t unit = first_unit + c;
    const auto scale = hn::Set(df32, rules.scale[c]), offset = hn::Set(df32, rules.offset[c]);
    const auto field =
        fields_of(hn::Load(d32, lanes.sums[c]), hn::Load(d32, lanes.sums[c] + kUpper), scale, scale, offset, offset);
    const Verdict verdict = judge(pieces, field, hn::Load(du16, lanes.random[c]), share, hn::Set(du16, rules.spread[c]),
                                  hn::Set(du16, rules.slack[c]));
    V16 now = hn::BitCast(d16, hn::Not(hn::VecFromMask(du16, verdict.off)));
    for (std::uint32_t unsure = bits_of(verdict.unsure) & used; unsure != 0; unsure &= unsure - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(unsure));
      if ((lanes.fixed[place(k)] >> c) & 1u) continue;
      call.out.bits().set_half_word(call.first_row + first + k, tile, lanes.bits[place(k)]);  // where the tile now is
      now = with_lane(now, k, decide(call, first + k, static_cast<std::uint32_t>(unit), lanes.random[c][k]));
    }
    // +1 where the unit rose, -1 where it fell.
    const V32 lower_change = hn::AndNot(bit_mask(lanes.fixed, c), hn::Sub(bit_mask(lanes.bits, c), lower32(now)));
    const V32 upper_change =
        hn::AndNot(bit_mask(lanes.fixed + kUpper, c), hn::Sub(bit_mask(lanes.bits + kUpper, c), upper32(now)));
    const auto mark = [&](std::uint32_t* bits, V32 change) ERGODIC_LAMBDA {
      const auto flipped = hn::And(hn::Abs(change), hn::Set(d32, 1));
      const auto old = hn::Load(d32, reinterpret_cast<std::int32_t*>(bits));
      hn::Store(hn::Xor(old, hn::ShiftLeftSame(flipped, static_cast<int>(c))), d32,
                reinterpret_cast<std::int32_t*>(bits));
    };
    mark(lanes.bits, lower_change);
    mark(lanes.bits + kUpper, upper_change);
    const std::int16_t* HWY_RESTRICT couplings =
        weights.block(tile, unit / kBlockRows) + (unit % kBlockRows) * kTileColumns;
    for (std::size_t k = c + 1; k < width; ++k) {
      const auto coupling = hn::Set(d32, couplings[k]);
      std::int32_t* HWY_RESTRICT sums = lanes.sums[k];
      hn::Store(hn::Add(hn::Load(d32, sums), hn::Mul(lower_change, coupling)), d32, sums);
      hn::Store(hn::Add(hn::Load(d32, sums + kUpper), hn::Mul(upper_change, coupling)), d32, sums + kUpper);
    }
  }
}

/// Draws one tile of all rows, given a plan of them.
void sweep_tile(const TableCall& call, const LookupPlan& plan, FixedUnits fixed, std::size_t tile,
                TileScratch& scratch) {
  add_up(*call.map.quantised, plan, tile, scratch);
  const TileRules rules = rules_for(call, tile);
  const std::size_t first_unit = tile * kTileColumns;
  TileOfLanes lanes{};
  CoarseBits coarse(call.draw, call.first_chain, static_cast<std::uint32_t>(first_unit));
  for (std::size_t first = 0; first < call.rows; first += kLanes) {
    const std::size_t chains = std::min(kLanes, call.rows - first);
    for (std::size_t k = 0; k < chains; ++k) {
      VU16 next[kVectors];
      coarse.next(next);
      alignas(kCacheLine) std::uint16_t random[kTileColumns];
      unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { hn::Store(next[v], du16, random + v * kLanes); });
      const std::int32_t* sums = scratch.sums.data() + (first + k) * kTileColumns;
      const std::size_t at = place(k);
      unroll<kTileColumns>([&](auto c) ERGODIC_LAMBDA {
        lanes.sums[c][at] = sums[place(c)];
        lanes.random[c][k] = random[c];
      });
      lanes.bits[at] = call.x.bits().half_word(call.first_row + first + k, tile);
      lanes.fixed[at] = fixed.half_word(call.first_row + first + k, tile);
    }
    sweep_lanes(call, tile, first, rules, lanes);
    for (std::size_t k = 0; k < chains; ++k) {
      call.out.bits().set_half_word(call.first_row + first + k, tile, lanes.bits[place(k)]);
    }
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sweep_tile);

/// Chains that one thread takes at a time: its share; but tables pay for many only, and beyond 128 they hardly cost
/// anything. The bits do not depend on it.
std::size_t chain_block(std::size_t chains, std::size_t threads) {
  return std::clamp<std::size_t>((chains / threads + 31) / 32 * 32, 32, 128);
}

/// The definition.
void sweep_plainly(State& x, std::size_t begin, std::size_t end, FixedUnits fixed, const Affine& map, const Draw& draw,
                   std::uint64_t first_chain) {
  const double gap = x.levels().gap();
  for (std::size_t r = begin; r < end; ++r) {
    const auto chain = static_cast<std::uint32_t>(first_chain + r);
    for (std::uint32_t unit = 0; unit < x.units(); ++unit) {
      if (fixed.at(r, unit)) continue;
      const std::uint32_t coarse = coarse_bits(draw.words(chain, unit / kCoarseUnits), unit);
      x.bits().set(r, unit, defined_bit(x, r, map, gap, draw, chain, unit, coarse));
    }
  }
}

/// Whether no unit of a tile is drawn in any of these chains.
bool all_fixed(FixedUnits fixed, std::size_t begin, std::size_t end, std::size_t tile, std::size_t units) {
  const std::size_t width = std::min(kTileColumns, units - tile * kTileColumns);
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  while (begin < end && fixed.half_word(begin, tile) == all) ++begin;
  return begin == end;
}

void sweep_by_tables(State& x, std::size_t begin, std::size_t end, FixedUnits fixed, const Affine& map,
                     const Draw& draw, std::uint64_t first_chain) {
  thread_local LookupPlan plan;
  thread_local TileScratch scratch;
  std::array<std::uint32_t, LookupPlan::kMaxRows> counts;
  const BitBlocks bits = blocks_of(x.bits(), begin, end - begin);
  plan.make(bits, Context{});
  for (std::size_t tile = 0; tile < map.quantised->tiles(); ++tile) {
    if (all_fixed(fixed, begin, end, tile, x.units())) continue;
    // Units of the tile may come on while it is drawn.
    const auto set_bits = std::span(counts).first(bits.rows);
    plan.count_set_bits(set_bits);
    const Terms terms(x, set_bits, kTileColumns);
    const auto first = static_cast<std::uint32_t>(first_chain + begin);
    HWY_DYNAMIC_DISPATCH(sweep_tile)
    ({x, map, bits.rows, terms, begin, draw, first, x, nullptr}, plan, fixed, tile, scratch);
    plan.remake_block(bits, tile * kTileColumns / kBlockRows);
  }
}

}  // namespace

void sweep_in_turn(State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, const Context& context) {
  sweep_in_turn(x, {}, map, draw, first_chain, context);
}

void sweep_in_turn(State& x, FixedUnits fixed, const Affine& map, const Draw& draw, std::uint64_t first_chain,
                   const Context& context) {
  assert(map.weights.rows() == x.units() && map.weights.cols() == x.units());
  const auto sweep = !plain_target() && tables_serve(x, map, x) ? sweep_by_tables : sweep_plainly;
  context.for_blocks(x.chains(), chain_block(x.chains(), context.thread_count()),
                     [&](std::size_t begin, std::size_t end) { sweep(x, begin, end, fixed, map, draw, first_chain); });
}

}  // namespace ergodic
#endif  // HWY_ONCE
