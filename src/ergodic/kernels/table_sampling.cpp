#include "ergodic/kernels/table_sampling.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/table_sampling.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/certified.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/lookup-inl.hpp"
#include "ergodic/kernels/lookup_plan.hpp"
#include "ergodic/kernels/quantised.hpp"

// What all targets share.
#ifndef ERGODIC_TABLE_SAMPLING_SHARED
#define ERGODIC_TABLE_SAMPLING_SHARED
namespace ergodic {
namespace {

// 1 - sigmoid on 16 pieces of [0, 8], each a parabola in 15-bit fixed point. Indexed by coefficient and byte, since
// vector look-ups are of bytes.
struct SigmoidPieces {
  static constexpr std::size_t kPieces = 16;
  alignas(16) std::uint8_t bytes[3][2][kPieces];
};

/// The call, once for all tiles of a plan.
struct TableCall {
  const State& x;
  const Affine& map;
  const LookupPlan& plan;
  std::span<const std::uint32_t> terms;  // how many inputs of each chain are on
  std::size_t first_row;                 // of x and out, that is chain 0 of the plan
  const Draw& draw;
  std::uint32_t first_chain;  // the random numbers of chain 0 of the plan
  const SigmoidPieces& pieces;
  State& out;
};

constexpr std::size_t kDrawnChains = 8;  // chains whose random numbers are made at a time

/// What a thread needs for a tile.
struct TileScratch {
  alignas(kCacheLine) std::array<std::int16_t, kBlockRows / kGroupBits * kGroupBytes / sizeof(std::int16_t)> table;
  alignas(kCacheLine) std::array<std::int32_t, LookupPlan::kMaxRows * kTileColumns> sums;
  alignas(kCacheLine) std::array<std::array<Words, kTileColumns / kCoarseUnits>, kDrawnChains> coarse;
};

}  // namespace
}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
void sample_tile(const TableCall&, std::size_t, TileScratch&) {}
void sigmoid16_all(const SigmoidPieces&, const std::int16_t*, std::uint16_t*, std::size_t) {}
void count_set(const Bits&, std::size_t, std::span<std::uint32_t>) {}
#else

using Tile = Entry<std::int16_t>;
using D16 = Tile::D;
using V16 = Tile::V;
constexpr D16 d16;
constexpr std::size_t kLanes = Tile::kLanes;
constexpr std::size_t kVectors = Tile::kVectors;
constexpr std::size_t kGroups = kBlockRows / kGroupBits;

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

/// sums(chain, column) = the sums of the rounded weights of the inputs that are on. Even and odd columns of a vector
/// lie apart.
HWY_INLINE void add_up(const QuantisedWeights& weights, const LookupPlan& plan, std::size_t tile,
                       TileScratch& scratch) {
  const hn::Repartition<std::int32_t, D16> d32;
  std::int32_t* HWY_RESTRICT sums = scratch.sums.data();
  std::fill_n(sums, plan.rows() * kTileColumns, 0);
  for (std::size_t b = 0; b < weights.blocks(); ++b) {
    const LookupPlan::Block& block = plan.block(b);
    if (block.used_groups == 0) continue;
    fill_table(weights.block(tile, b), block.used_groups, scratch.table.data());
    look_up<std::int16_t, kGroups>(block, scratch.table.data(), [&](std::size_t chain, const V16* sum) HWY_ATTR {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto wide = hn::BitCast(d32, sum[v]);
        const auto even = hn::ShiftRight<16>(hn::ShiftLeft<16>(wide)), odd = hn::ShiftRight<16>(wide);
        std::int32_t* HWY_RESTRICT to = sums + chain * kTileColumns + v * kLanes;
        hn::Store(hn::Add(hn::Load(d32, to), even), d32, to);
        hn::Store(hn::Add(hn::Load(d32, to + kLanes / 2), odd), d32, to + kLanes / 2);
      }
    });
  }
}

/// 65536 * sigmoid(field / 4096).
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D16> > sigmoid_of(const SigmoidPieces& pieces, V16 field) {
  const hn::RebindToUnsigned<D16> du;
  const hn::Repartition<std::uint8_t, D16> d8;
  const auto size = hn::Min(hn::BitCast(du, hn::Abs(field)), hn::Set(du, 32767));
  const auto piece = hn::ShiftRight<11>(size);
  const auto x = hn::BitCast(d16, hn::ShiftLeft<4>(hn::And(size, hn::Set(du, 2047))));
  // Indices for the low and the high byte; one with its top bit set gives zero.
  const auto low = hn::BitCast(d8, hn::Or(piece, hn::Set(du, 0x8000)));
  const auto high = hn::BitCast(d8, hn::Or(hn::ShiftLeft<8>(piece), hn::Set(du, 0x0080)));
  const auto coefficient = [&](std::size_t k) HWY_ATTR {
    const auto low_bytes = hn::TableLookupBytesOr0(hn::LoadDup128(d8, pieces.bytes[k][0]), low);
    const auto high_bytes = hn::TableLookupBytesOr0(hn::LoadDup128(d8, pieces.bytes[k][1]), high);
    return hn::BitCast(d16, hn::Or(low_bytes, high_bytes));
  };
  const auto slope = hn::Add(coefficient(1), hn::MulFixedPoint15(coefficient(2), x));
  const auto tail = hn::BitCast(du, hn::Add(coefficient(0), hn::MulFixedPoint15(slope, x)));
  const auto negative = hn::BitCast(du, hn::BroadcastSignBit(field));
  // tail if the field is negative, 65536 - tail if not.
  return hn::Sub(hn::Xor(tail, hn::Not(negative)), hn::Not(negative));
}

void sigmoid16_all(const SigmoidPieces& pieces, const std::int16_t* fields, std::uint16_t* out, std::size_t count) {
  const hn::RebindToUnsigned<D16> du;
  for (std::size_t k = 0; k < count; k += kLanes) {
    hn::StoreU(sigmoid_of(pieces, hn::LoadU(d16, fields + k)), du, out + k);
  }
}

/// The sum of the weights whose bits are set, in any order.
HWY_INLINE double sum_of_set(const std::uint64_t* bits, const float* HWY_RESTRICT weights, std::size_t count) {
  const hn::CappedTag<float, 8> df;
  const hn::Half<decltype(df)> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bits);
  auto sum = hn::Zero(dd), other = hn::Zero(dd);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t k = 0; k < 8; k += hn::Lanes(df)) {
      const std::uint8_t mask_bits[8] = {static_cast<std::uint8_t>(bytes[i / 8] >> k)};
      const auto set = hn::IfThenElseZero(hn::LoadMaskBits(df, mask_bits), hn::LoadU(df, weights + i + k));
      sum = hn::Add(sum, hn::PromoteTo(dd, hn::LowerHalf(dh, set)));
      other = hn::Add(other, hn::PromoteTo(dd, hn::UpperHalf(dh, set)));
    }
  }
  double total = hn::GetLane(hn::SumOfLanes(dd, hn::Add(sum, other)));
  for (; i < count; ++i) {
    if ((bits[i / 64] >> (i % 64)) & 1u) total += weights[i];
  }
  return total;
}

/// The bit of one unit whose 16 upper random bits are too close to its probability in the rounded weights.
HWY_NOINLINE bool decide(const TableCall& call, std::size_t r, std::uint32_t unit, std::uint32_t coarse,
                         double rounded_field, double error) {
  const double upper = coarse;
  // The sigmoid itself may not have been fine enough.
  if (upper + 1.0 <= sigmoid(rounded_field - error) * (65536.0 - 1e-6)) return true;
  if (upper >= sigmoid(rounded_field + error) * (65536.0 + 1e-6)) return false;

  const Levels in = call.x.levels();
  const double gap = call.out.levels().gap();
  const std::uint64_t* bits = call.x.bits().row(call.first_row + r).data();
  const float* weights = call.map.transposed.row(unit).data();
  double field = call.map.bias[unit] + in.gap() * sum_of_set(bits, weights, call.x.units());
  if (in.low != 0.0f) {
    double all = 0.0;
    for (std::size_t i = 0; i < call.x.units(); ++i) all += weights[i];
    field += in.low * all;
  }
  // Both this sum and the definition's are off by at most n roundoffs of the reach.
  const double roundoff = 4.0 * 0x1p-53 * static_cast<double>(call.x.units() + 4) * call.map.quantised->reach()[unit];
  const auto chain = call.first_chain + static_cast<std::uint32_t>(r);
  const bool low = falls_below(sigmoid(gap * (field - roundoff)) - 1e-14, coarse, call.draw, chain, unit);
  const bool high = falls_below(sigmoid(gap * (field + roundoff)) + 1e-14, coarse, call.draw, chain, unit);
  if (low == high) return low;
  return defined_bit(call.x, call.first_row + r, call.map, gap, call.draw, chain, unit, coarse);
}

/// How many bits are set in each row, from row `first` on.
void count_set(const Bits& bits, std::size_t first, std::span<std::uint32_t> out) {
  for (std::size_t r = 0; r < out.size(); ++r) {
    int set = 0;
    for (const std::uint64_t word : bits.row(first + r)) set += std::popcount(word);
    out[r] = static_cast<std::uint32_t>(set);
  }
}

/// The upper random bits of the tile's units, for kDrawnChains chains: the rounds of many blocks go side by side, since
/// each waits for the one before it.
HWY_INLINE void draw_coarse(const Draw& draw, std::uint32_t first_chain, std::uint32_t first_unit,
                            TileScratch& scratch) {
  const hn::FixedTag<std::uint8_t, 16> d;
  const hn::FixedTag<std::uint32_t, 4> d32;
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
      state[k] = hn::Xor(hn::BitCast(d, hn::LoadU(d32, counter.data())), keys[0]);
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

/// Draws one tile of the output for all chains of the plan.
void sample_tile(const TableCall& call, std::size_t tile, TileScratch& scratch) {
  const QuantisedWeights& weights = *call.map.quantised;
  const LookupPlan& plan = call.plan;
  add_up(weights, plan, tile, scratch);
  std::int32_t* HWY_RESTRICT sums = scratch.sums.data();

  const hn::RebindToUnsigned<D16> du;
  const hn::Repartition<std::int32_t, D16> d32;
  const Levels in = call.x.levels(), levels = call.out.levels();
  const int exponent = weights.exponent(tile);
  const int doubling = in.gap() == 2.0f ? 1 : 0;  // a spin changes by two
  // From the tile's units of 2^-exponent to 2^-12, times the gap of the output.
  const int shift = exponent - 12 - (levels.gap() == 2.0f ? 1 : 0);
  const int right = std::max(shift, 0), left = std::max(-shift, 0);
  const auto half = hn::Set(d32, right > 0 ? 1 << (right - 1) : 0);
  const auto limit = hn::Set(d32, 1 << (30 - left));
  const auto narrow = [&](auto field) HWY_ATTR {
    field = hn::Max(hn::Min(field, limit), hn::Neg(limit));
    field = hn::ShiftRightSame(hn::Add(hn::ShiftLeftSame(field, left), half), right);
    return hn::Max(hn::Min(field, hn::Set(d32, 32767)), hn::Set(d32, -32768));
  };
  // Where a column's sum lies: first the even columns of a vector, then the odd ones.
  const auto place = [](std::size_t c) {
    const std::size_t lane = c % kLanes;
    return c - lane + (lane % 2) * (kLanes / 2) + lane / 2;
  };
  alignas(kCacheLine) std::int32_t offsets[kTileColumns];
  for (std::size_t c = 0; c < kTileColumns; ++c) offsets[place(c)] = weights.offsets(tile)[c];
  const auto first_unit = static_cast<std::uint32_t>(tile * kTileColumns);
  const std::size_t width = std::min(kTileColumns, call.map.bias.size() - first_unit);
  const std::uint32_t inside = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  const double unit = std::ldexp(double{levels.gap()}, -exponent);

  for (std::size_t r = 0; r < plan.rows(); ++r) {
    if (r % kDrawnChains == 0) {
      draw_coarse(call.draw, call.first_chain + static_cast<std::uint32_t>(r), first_unit, scratch);
    }
    const auto* HWY_RESTRICT random = reinterpret_cast<const std::uint16_t*>(scratch.coarse[r % kDrawnChains].data());
    const std::size_t terms = in.low == 0.0f ? call.terms[r] : call.x.units();
    const double error = 0.5 * unit * static_cast<double>(terms + 2);
    // e^E - 1 < E + E^2 up to E = 1, in 2^-16. What does not fit makes every unit unsure.
    const double spread = 65536.0 * (error + error * error);
    const bool too_wide = !(spread < 65534.0);
    const auto factor = hn::Set(du, static_cast<std::uint16_t>(too_wide ? 65535 : static_cast<int>(spread) + 1));
    const auto slack = hn::Set(du, static_cast<std::uint16_t>(too_wide ? 65535 : kSigmoid16Error + 3));

    std::int32_t* HWY_RESTRICT row = sums + r * kTileColumns;
    alignas(8) std::uint8_t on_bytes[8] = {}, sure_bytes[8] = {};
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t c = v * kLanes;
      const auto even = hn::Add(hn::ShiftLeftSame(hn::Load(d32, row + c), doubling), hn::Load(d32, offsets + c));
      const auto odd = hn::Add(hn::ShiftLeftSame(hn::Load(d32, row + c + kLanes / 2), doubling),
                               hn::Load(d32, offsets + c + kLanes / 2));
      const auto field = hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(narrow(odd))), hn::BitCast(d16, narrow(even)));
      const auto p = sigmoid_of(call.pieces, field);
      const auto variance = hn::MulHigh(p, hn::Sub(hn::Zero(du), p));
      const auto margin = hn::SaturatedAdd(hn::MulHigh(variance, factor), slack);
      const auto u = hn::Load(du, random + c);
      const auto on = hn::Lt(u, hn::SaturatedSub(p, margin));
      const auto off = hn::Gt(u, hn::SaturatedAdd(p, hn::Sub(margin, hn::Set(du, 1))));
      hn::StoreMaskBits(du, on, on_bytes + c / 8);
      hn::StoreMaskBits(du, hn::Or(on, off), sure_bytes + c / 8);
    }
    std::uint32_t bits, sure;
    std::memcpy(&bits, on_bytes, sizeof(bits));
    std::memcpy(&sure, sure_bytes, sizeof(sure));
    bits &= inside;
    for (std::uint32_t unsure = ~sure & inside; unsure != 0; unsure &= unsure - 1) {
      const auto c = static_cast<std::uint32_t>(std::countr_zero(unsure));
      const double sum = std::ldexp(double{row[place(c)]}, doubling) + offsets[place(c)];
      const bool high = decide(call, r, first_unit + c, random[c], unit * sum, error);
      bits |= std::uint32_t{high} << c;
    }
    auto* words = reinterpret_cast<unsigned char*>(call.out.bits().row(call.first_row + r).data());
    std::memcpy(words + tile * sizeof(bits), &bits, sizeof(bits));
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sample_tile);
HWY_EXPORT(sigmoid16_all);
HWY_EXPORT(count_set);

constexpr std::size_t kFewChains = 8;  // tables cost more to make than they save

/// The parabolas through both ends and the middle of each piece.
SigmoidPieces make_pieces() {
  SigmoidPieces out{};
  for (std::size_t piece = 0; piece < SigmoidPieces::kPieces; ++piece) {
    const double begin = 0.5 * static_cast<double>(piece);
    const double y0 = sigmoid(-begin), y1 = sigmoid(-begin - 0.25), y2 = sigmoid(-begin - 0.5);
    const double coefficients[3] = {y0, 4.0 * y1 - y2 - 3.0 * y0, 2.0 * y0 + 2.0 * y2 - 4.0 * y1};
    for (std::size_t k = 0; k < 3; ++k) {
      const double rounded = std::min(std::nearbyint(coefficients[k] * 65536.0), 32767.0);
      const auto value = static_cast<std::uint16_t>(static_cast<std::int16_t>(rounded));
      out.bytes[k][0][piece] = static_cast<std::uint8_t>(value & 0xFFu);
      out.bytes[k][1][piece] = static_cast<std::uint8_t>(value >> 8);
    }
  }
  return out;
}

const SigmoidPieces& pieces() {
  static const SigmoidPieces made = make_pieces();
  return made;
}

bool plain_levels(Levels levels) { return levels == Levels{0.0f, 1.0f} || levels == Levels{-1.0f, 1.0f}; }

}  // namespace

bool tables_serve(const State& x, const Affine& map, const State& out) {
  return x.chains() >= kFewChains && plain_levels(x.levels()) && plain_levels(out.levels()) && map.quantised->usable();
}

void sample_by_tables(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                      const Context& context) {
  thread_local LookupPlan plan;  // kept, so that sampling allocates nothing
  std::array<std::uint32_t, LookupPlan::kMaxRows> terms;
  const std::size_t words = Bits::words_for(x.units());
  for (std::size_t begin = 0; begin < x.chains(); begin += LookupPlan::kMaxRows) {
    const std::size_t rows = std::min(LookupPlan::kMaxRows, x.chains() - begin);
    plan.make({x.bits().row(begin).data(), rows, words, 1, words, 1}, context);
    HWY_DYNAMIC_DISPATCH(count_set)(x.bits(), begin, {terms.data(), rows});
    const TableCall call{
        x,        map, plan, {terms.data(), rows}, begin, draw, static_cast<std::uint32_t>(first_chain + begin),
        pieces(), out};
    context.for_blocks(map.quantised->tiles(), 1, [&call](std::size_t tile, std::size_t) {
      thread_local TileScratch scratch;
      HWY_DYNAMIC_DISPATCH(sample_tile)(call, tile, scratch);
    });
  }
}

void sigmoid16(std::span<const std::int16_t> fields, std::span<std::uint16_t> out) {
  HWY_DYNAMIC_DISPATCH(sigmoid16_all)(pieces(), fields.data(), out.data(), fields.size());
}

}  // namespace ergodic
#endif  // HWY_ONCE
