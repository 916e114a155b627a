// Certified sampling by look-up tables, for each target: what block and sequential sampling share. See
// table_sampling.hpp.

// What all targets share.
#ifndef ERGODIC_TABLE_SAMPLING_SHARED
#define ERGODIC_TABLE_SAMPLING_SHARED

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/lookup_plan.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/quantised.hpp"
#include "ergodic/kernels/table_sampling.hpp"

namespace ergodic {

// sigmoid(-x) on 16 pieces of [0, 8], each a parabola in 15-bit fixed point. Indexed by coefficient and byte, since
// vector look-ups are of bytes.
struct SigmoidPieces {
  static constexpr std::size_t kPieces = 16;
  alignas(16) std::uint8_t bytes[3][2][kPieces];
  alignas(64) std::int16_t lanes[3][2 * kPieces];  // the same whole, and once more, for look-ups of lanes
};
const SigmoidPieces& sigmoid_pieces();

/// How many inputs of each chain are on, at most: what the errors of its fields grow with.
class Terms {
 public:
  /// For some chains of x, given how many of its bits are set in each; `more` of them may come on.
  Terms(const State& x, std::span<const std::uint32_t> set_bits, std::uint32_t more = 0) {
    const bool all = x.levels().low != 0.0f;  // then an input counts in either state
    most_ = all ? x.units() : *std::ranges::max_element(set_bits) + more;
    const float scale = 65534.0f / static_cast<float>(most_ + 1);
    for (std::size_t r = 0; r < set_bits.size(); ++r) {
      const std::size_t count = all ? most_ : set_bits[r] + more;
      shares_[r] = static_cast<std::uint16_t>(scale * static_cast<float>(count + 1) + 1.0f);
    }
  }
  std::size_t most() const { return most_; }
  /// (count + 1) / (most + 1) for each chain, in 2^-16.
  const std::uint16_t* shares() const { return shares_.data(); }

 private:
  std::size_t most_ = 0;
  alignas(kCacheLine) std::array<std::uint16_t, LookupPlan::kMaxRows> shares_{};
};

/// Where the bits that are drawn are written, 32 of each row at a time; strides are in bytes.
struct DrawnBits {
  unsigned char* first = nullptr;
  std::size_t row_stride = 0, tile_stride = 0;

  unsigned char* at(std::size_t row, std::size_t tile) const { return first + row * row_stride + tile * tile_stride; }
};

/// A batch of inputs and what is drawn given it; x and out are the same if the units of one layer are drawn in turn.
struct TableCall {
  const State& x;
  const Affine& map;
  std::size_t rows;
  const Terms& terms;
  std::size_t first_row;  // of x and out
  const Draw& draw;
  std::uint32_t first_chain;  // whose random numbers the first row draws
  State& out;
  Profile* profile;
  DrawnBits drawn = {};  // of the rows, for draws of whole tiles
};

/// The units of a tile and a chain whose upper random bits did not decide.
struct UnsureUnits {
  std::uint32_t chain, units;
};

/// What a thread needs for a tile.
struct TileScratch {
  alignas(kCacheLine) std::array<std::int16_t, kBlockRows / kGroupBits * kGroupBytes / sizeof(std::int16_t)> table{};
  alignas(kCacheLine) std::array<std::int32_t, LookupPlan::kMaxRows * kTileColumns> sums{};
  std::array<UnsureUnits, LookupPlan::kMaxRows> unsure;
};

}  // namespace ergodic
#endif

// Included once for each target.
#if defined(ERGODIC_KERNELS_TABLE_SAMPLING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_TABLE_SAMPLING_INL
#undef ERGODIC_KERNELS_TABLE_SAMPLING_INL
#else
#define ERGODIC_KERNELS_TABLE_SAMPLING_INL
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "ergodic/kernels/ars-inl.hpp"
#include "ergodic/kernels/lookup-inl.hpp"
#include "ergodic/kernels/nearest-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

using Tile = Entry<std::int16_t>;
using HalfTile = Entry<std::int16_t, kEntryBytes / 2>;
using D16 = Tile::D;
using DU16 = hn::RebindToUnsigned<D16>;
using D32 = hn::Repartition<std::int32_t, D16>;
using V16 = Tile::V;
using DF32 = hn::Repartition<float, D16>;
using V32 = hn::VFromD<D32>;
using VU16 = hn::VFromD<DU16>;
using VF32 = hn::VFromD<DF32>;
constexpr D16 d16;
constexpr DU16 du16;
constexpr D32 d32;
constexpr DF32 df32;
constexpr std::size_t kLanes = Tile::kLanes;
constexpr std::size_t kVectors = Tile::kVectors;
constexpr std::size_t kGroups = kBlockRows / kGroupBits;

/// Where lane c of a row of 32-bit values lies: of each 16 bytes of a 16-bit vector, the lower four lanes come first,
/// then the upper ones.
constexpr std::size_t place(std::size_t c) {
  const std::size_t lane = c % kLanes, half = lane % 8 / 4;
  return c - lane + half * (kLanes / 2) + lane / 8 * 4 + lane % 4;
}

/// The lanes in 32 bits, as `place` has them.
template <class V>
HWY_INLINE auto lower32(V v) {
  const hn::DFromV<V> d;
  return hn::BitCast(hn::RepartitionToWide<decltype(d)>(), hn::InterleaveLower(d, v, hn::BroadcastSignBit(v)));
}
template <class V>
HWY_INLINE auto upper32(V v) {
  const hn::DFromV<V> d;
  return hn::BitCast(hn::RepartitionToWide<decltype(d)>(), hn::InterleaveUpper(d, v, hn::BroadcastSignBit(v)));
}

/// The sums of each group of four rows that are used, for the columns that an entry E has.
template <class E>
HWY_INLINE void fill_table(const std::int16_t* HWY_RESTRICT rows, const LookupPlan::Block& block,
                           std::int16_t* HWY_RESTRICT table) {
  using V = typename E::V;
  static_assert(kEntryBytes / sizeof(std::int16_t) == kTileColumns);
  const auto for_vectors = [](const auto& f) ERGODIC_LAMBDA {
    unroll<E::kVectors>([&](auto v) ERGODIC_LAMBDA { f(v * E::kLanes); });
  };
  const auto for_groups = [&](std::uint32_t groups, const auto& fill) ERGODIC_LAMBDA {
    for (; groups != 0; groups &= groups - 1) {
      const auto g = static_cast<std::size_t>(std::countr_zero(groups));
      for_vectors([&](std::size_t c) ERGODIC_LAMBDA {
        const std::int16_t* HWY_RESTRICT row = rows + g * kGroupBits * kTileColumns + c;
        fill(hn::Load(E::d, row), hn::Load(E::d, row + kTileColumns), hn::Load(E::d, row + 2 * kTileColumns),
             hn::Load(E::d, row + 3 * kTileColumns), table + g * kGroupEntries * kTileColumns + c);
      });
    }
  };
  for_groups(block.full_groups,
             [](V w0, V w1, V w2, V w3, std::int16_t* group) ERGODIC_LAMBDA { fill_group(w0, w1, w2, w3, group); });
  for_groups(block.used_groups & ~block.full_groups,
             [](V w0, V w1, V w2, V w3, std::int16_t* HWY_RESTRICT group) ERGODIC_LAMBDA {
               const V sums[] = {w0, w1, hn::Add(w0, w1), w2, w3, hn::Add(w2, w3)};
               constexpr std::size_t kValues[] = {1, 2, 3, 4, 8, 12};
               unroll<std::size(kValues)>(
                   [&](auto k) ERGODIC_LAMBDA { hn::Store(sums[k], E::d, group + kValues[k] * kTileColumns); });
             });
  for (std::size_t k = 0; k < block.sum_count; ++k) {
    const std::size_t entry = block.sums[k], low = entry & ~std::size_t{12}, high = entry & ~std::size_t{3};
    for_vectors([&](std::size_t c) ERGODIC_LAMBDA {
      const auto sum =
          hn::Add(hn::Load(E::d, table + low * kTileColumns + c), hn::Load(E::d, table + high * kTileColumns + c));
      hn::Store(sum, E::d, table + entry * kTileColumns + c);
    });
  }
}

/// sums(chain, column) += the sums of the rounded weights of the inputs that are on, for the columns that an entry E
/// has. They lie as `place` says.
template <class E = Tile>
HWY_INLINE void add_sums_of_on(const QuantisedWeights& weights, const LookupPlan& plan, std::size_t tile,
                               TileScratch& scratch) {
  std::int32_t* HWY_RESTRICT sums = scratch.sums.data();
  for (std::size_t b = 0; b < weights.blocks(); ++b) {
    const LookupPlan::Block& block = plan.block(b);
    if (block.used_groups == 0) continue;
    fill_table<E>(weights.block(tile, b), block, scratch.table.data());
    look_up<E, kGroups>(block, scratch.table.data(), [&](std::size_t chain, const typename E::V* sum) ERGODIC_LAMBDA {
      unroll<E::kVectors>([&](auto v) ERGODIC_LAMBDA {
        const hn::RepartitionToWide<typename E::D> d;
        std::int32_t* HWY_RESTRICT to = sums + chain * kTileColumns + v * kLanes;
        hn::Store(hn::Add(hn::Load(d, to), lower32(sum[v])), d, to);
        hn::Store(hn::Add(hn::Load(d, to + kLanes / 2), upper32(sum[v])), d, to + kLanes / 2);
      });
    });
  }
}

/// Sums of the rounded weights of inputs that are on, as add_sums_of_on, into sums that are cleared first.
HWY_INLINE void add_up(const QuantisedWeights& weights, const LookupPlan& plan, std::size_t tile,
                       TileScratch& scratch) {
  std::fill_n(scratch.sums.data(), plan.rows() * kTileColumns, 0);
  add_sums_of_on(weights, plan, tile, scratch);
}

/// 65536 * sigmoid(-|field| / 4096), at most 32768.
HWY_INLINE VU16 tail_of(const SigmoidPieces& pieces, V16 field) {
  const auto size = hn::BitCast(du16, hn::Max(field, hn::SaturatedSub(hn::Zero(d16), field)));
  const auto piece = hn::ShiftRight<11>(size);
  const auto x = hn::BitCast(d16, hn::ShiftLeft<4>(hn::And(size, hn::Set(du16, 2047))));
#if HWY_TARGET <= HWY_AVX3
  const auto coefficient = [&](std::size_t k) ERGODIC_LAMBDA {
    return V16{_mm512_permutexvar_epi16(piece.raw, hn::Load(d16, pieces.lanes[k]).raw)};
  };
#else
  // Indices for the low and the high byte; one with its top bit set gives zero.
  const hn::Repartition<std::uint8_t, D16> d8;
  const auto low = hn::BitCast(d8, hn::Or(piece, hn::Set(du16, 0x8000)));
  const auto high = hn::BitCast(d8, hn::Or(hn::ShiftLeft<8>(piece), hn::Set(du16, 0x0080)));
  const auto coefficient = [&](std::size_t k) ERGODIC_LAMBDA {
    const auto low_bytes = hn::TableLookupBytesOr0(hn::LoadDup128(d8, pieces.bytes[k][0]), low);
    const auto high_bytes = hn::TableLookupBytesOr0(hn::LoadDup128(d8, pieces.bytes[k][1]), high);
    return hn::BitCast(d16, hn::Or(low_bytes, high_bytes));
  };
#endif
  const auto slope = hn::Add(coefficient(1), hn::MulFixedPoint15(coefficient(2), x));
  return hn::BitCast(du16, hn::Add(coefficient(0), hn::MulFixedPoint15(slope, x)));
}

/// From sums of rounded weights to fields, for each unit of a tile.
struct FieldRules {
  alignas(kCacheLine) float scale[kTileColumns];
  alignas(kCacheLine) double offset[kTileColumns];
  alignas(kCacheLine) float error[kTileColumns];  // of a field with the most terms; that of others is in proportion
};

/// Written for the compiler to see vectors.
HWY_INLINE FieldRules field_rules(const State& x, const Affine& map, const Terms& terms, std::size_t tile) {
  const QuantisedWeights& weights = *map.quantised;
  const std::size_t first = tile * kTileColumns;
  const auto beta = static_cast<float>(map.beta);
  // Half a step for each rounded weight of an input that is on; what was rounded off, where each input counts. The
  // hundredth is for fields in float: where they are small enough to matter, all that was added is below 2^15 steps a
  // term, and float rounds to 2^-24 of it, some times.
  const float most = static_cast<float>(terms.most() + 1);
  alignas(kCacheLine) float steps_off[kTileColumns];
  std::copy_n(weights.roundings().data() + first, kTileColumns, steps_off);
  if (x.levels().low == 0.0f) std::fill_n(steps_off, kTileColumns, 0.5f * most);
  alignas(kCacheLine) double base[kTileColumns] = {};
  if (!map.base.empty()) {
    const std::size_t width = std::min(kTileColumns, map.base.size() - first);
    for (std::size_t c = 0; c < width; ++c) base[c] = map.base_of(first + c);
  }

  FieldRules out;
  const int* HWY_RESTRICT exponents = weights.exponents().data() + first;
  const double* HWY_RESTRICT offsets = weights.offsets().data() + first;
  const float gap = x.levels().gap();
  for (std::size_t c = 0; c < kTileColumns; ++c) {
    const float step = beta * QuantisedWeights::unit_of(exponents[c]);
    out.scale[c] = gap * step;
    out.offset[c] = map.beta * offsets[c] + base[c];  // in double, because bias and base may cancel
    out.error[c] = step * (steps_off[c] + 0.01f * most);
  }
  return out;
}

/// From sums of rounded weights to bits: what holds for each unit of a tile.
struct TileRules {
  alignas(kCacheLine) float scale[kTileColumns], offset[kTileColumns];  // from a sum to a field in 2^-12
  alignas(kCacheLine) std::uint16_t spread[kTileColumns];  // e^E - 1 in 2^-16, E being the error of a field with the
                                                           // most terms
  alignas(kCacheLine) std::uint16_t slack[kTileColumns];   // by how much 16 random bits must clear a probability
};

/// Written for the compiler to see vectors.
HWY_INLINE TileRules rules_for(const TableCall& call, std::size_t tile) {
  const FieldRules fields = field_rules(call.x, call.map, call.terms, tile);
  const float gap = call.out.levels().gap();
  TileRules out;
  for (std::size_t c = 0; c < kTileColumns; ++c) {
    const float error = gap * fields.error[c];
    // e^E - 1 < E + E^2 up to E = 1. What does not fit makes the unit unsure.
    const float spread = 65536.0f * (error + error * error);
    const bool too_wide = !(spread < 65000.0f);
    // Besides the error of the sigmoid: 3 for fields rounded to 2^-12, 3 for products rounded down, and what p (1 - p)
    // misses where p is off by no more than that error.
    static_assert(kTail16Error <= 16);
    const float slack = kTail16Error + 6.0f + spread / 4096.0f;
    out.scale[c] = 4096.0f * gap * fields.scale[c];
    out.offset[c] = 4096.0f * static_cast<float>(double{gap} * fields.offset[c]);
    out.spread[c] = static_cast<std::uint16_t>(static_cast<std::int32_t>(too_wide ? 65535.0f : spread + 1.0f));
    out.slack[c] = static_cast<std::uint16_t>(static_cast<std::int32_t>(too_wide ? 65535.0f : slack));
  }
  return out;
}

/// Puts numbers of the units of a tile where `place` says.
HWY_INLINE void put_in_place(const float* HWY_RESTRICT from, float* HWY_RESTRICT to) {
  const hn::FixedTag<float, 4> d;
  for (std::size_t c = 0; c < kTileColumns; c += 4) hn::Store(hn::Load(d, from + c), d, to + place(c));
}

/// Fields in 2^-12, given sums that lie as `place` says, and scales and offsets that lie alike.
HWY_INLINE V16 fields_of(V32 lower, V32 upper, VF32 lower_scale, VF32 upper_scale, VF32 lower_offset,
                         VF32 upper_offset) {
  const auto field = [&](V32 sum, VF32 scale, VF32 offset)
                         ERGODIC_LAMBDA { return nearest(hn::MulAdd(hn::ConvertTo(df32, sum), scale, offset)); };
  return hn::ReorderDemote2To(d16, field(lower, lower_scale, lower_offset), field(upper, upper_scale, upper_offset));
}

/// Where the unit is off, unless it is unsure; and where it is unsure.
struct Verdict {
  hn::MFromD<DU16> off, unsure;
};

/// `share` is that of the chain's terms, see Terms; spread and slack are those of the unit's rule.
HWY_INLINE Verdict judge(const SigmoidPieces& pieces, V16 field, VU16 random, VU16 share, VU16 spread, VU16 slack) {
  const auto tail = tail_of(pieces, field);
  const auto variance = hn::MulHigh(tail, hn::Sub(hn::Zero(du16), tail));
  const auto margin = hn::SaturatedAdd(hn::MulHigh(hn::MulHigh(variance, share), spread), slack);
  // A unit that is more likely on is treated as one that is more likely off, with all random bits inverted.
  const auto likely = hn::RebindMask(du16, hn::Gt(field, hn::Set(d16, -1)));
  const auto number = hn::Xor(random, hn::VecFromMask(du16, likely));
  const auto below = hn::SaturatedSub(tail, number), above = hn::SaturatedSub(number, tail);
  const auto zero = hn::Zero(du16);
  const auto distance = hn::SaturatedSub(hn::Or(below, above), margin);
  return {hn::Xor(hn::Eq(below, zero), likely), hn::Eq(distance, zero)};
}

/// A bit for each lane of one vector.
HWY_INLINE std::uint32_t bits_of(hn::MFromD<DU16> lanes) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(du16, lanes, bytes);
  std::uint32_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

/// The upper random bits of the units of a tile, for one chain after the other.
class CoarseBits {
 public:
  HWY_INLINE CoarseBits(const Draw& draw, std::uint32_t first_chain, std::uint32_t first_unit)
      : keys_(draw.keys()), at_(ars_counters(d_, draw.counter(first_chain, first_unit / kCoarseUnits), {1, 0, 0, 0})) {}

  /// The random numbers of the next chain.
  HWY_INLINE void next(VU16 (&out)[kVectors]) {
    hn::VFromD<ArsTag<kBlocks>> found[kBlocks * 4 / hn::MaxLanes(d_)];
    ars_following<kBlocks>(keys_, at_, found);
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { out[v] = joined(du16, found + std::size(found) / kVectors * v); });
    alignas(16) static constexpr std::uint32_t kNextChain[4] = {0, 1, 0, 0};
    at_ = hn::Add(at_, hn::LoadDup128(d_, kNextChain));
  }

 private:
  static constexpr std::size_t kBlocks = kTileColumns / kCoarseUnits;
  static constexpr ArsTag<kBlocks> d_{};
  ArsKeys keys_;
  hn::VFromD<ArsTag<kBlocks>> at_;
};

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
