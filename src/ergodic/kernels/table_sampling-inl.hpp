// Certified sampling by look-up tables, for each target: what block and sequential sampling share. See
// table_sampling.hpp.

// What all targets share.
#ifndef ERGODIC_TABLE_SAMPLING_SHARED
#define ERGODIC_TABLE_SAMPLING_SHARED

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/kernels.hpp"
#include "ergodic/kernels/lookup_plan.hpp"
#include "ergodic/kernels/quantised.hpp"
#include "ergodic/kernels/table_sampling.hpp"

namespace ergodic {

// 1 - sigmoid on 16 pieces of [0, 8], each a parabola in 15-bit fixed point. Indexed by coefficient and byte, since
// vector look-ups are of bytes.
struct SigmoidPieces {
  static constexpr std::size_t kPieces = 16;
  alignas(16) std::uint8_t bytes[3][2][kPieces];
};
const SigmoidPieces& sigmoid_pieces();

/// A batch of inputs and what is drawn given it; x and out are the same if the units of one layer are drawn in turn.
struct TableCall {
  const State& x;
  const Affine& map;
  const LookupPlan& plan;
  std::span<const std::uint32_t> terms;  // how many inputs of each chain are on, at most
  std::size_t first_row;                 // of x and out: chain 0 of the plan
  const Draw& draw;
  std::uint32_t first_chain;  // whose random numbers chain 0 of the plan draws
  State& out;
  Profile* profile;
};

inline constexpr std::size_t kDrawnChains = 8;  // chains whose random numbers are made at a time

/// What a thread needs for a tile.
struct TileScratch {
  alignas(kCacheLine) std::array<std::int16_t, kBlockRows / kGroupBits * kGroupBytes / sizeof(std::int16_t)> table;
  alignas(kCacheLine) std::array<std::int32_t, LookupPlan::kMaxRows * kTileColumns> sums;
  alignas(kCacheLine) std::array<std::array<Words, kTileColumns / kCoarseUnits>, kDrawnChains> coarse;
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

#include <algorithm>
#include <bit>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/certified.hpp"
#include "ergodic/kernels/lookup-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

using Tile = Entry<std::int16_t>;
using D16 = Tile::D;
using DU16 = hn::RebindToUnsigned<D16>;
using D32 = hn::Repartition<std::int32_t, D16>;
using V16 = Tile::V;
using V32 = hn::VFromD<D32>;
constexpr D16 d16;
constexpr DU16 du16;
constexpr D32 d32;
constexpr std::size_t kLanes = Tile::kLanes;
constexpr std::size_t kVectors = Tile::kVectors;
constexpr std::size_t kGroups = kBlockRows / kGroupBits;

/// Where lane c of a row of 32-bit values lies: those of the even lanes of a 16-bit vector come first, then the odd
/// ones.
HWY_INLINE std::size_t place(std::size_t c) {
  const std::size_t lane = c % kLanes;
  return c - lane + (lane % 2) * (kLanes / 2) + lane / 2;
}

/// The sums of each group of four rows that is used.
HWY_INLINE void fill_table(const std::int16_t* HWY_RESTRICT rows, std::uint32_t used_groups,
                           std::int16_t* HWY_RESTRICT table) {
  for (; used_groups != 0; used_groups &= used_groups - 1) {
    const auto g = static_cast<std::size_t>(std::countr_zero(used_groups));
    const std::int16_t* HWY_RESTRICT row = rows + g * kGroupBits * kTileColumns;
    for (std::size_t c = 0; c < kTileColumns; c += kLanes) {
      fill_group(hn::Load(d16, row + c), hn::Load(d16, row + kTileColumns + c),
                 hn::Load(d16, row + 2 * kTileColumns + c), hn::Load(d16, row + 3 * kTileColumns + c),
                 table + g * (kGroupBytes / sizeof(std::int16_t)) + c);
    }
  }
}

/// sums(chain, column) = the sums of the rounded weights of the inputs that are on. They lie as `place`
/// says.
HWY_INLINE void add_up(const QuantisedWeights& weights, const LookupPlan& plan, std::size_t tile,
                       TileScratch& scratch) {
  std::int32_t* HWY_RESTRICT sums = scratch.sums.data();
  std::fill_n(sums, plan.rows() * kTileColumns, 0);
  for (std::size_t b = 0; b < weights.blocks(); ++b) {
    const LookupPlan::Block& block = plan.block(b);
    if (block.used_groups == 0) continue;
    fill_table(weights.block(tile, b), block.used_groups, scratch.table.data());
    look_up<std::int16_t, kGroups>(block, scratch.table.data(), [&](std::size_t chain, const V16* sum) ERGODIC_LAMBDA {
      unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
        const auto wide = hn::BitCast(d32, sum[v]);
        const auto even = hn::ShiftRight<16>(hn::ShiftLeft<16>(wide)), odd = hn::ShiftRight<16>(wide);
        std::int32_t* HWY_RESTRICT to = sums + chain * kTileColumns + v * kLanes;
        hn::Store(hn::Add(hn::Load(d32, to), even), d32, to);
        hn::Store(hn::Add(hn::Load(d32, to + kLanes / 2), odd), d32, to + kLanes / 2);
      });
    });
  }
}

/// 65536 * sigmoid(field / 4096).
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D16> > sigmoid_of(const SigmoidPieces& pieces, V16 field) {
  const hn::Repartition<std::uint8_t, D16> d8;
  const auto size = hn::Min(hn::BitCast(du16, hn::Abs(field)), hn::Set(du16, 32767));
  const auto piece = hn::ShiftRight<11>(size);
  const auto x = hn::BitCast(d16, hn::ShiftLeft<4>(hn::And(size, hn::Set(du16, 2047))));
  // Indices for the low and the high byte; one with its top bit set gives zero.
  const auto low = hn::BitCast(d8, hn::Or(piece, hn::Set(du16, 0x8000)));
  const auto high = hn::BitCast(d8, hn::Or(hn::ShiftLeft<8>(piece), hn::Set(du16, 0x0080)));
  const auto coefficient = [&](std::size_t k) ERGODIC_LAMBDA {
    const auto low_bytes = hn::TableLookupBytesOr0(hn::LoadDup128(d8, pieces.bytes[k][0]), low);
    const auto high_bytes = hn::TableLookupBytesOr0(hn::LoadDup128(d8, pieces.bytes[k][1]), high);
    return hn::BitCast(d16, hn::Or(low_bytes, high_bytes));
  };
  const auto slope = hn::Add(coefficient(1), hn::MulFixedPoint15(coefficient(2), x));
  const auto tail = hn::BitCast(du16, hn::Add(coefficient(0), hn::MulFixedPoint15(slope, x)));
  const auto negative = hn::BitCast(du16, hn::BroadcastSignBit(field));
  // tail if the field is negative, 65536 - tail if not.
  return hn::Sub(hn::Xor(tail, hn::Not(negative)), hn::Not(negative));
}

/// From sums of rounded weights to bits, for one tile.
class Judge {
 public:
  Judge(const TableCall& call, std::size_t tile)
      : unit_(std::ldexp(double{call.out.levels().gap()}, -call.map.quantised->exponent(tile))),
        doubling_(call.x.levels().gap() == 2.0f ? 1 : 0) {
    // From the tile's units of 2^-exponent to 2^-12, times the gap of the output.
    const int shift = call.map.quantised->exponent(tile) - 12 - (call.out.levels().gap() == 2.0f ? 1 : 0);
    right_ = std::max(shift, 0);
    left_ = std::max(-shift, 0);
  }

  /// The largest distance between the field in rounded weights and the true one, with so many inputs on.
  double error(std::size_t terms) const { return 0.5 * unit_ * static_cast<double>(terms + 2); }
  /// The field of a sum and the offset of its unit.
  double field(std::int32_t sum, std::int32_t offset) const { return unit_ * (std::ldexp(sum, doubling_) + offset); }

  /// Fields in 2^-12, given the sums of even and odd lanes and the offsets of the same.
  HWY_INLINE V16 fields(V32 even, V32 odd, V32 even_offset, V32 odd_offset) const {
    const auto narrow = [&](V32 sum, V32 offset) ERGODIC_LAMBDA {
      const auto limit = hn::Set(d32, 1 << (30 - left_));
      auto field = hn::Add(hn::ShiftLeftSame(sum, doubling_), offset);
      field = hn::ShiftLeftSame(hn::Max(hn::Min(field, limit), hn::Neg(limit)), left_);
      field = hn::ShiftRightSame(hn::Add(field, hn::Set(d32, (1 << right_) >> 1)), right_);
      return hn::Max(hn::Min(field, hn::Set(d32, 32767)), hn::Set(d32, -32768));
    };
    const auto low = hn::BitCast(d16, narrow(even, even_offset));
    return hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(narrow(odd, odd_offset))), low);
  }

 private:
  double unit_;       // of the sums, times the gap of the output
  int doubling_;      // a spin changes by two
  int right_, left_;  // shifts
};

/// How far 16 random bits must be from a probability to decide, given the error of the fields.
class Margin {
 public:
  explicit Margin(double error) {
    // e^E - 1 < E + E^2 up to E = 1, in 2^-16. What does not fit makes every unit unsure.
    const double spread = 65536.0 * (error + error * error);
    const bool too_wide = !(spread < 65534.0);
    factor_ = static_cast<std::uint16_t>(too_wide ? 65535 : static_cast<int>(spread) + 1);
    slack_ = static_cast<std::uint16_t>(too_wide ? 65535 : kSigmoid16Error + 3);
    tail_slack_ = static_cast<std::uint16_t>(too_wide ? 65535 : kSigmoid16TailError + 3);
  }

  /// Writes a bit for each lane: whether the unit is on for sure, and whether it is sure.
  HWY_INLINE void judge(const SigmoidPieces& pieces, V16 field, hn::VFromD<DU16> random, std::uint8_t* on_bits,
                        std::uint8_t* sure_bits) const {
    const auto p = sigmoid_of(pieces, field);
    const auto variance = hn::MulHigh(p, hn::Sub(hn::Zero(du16), p));
    const auto in_tail = hn::Or(hn::Eq(field, hn::Set(d16, 32767)), hn::Eq(field, hn::Set(d16, -32768)));
    const auto fixed = hn::IfThenElse(hn::RebindMask(du16, in_tail), hn::Set(du16, tail_slack_), hn::Set(du16, slack_));
    const auto margin = hn::SaturatedAdd(hn::MulHigh(variance, hn::Set(du16, factor_)), fixed);
    const auto on = hn::Lt(random, hn::SaturatedSub(p, margin));
    const auto off = hn::Gt(random, hn::SaturatedAdd(p, hn::Sub(margin, hn::Set(du16, 1))));
    hn::StoreMaskBits(du16, on, on_bits);
    hn::StoreMaskBits(du16, hn::Or(on, off), sure_bits);
  }

 private:
  std::uint16_t factor_, slack_, tail_slack_;
};

/// The sum of values times weights, in float, in any order.
HWY_INLINE double dot(const std::uint64_t* bits, Levels levels, const float* HWY_RESTRICT weights, std::size_t count) {
  const hn::CappedTag<float, 8> d;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bits);
  const auto low = hn::Set(d, levels.low), high = hn::Set(d, levels.high);
  const auto term = [&](std::size_t i, std::size_t k) ERGODIC_LAMBDA {
    const std::uint8_t mask[8] = {static_cast<std::uint8_t>(bytes[i / 8] >> k)};
    return hn::Mul(hn::IfThenElse(hn::LoadMaskBits(d, mask), high, low), hn::LoadU(d, weights + i + k));
  };
  auto even = hn::Zero(d), odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (std::size_t k = 0; k < 8; k += hn::Lanes(d)) {
      even = hn::Add(even, term(i, k));
      odd = hn::Add(odd, term(i + 8, k));
    }
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < count; ++i) total += ((bits[i / 64] >> (i % 64)) & 1u ? levels.high : levels.low) * weights[i];
  return total;
}

/// The bit of one unit whose 16 upper random bits are too close to its probability in the rounded weights.
inline HWY_NOINLINE bool decide(const TableCall& call, std::size_t r, std::uint32_t unit, std::uint32_t coarse,
                                double rounded_field, double error) {
  const std::size_t row = call.first_row + r;
  const std::uint32_t chain = call.first_chain + static_cast<std::uint32_t>(r);
  const double gap = call.out.levels().gap();
  // The 16-bit sigmoid may not have been fine enough, or else the rounded weights.
  const auto sure = [&](double field, double off, bool& on) {
    on = coarse + 1.0 <= sigmoid(field - off) * (65536.0 - 1e-6);
    return on || coarse >= sigmoid(field + off) * (65536.0 + 1e-6);
  };
  bool on = false;
  if (sure(rounded_field, error, on)) return on;
  const std::size_t count = call.x.units();
  const double field = call.map.bias[unit] +
                       dot(call.x.bits().row(row).data(), call.x.levels(), call.map.transposed.row(unit).data(), count);
  // Each lane adds an eighth of the terms or fewer, then the lanes are added.
  const double roundoffs = 0x1p-23 * (static_cast<double>(count) / 8.0 + 8.0);
  if (sure(gap * field, gap * roundoffs * call.map.quantised->reach()[unit], on)) return on;
  return defined_bit(call.x, row, call.map, gap, call.draw, chain, unit, coarse);
}

/// The upper random bits of the tile's units, for kDrawnChains chains: the rounds of many blocks go side by side, since
/// each waits for the one before it.
HWY_INLINE void draw_coarse(const Draw& draw, std::uint32_t first_chain, std::uint32_t first_unit,
                            TileScratch& scratch) {
  const hn::FixedTag<std::uint8_t, 16> d;
  const hn::FixedTag<std::uint32_t, 4> d_words;
  constexpr std::size_t kBlocks = kTileColumns / kCoarseUnits;
  constexpr std::size_t kAtOnce = 2 * kBlocks;
  hn::VFromD<decltype(d)> keys[kArsRounds + 1];
  for (std::size_t k = 0; k <= kArsRounds; ++k)
    keys[k] = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(&draw.keys()[k]));
  for (std::size_t chain = 0; chain < kDrawnChains; chain += 2) {
    hn::VFromD<decltype(d)> state[kAtOnce];
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      const Words counter = draw.counter(first_chain + static_cast<std::uint32_t>(chain + k / kBlocks),
                                         first_unit / kCoarseUnits + static_cast<std::uint32_t>(k % kBlocks));
      state[k] = hn::Xor(hn::BitCast(d, hn::LoadU(d_words, counter.data())), keys[0]);
    }
    for (std::size_t round = 1; round < kArsRounds; ++round) {
      for (std::size_t k = 0; k < kAtOnce; ++k) state[k] = hn::AESRound(state[k], keys[round]);
    }
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      hn::Store(hn::AESLastRound(state[k], keys[kArsRounds]), d,
                reinterpret_cast<std::uint8_t*>(&scratch.coarse[chain + k / kBlocks][k % kBlocks]));
    }
  }
}

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
