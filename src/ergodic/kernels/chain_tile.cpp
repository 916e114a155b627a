#include "ergodic/kernels/chain_tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/chain_tile.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "ergodic/kernels/ars-inl.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/lookup-inl.hpp"
#include "ergodic/kernels/target.hpp"

#ifndef ERGODIC_CHAIN_TILE_SHARED
#define ERGODIC_CHAIN_TILE_SHARED
namespace ergodic {

struct UnitCall {
  std::span<const std::uint32_t> units;
  const SparseFields& fields;
  std::span<const ThresholdTable> thresholds;
  ChainTile& tile;
  UnsureDraws* unsure;
};

/// From the field of a unit to its threshold.
struct ThresholdRule {
  float base;    // gap * the field with all neighbours low
  float margin;  // how far 65536 p may be off
  bool certain;  // false: rounding may move the threshold anywhere
  std::uint16_t unsure;
};

/// With all bits of some neighbours set to 0, a partial sum in float is the field of a state; values being 1 at most,
/// none is larger than the reach, and each addition rounds off at most 2^-24 of that. A sigmoid is nowhere steeper than
/// 1/4; the rest is for the second order, and for what these few operations round.
inline ThresholdRule rule_of(const SparseFields& fields, std::size_t unit, std::span<const Neighbour> neighbours) {
  double sum = 0.0, reach = std::abs(fields.bias[unit]);
  for (const Neighbour& neighbour : neighbours) {
    sum += fields.couplings[neighbour.edge];
    reach += std::abs(fields.couplings[neighbour.edge]);
  }
  const double gap = fields.levels.gap(), terms = static_cast<double>(neighbours.size()) + 4.0;
  const double margin = 65536.0 * (0x1p-24 * terms * 0.25 * gap * reach * 1.1 + 2.0 * kSigmoidError);
  const bool certain = margin < 16384.0;  // and not NaN
  // A number that is near lies between 65536 p - margin, rounded down, and 65536 p + margin. Float rounds the lower end
  // by 0.004 at most.
  return {static_cast<float>(gap * (fields.bias[unit] + fields.levels.low * sum)), static_cast<float>(margin + 0.02),
          certain, certain ? static_cast<std::uint16_t>(2.0 * margin + 1.1) : std::uint16_t{0xFFFF}};
}

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

/// By how much a neighbour that is high raises gap * the field above that with a low one.
HWY_INLINE float step_of(const SparseFields& fields, const Neighbour& neighbour) {
  return fields.levels.gap() * fields.levels.gap() * fields.couplings[neighbour.edge];
}

/// From gap * field in each lane to a threshold. Written for the compiler to see vectors; without contracted
/// operations, so that they are the same numbers on every target.
template <std::size_t kLanes>
HWY_INLINE void fill_lanes(const float* HWY_RESTRICT sums, const ThresholdRule& rule,
                           std::uint16_t* HWY_RESTRICT thresholds) {
  for (std::size_t l = 0; l < kLanes; ++l) {
    const float lowest = 65536.0f * approximate_sigmoid(sums[l]) - rule.margin;
    thresholds[l] = static_cast<std::uint16_t>(static_cast<std::int32_t>(lowest > 0.0f ? lowest : 0.0f));
  }
  if (!rule.certain) std::fill_n(thresholds, kLanes, std::uint16_t{0});
}

HWY_INLINE void split_bytes(const std::uint16_t* thresholds, ThresholdTable& out) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  for (std::size_t s = 0; s < ThresholdTable::kStates; ++s) {
    out.bytes[0][s] = static_cast<std::uint8_t>(thresholds[s] & 0xFFu);
    out.bytes[1][s] = static_cast<std::uint8_t>(thresholds[s] >> 8);
  }
#else  // GCC would move them one by one
  const hn::FixedTag<std::uint8_t, ThresholdTable::kStates> d;
  hn::VFromD<decltype(d)> lower, upper;
  hn::LoadInterleaved2(d, reinterpret_cast<const std::uint8_t*>(thresholds), lower, upper);
  hn::Store(lower, d, out.bytes[0].data());
  hn::Store(upper, d, out.bytes[1].data());
#endif
}

void fill_thresholds(const SparseFields& fields, std::size_t begin, std::size_t end, ThresholdTable* out) {
  for (std::size_t unit = begin; unit < end; ++unit) {
    const std::span<const Neighbour> neighbours = fields.neighbours.of(unit);
    if (neighbours.size() > ThresholdTable::kNeighbours) continue;
    const ThresholdRule rule = rule_of(fields, unit, neighbours);
    float steps[ThresholdTable::kNeighbours] = {};
    for (std::size_t k = 0; k < neighbours.size(); ++k) steps[k] = step_of(fields, neighbours[k]);
    alignas(kCacheLine) float sums[ThresholdTable::kStates];
    for (std::uint32_t s = 0; s < ThresholdTable::kStates; ++s) {
      const auto step = [&](std::uint32_t k) { return (s >> k) & 1u ? steps[k] : 0.0f; };
      sums[s] = rule.base + step(0) + step(1) + step(2) + step(3);
    }
    alignas(kCacheLine) std::uint16_t thresholds[ThresholdTable::kStates];
    fill_lanes<ThresholdTable::kStates>(sums, rule, thresholds);
    split_bytes(thresholds, out[unit]);
    out[unit].unsure = rule.unsure;
  }
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// Makes nothing here: each draw is decided by the definition, which makes its own random bits.
void draw_random(const Draw&, std::uint32_t, std::uint32_t, std::uint32_t, std::uint16_t*) {}

std::size_t draw_tile_units(const UnitCall& call) {
  std::size_t count = 0;
  for (const std::uint32_t unit : call.units) {
    if (call.tile.drawn[unit] != 0) call.unsure[count++] = {unit, call.tile.drawn[unit]};
    call.tile.bits[unit] &= ~call.tile.drawn[unit];
  }
  return count;
}

#else

using D8 = hn::CappedTag<std::uint8_t, kTileChains>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using V8 = hn::VFromD<D8>;
using V16 = hn::VFromD<D16>;
constexpr D8 d8;
constexpr D16 d16;
constexpr std::size_t kBytes = hn::MaxLanes(d8);  // chains of which a vector has a byte
constexpr std::size_t kParts = kTileChains / kBytes;

/// The bits of a mask of bytes.
HWY_INLINE std::uint32_t bits_of(hn::MFromD<D8> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d8, mask, bytes);
  std::uint32_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

/// The chains whose random bits lie together: of each vector of bytes the even chains, then the odd ones.
HWY_INLINE std::uint32_t chain_of_group(std::size_t group) {
  constexpr std::size_t kGroups = kBytes / kCoarseUnits;  // in a vector of bytes
  const std::size_t part = group / kGroups, inside = group % kGroups;
  return static_cast<std::uint32_t>(part * kBytes + inside % (kGroups / 2) * 16 + inside / (kGroups / 2));
}

/// A matrix of 8 x 8 lanes of 16 bits. Interleaving the rows with those four further on moves every bit of a place, row
/// and lane, up by one, the highest to the end; after three times the row is the lane.
template <class V>
HWY_INLINE void transpose_lanes(V (&rows)[8]) {
  const hn::FixedTag<std::uint16_t, 8> d;
  unroll<3>([&](auto) ERGODIC_LAMBDA {
    V out[8];
    unroll<4>([&](auto k) ERGODIC_LAMBDA {
      out[2 * k] = hn::InterleaveLower(d, rows[k], rows[k + 4]);
      out[2 * k + 1] = hn::InterleaveUpper(d, rows[k], rows[k + 4]);
    });
    unroll<8>([&](auto k) ERGODIC_LAMBDA { rows[k] = out[k]; });
  });
}

/// The upper random bits of units of blocks [first, last) of eight, for all chains of a tile.
void draw_random(const Draw& draw, std::uint32_t first_chain, std::uint32_t first, std::uint32_t last,
                 std::uint16_t* HWY_RESTRICT out) {
  const hn::FixedTag<std::uint16_t, 8> d_lanes;
  const hn::FixedTag<std::uint32_t, 4> d_words;
  const auto next = hn::LoadU(d_words, Words{0, 2, 0, 0}.data());
  const ArsKeys keys = draw.keys();
  for (std::uint32_t block = first; block < last; ++block) {
    for (std::size_t group = 0; group < kTileChains / kCoarseUnits; ++group) {
      hn::VFromD<decltype(d_words)> words[8];
      ars_vectors(d_words, keys, hn::LoadU(d_words, draw.counter(first_chain + chain_of_group(group), block).data()),
                  next, words);
      hn::VFromD<decltype(d_lanes)> lanes[8];
      unroll<8>([&](auto k) ERGODIC_LAMBDA { lanes[k] = hn::BitCast(d_lanes, words[k]); });
      transpose_lanes(lanes);
      unroll<8>([&](auto k) ERGODIC_LAMBDA {
        hn::Store(lanes[k], d_lanes, out + (std::size_t{block} * kCoarseUnits + k) * kTileChains + group * 8);
      });
    }
  }
}

/// A bit for each chain that is surely high, and for each that is unsure.
struct ChainVerdict {
  std::uint32_t high = 0, unsure = 0;

  /// Adds the even and the odd chains of one vector of bytes.
  template <std::size_t kPart>
  HWY_INLINE void add(V16 even, V16 odd, const std::uint16_t* HWY_RESTRICT random, V16 unsure_numbers) {
    const auto zero = hn::Zero(d16);
    const auto look = [&](V16 threshold, V16 number, V16& not_high, V16& near) ERGODIC_LAMBDA {
      not_high = hn::VecFromMask(d16, hn::Eq(hn::SaturatedSub(threshold, number), zero));
      const auto beyond = hn::SaturatedSub(hn::SaturatedSub(number, threshold), unsure_numbers);
      near = hn::And(not_high, hn::VecFromMask(d16, hn::Eq(beyond, zero)));
    };
    V16 not_high[2], near[2];
    look(even, hn::Load(d16, random + kPart * kBytes), not_high[0], near[0]);
    look(odd, hn::Load(d16, random + kPart * kBytes + kBytes / 2), not_high[1], near[1]);
    const auto bytes = [&](const V16(&v)[2]) ERGODIC_LAMBDA {
      return bits_of(hn::MaskFromVec(hn::OddEven(hn::BitCast(d8, v[1]), hn::BitCast(d8, v[0]))));
    };
    high |= (~bytes(not_high) & static_cast<std::uint32_t>((std::uint64_t{1} << kBytes) - 1)) << (kPart * kBytes);
    unsure |= bytes(near) << (kPart * kBytes);
  }
};

/// 0 or 255 for each chain of a part.
template <std::size_t kPart>
HWY_INLINE V8 bytes_of_bits(std::uint32_t word) {
  const hn::Repartition<std::uint32_t, D8> d32;
  const auto iota = hn::Iota(d8, 0);
  const auto place = hn::Add(hn::ShiftRight<3>(iota), hn::Set(d8, static_cast<std::uint8_t>(kPart * kBytes / 8)));
  alignas(16) static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const auto bit = hn::LoadDup128(d8, kBits);
  const auto spread = hn::TableLookupBytes(hn::BitCast(d8, hn::Set(d32, word)), place);
  return hn::VecFromMask(d8, hn::Eq(hn::And(spread, bit), bit));
}

HWY_INLINE ChainVerdict verdict_by_table(const ThresholdTable& table, std::span<const Neighbour> neighbours,
                                         const std::uint32_t* HWY_RESTRICT bits,
                                         const std::uint16_t* HWY_RESTRICT random) {
  ChainVerdict out;
  const auto lower_bytes = hn::LoadDup128(d8, table.bytes[0].data()),
             upper_bytes = hn::LoadDup128(d8, table.bytes[1].data());
  unroll<kParts>([&](auto part) ERGODIC_LAMBDA {
    auto states = hn::Zero(d8);  // of the neighbours
    for (std::size_t k = neighbours.size(); k-- > 0;) {
      states = hn::Sub(hn::Add(states, states), bytes_of_bits<part>(bits[neighbours[k].unit]));
    }
    const auto lower = hn::TableLookupBytes(lower_bytes, states), upper = hn::TableLookupBytes(upper_bytes, states);
    const auto even = hn::OddEven(hn::BitCast(d8, hn::ShiftLeft<8>(hn::BitCast(d16, upper))), lower);
    const auto odd = hn::OddEven(upper, hn::BitCast(d8, hn::ShiftRight<8>(hn::BitCast(d16, lower))));
    out.add<part>(hn::BitCast(d16, even), hn::BitCast(d16, odd), random, hn::Set(d16, table.unsure));
  });
  return out;
}

HWY_INLINE ChainVerdict verdict_by_field(const SparseFields& fields, std::size_t unit,
                                         std::span<const Neighbour> neighbours, const std::uint32_t* HWY_RESTRICT bits,
                                         const std::uint16_t* HWY_RESTRICT random) {
  const ThresholdRule rule = rule_of(fields, unit, neighbours);
  alignas(kCacheLine) float sums[kTileChains];
  std::fill_n(sums, kTileChains, rule.base);
  for (const Neighbour& neighbour : neighbours) {
    const auto step = std::bit_cast<std::uint32_t>(step_of(fields, neighbour));
    const std::uint32_t high = bits[neighbour.unit];
    for (std::uint32_t c = 0; c < kTileChains; ++c) {
      sums[c] += std::bit_cast<float>(step & (0u - ((high >> c) & 1u)));
    }
  }
  alignas(kCacheLine) std::uint16_t thresholds[kTileChains];
  fill_lanes<kTileChains>(sums, rule, thresholds);
  ChainVerdict out;
  unroll<kParts>([&](auto part) ERGODIC_LAMBDA {
    V16 even, odd;
    hn::LoadInterleaved2(d16, thresholds + part * kBytes, even, odd);
    out.add<part>(even, odd, random, hn::Set(d16, rule.unsure));
  });
  return out;
}

std::size_t draw_tile_units(const UnitCall& call) {
  std::uint32_t* bits = call.tile.bits.data();
  std::size_t count = 0;
  for (const std::uint32_t unit : call.units) {
    const std::uint32_t drawn = call.tile.drawn[unit];
    if (drawn == 0) continue;
    const std::uint16_t* random = call.tile.random.data() + std::size_t{unit} * kTileChains;
    const std::span<const Neighbour> neighbours = call.fields.neighbours.of(unit);
    const ChainVerdict verdict = neighbours.size() <= ThresholdTable::kNeighbours
                                     ? verdict_by_table(call.thresholds[unit], neighbours, bits, random)
                                     : verdict_by_field(call.fields, unit, neighbours, bits, random);
    bits[unit] = (bits[unit] & ~drawn) | (verdict.high & drawn);
    // Written always, and kept if there is any: the CPU has nothing to guess.
    call.unsure[count] = {unit, verdict.unsure & drawn};
    count += (verdict.unsure & drawn) != 0;
  }
  return count;
}

#endif

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(fill_thresholds);
HWY_EXPORT(draw_random);
HWY_EXPORT(draw_tile_units);

constexpr std::size_t kUnitsAtATime = 512;  // whose thresholds one thread makes

}  // namespace

void make_thresholds(const SparseFields& fields, AlignedVector<ThresholdTable>& out, const Context& context) {
  out.resize(fields.bias.size());
  context.for_blocks(out.size(), kUnitsAtATime, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(fill_thresholds)(fields, begin, end, out.data());
  });
}

void ChainTile::place(const State& x, std::size_t row, std::uint64_t chain) {
  first_row = row;
  chains = std::min(kTileChains, x.chains() - row);
  first_chain = static_cast<std::uint32_t>(chain);
  bits.resize(tile_units(x.units()));
  drawn.resize(bits.size());
  random.resize(bits.size() * kTileChains);
}

void load(const State& x, FixedUnits fixed, const Draw& draw, std::size_t begin, std::size_t end, ChainTile& tile) {
  load_bits(x.bits(), tile.first_row, begin, end, tile.bits);
  for (std::size_t first = begin; first < end; first += kTileUnits) {
    std::array<std::uint32_t, kTileChains> rows{};
    for (std::size_t r = 0; r < tile.chains; ++r) rows[r] = ~fixed.half_word(tile.first_row + r, first / kTileUnits);
    transpose_bits(rows, std::span(tile.drawn).subspan(first).first<kTileUnits>());
  }
  HWY_DYNAMIC_DISPATCH(draw_random)
  (draw, tile.first_chain, static_cast<std::uint32_t>(begin / kCoarseUnits),
   static_cast<std::uint32_t>(tile_units(end) / kCoarseUnits), tile.random.data());
}

std::size_t draw_units(std::span<const std::uint32_t> units, const SparseFields& fields,
                       std::span<const ThresholdTable> thresholds, ChainTile& tile, std::span<UnsureDraws> unsure) {
  assert(unsure.size() >= units.size());
  return HWY_DYNAMIC_DISPATCH(draw_tile_units)({units, fields, thresholds, tile, unsure.data()});
}

}  // namespace ergodic
#endif  // HWY_ONCE
