#include "ergodic/kernels/table_sampling.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/table_sampling.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/decide-inl.hpp"
#include "ergodic/kernels/sparse_sums.hpp"
#include "ergodic/kernels/table_sampling-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Without vectors the definition runs instead.
void sample_tile(const TableCall&, const LookupPlan&, std::size_t, TileScratch&) {}
void sample_summed_tile(const TableCall&, const std::int32_t*, std::size_t, TileScratch&) {}
void tail16_all(const std::int16_t*, std::uint16_t*, std::size_t) {}
#else

void tail16_all(const std::int16_t* fields, std::uint16_t* out, std::size_t count) {
  for (std::size_t k = 0; k < count; k += kLanes) {
    hn::StoreU(tail_of(sigmoid_pieces(), hn::LoadU(d16, fields + k)), du16, out + k);
  }
}

/// Decides the units that are unsure, all of which are off until then.
HWY_INLINE void decide_all(const TableCall& call, std::size_t tile, std::span<const UnsureUnits> all) {
  const auto first_unit = static_cast<std::uint32_t>(tile * kTileColumns);
  const auto for_units = [&](const UnsureUnits& unsure, const auto& f) {
    for (std::uint32_t units = unsure.units; units != 0; units &= units - 1) {
      f(static_cast<std::uint32_t>(std::countr_zero(units)));
    }
  };
  constexpr std::size_t kAhead = 2;
  for (std::size_t k = 0; k < all.size() + kAhead; ++k) {
    if (k < all.size()) for_units(all[k], [&](std::uint32_t c) { fetch_weights(call, first_unit + c); });
    if (k < kAhead) continue;
    const UnsureUnits& unsure = all[k - kAhead];
    unsigned char* const drawn = call.drawn.at(unsure.chain, tile);
    std::uint32_t bits;
    std::memcpy(&bits, drawn, sizeof(bits));
    for_units(unsure, [&](std::uint32_t c) {
      const std::uint32_t coarse = coarse_bits_of(call.draw, call.first_chain + unsure.chain, first_unit + c);
      bits |= std::uint32_t{decide(call, unsure.chain, first_unit + c, coarse)} << c;
    });
    std::memcpy(drawn, &bits, sizeof(bits));
  }
}

/// From the sums of a tile to bits. Returns the units that are unsure, which are off. Sums that may be changed become
/// zero, for the next tile: here that costs nothing.
template <class Sum>
HWY_INLINE std::span<const UnsureUnits> draw_tile(const TableCall& call, Sum* all_sums, std::size_t tile,
                                                  TileScratch& scratch) {
  const Timed timed(call.profile, ProfiledStage::kDraw);
  const SigmoidPieces& pieces = sigmoid_pieces();
  const auto first_unit = static_cast<std::uint32_t>(tile * kTileColumns);
  const std::size_t width = std::min(kTileColumns, call.map.bias.size() - first_unit);
  const auto inside = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  const TileRules rules = rules_for(call, tile);
  alignas(kCacheLine) float scales[kTileColumns], offsets[kTileColumns];
  put_in_place(rules.scale, scales);
  put_in_place(rules.offset, offsets);

  CoarseBits coarse(call.draw, call.first_chain, first_unit);
  VU16 next[kVectors];
  coarse.next(next);
  std::size_t unsure_count = 0;
  unsigned char* drawn = call.drawn.at(0, tile);
  for (std::size_t r = 0; r < call.rows; ++r) {
    VU16 random[kVectors];
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { random[v] = next[v]; });
    coarse.next(next);  // which the CPU makes while it judges this chain
    const auto share = hn::Set(du16, call.terms.shares()[r]);
    Sum* HWY_RESTRICT sums = all_sums + r * kTileColumns;
    std::uint32_t off = 0, unsure_units = 0;
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
      constexpr std::size_t kFirst = v * kLanes, kUpper = kFirst + kLanes / 2;
      const auto field = fields_of(hn::Load(d32, sums + kFirst), hn::Load(d32, sums + kUpper),
                                   hn::Load(df32, scales + kFirst), hn::Load(df32, scales + kUpper),
                                   hn::Load(df32, offsets + kFirst), hn::Load(df32, offsets + kUpper));
      if constexpr (!std::is_const_v<Sum>) {
        hn::Store(hn::Zero(d32), d32, sums + kFirst);
        hn::Store(hn::Zero(d32), d32, sums + kUpper);
      }
      const Verdict verdict = judge(pieces, field, random[v], share, hn::Load(du16, rules.spread + kFirst),
                                    hn::Load(du16, rules.slack + kFirst));
      off |= bits_of(verdict.off) << kFirst;
      unsure_units |= bits_of(verdict.unsure) << kFirst;
    });
    unsure_units &= inside;
    const std::uint32_t bits = ~off & inside & ~unsure_units;
    std::memcpy(drawn, &bits, sizeof(bits));
    drawn += call.drawn.row_stride;
    // What is unsure is written always, and kept if there is any: the CPU has nothing to guess.
    scratch.unsure[unsure_count] = {static_cast<std::uint32_t>(r), unsure_units};
    unsure_count += unsure_units != 0;
  }
  return std::span(scratch.unsure).first(unsure_count);
}

template <class Sum>
HWY_INLINE void draw_and_decide(const TableCall& call, Sum* sums, std::size_t tile, TileScratch& scratch) {
  const std::span<const UnsureUnits> unsure = draw_tile(call, sums, tile, scratch);
  const Timed timed(call.profile, ProfiledStage::kDecide);
  decide_all(call, tile, unsure);
}

/// Draws one tile of the output for all rows, given their sums.
void sample_summed_tile(const TableCall& call, const std::int32_t* sums, std::size_t tile, TileScratch& scratch) {
  draw_and_decide(call, sums, tile, scratch);
}

/// Draws one tile of the output for all rows, given a plan of the rows. The sums of the scratch are zero before and
/// after it.
void sample_tile(const TableCall& call, const LookupPlan& plan, std::size_t tile, TileScratch& scratch) {
  {
    const Timed timed(call.profile, ProfiledStage::kProduct, call.rows * call.x.units() * kTileColumns);
    // The last tile may be half empty.
    const bool half = call.map.bias.size() - tile * kTileColumns <= kTileColumns / 2;
    half ? add_sums_of_on<HalfTile>(*call.map.quantised, plan, tile, scratch)
         : add_sums_of_on<Tile>(*call.map.quantised, plan, tile, scratch);
  }
  draw_and_decide(call, scratch.sums.data(), tile, scratch);
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sample_tile);
HWY_EXPORT(sample_summed_tile);
HWY_EXPORT(tail16_all);

constexpr std::size_t kFewChains = 8;  // tables cost more to make than they save

/// The parabolas through both ends and the middle of each piece. The last piece stands for all beyond it, down to zero,
/// and is lowered to be equally far from both.
SigmoidPieces make_pieces() {
  SigmoidPieces out{};
  for (std::size_t piece = 0; piece < SigmoidPieces::kPieces; ++piece) {
    const double begin = 0.5 * static_cast<double>(piece);
    const double y0 = sigmoid(-begin), y1 = sigmoid(-begin - 0.25), y2 = sigmoid(-begin - 0.5);
    const double lowered = piece + 1 == SigmoidPieces::kPieces ? 11.0 / 65536.0 : 0.0;
    const double coefficients[3] = {y0 - lowered, 4.0 * y1 - y2 - 3.0 * y0, 2.0 * y0 + 2.0 * y2 - 4.0 * y1};
    for (std::size_t k = 0; k < 3; ++k) {
      const double rounded = std::min(std::nearbyint(coefficients[k] * 65536.0), 32767.0);
      const auto value = static_cast<std::uint16_t>(static_cast<std::int16_t>(rounded));
      out.lanes[k][piece] = out.lanes[k][piece + SigmoidPieces::kPieces] = static_cast<std::int16_t>(rounded);
      out.bytes[k][0][piece] = static_cast<std::uint8_t>(value & 0xFFu);
      out.bytes[k][1][piece] = static_cast<std::uint8_t>(value >> 8);
    }
  }
  return out;
}

bool plain_levels(Levels levels) { return levels == Levels{0.0f, 1.0f} || levels == Levels{-1.0f, 1.0f}; }

}  // namespace

const SigmoidPieces& sigmoid_pieces() {
  static const SigmoidPieces made = make_pieces();
  return made;
}

bool tables_serve(const State& x, const Affine& map, const State& out) {
  const auto fits = [](float base) { return std::abs(base) < QuantisedWeights::kLargestReach; };
  return x.chains() >= kFewChains && plain_levels(x.levels()) && plain_levels(out.levels()) &&
         map.quantised->usable() && std::all_of(map.base.begin(), map.base.end(), fits);
}

namespace {

constexpr std::size_t kChunks = 2;  // of rows, for each of which there is a plan at the same time

/// The rows of a chunk.
struct Chunk {
  std::size_t begin = 0, rows = 0;
};

DrawnBits drawn_in_place(Bits& out, std::size_t first_row) {
  const std::span<std::uint64_t> row = out.row(first_row);
  return {reinterpret_cast<unsigned char*>(row.data()), row.size_bytes(), sizeof(std::uint32_t)};
}

/// Tiles of a row lie beside each other in one or two cache lines. Threads that draw them at the same time would wait
/// for each other's writes, so each tile is drawn apart, and all are moved to their places together.
DrawnBits drawn_apart(std::size_t rows, std::size_t tiles) {
  thread_local AlignedVector<std::uint32_t> kept;  // so that sampling allocates nothing
  constexpr std::size_t kLineBits = kCacheLine / sizeof(std::uint32_t);
  const std::size_t of_tile = (rows + kLineBits - 1) / kLineBits * kLineBits;
  if (kept.size() < of_tile * tiles) kept.resize(of_tile * tiles);
  return {reinterpret_cast<unsigned char*>(kept.data()), sizeof(std::uint32_t), of_tile * sizeof(std::uint32_t)};
}

constexpr std::size_t kMovedRows = 64;

/// Moves rows [first, last) of what was drawn apart to the rows of `out` from `begin` on.
void move_drawn(const DrawnBits& drawn, std::size_t first, std::size_t last, std::size_t tiles, std::size_t begin,
                Bits& out) {
  const std::size_t stride = Bits::words_for(out.cols());
  for (std::size_t tile = 0; tile < tiles; tile += 2) {
    std::uint64_t* to = &out.row(begin + first)[tile / 2];
    const bool pair = tile + 1 < tiles;
    for (std::size_t r = first; r < last; ++r, to += stride) {
      std::uint32_t low, high = 0;
      std::memcpy(&low, drawn.at(r, tile), sizeof(low));
      if (pair) std::memcpy(&high, drawn.at(r, tile + 1), sizeof(high));
      *to = low | std::uint64_t{high} << 32;
    }
  }
}

/// For some chunks of rows at a time, calls prepare(chunks), and then draw_tile(k, call, tile, scratch) for each tile
/// of each. set_bits(k, chunk) says how many bits of each row of the chunk are set.
template <class Prepare, class SetBits, class DrawTile>
void sample_tiles(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                  const Context& context, const Prepare& prepare, const SetBits& set_bits, const DrawTile& draw_tile) {
  const std::size_t tiles = map.quantised->tiles();
  const bool apart = context.thread_count() > 1;
  for (std::size_t begin = 0; begin < x.chains(); begin += kChunks * LookupPlan::kMaxRows) {
    const std::size_t left = std::min(kChunks * LookupPlan::kMaxRows, x.chains() - begin);
    const std::size_t count = (left + LookupPlan::kMaxRows - 1) / LookupPlan::kMaxRows;
    Chunk chunks[kChunks];
    for (std::size_t k = 0; k < count; ++k) {
      chunks[k] = {begin + k * left / count, (k + 1) * left / count - k * left / count};
    }
    prepare(std::span<const Chunk>(chunks, count));
    const DrawnBits drawn = apart ? drawn_apart(left, tiles) : drawn_in_place(out.bits(), begin);
    std::optional<Terms> terms[kChunks];
    std::optional<TableCall> calls[kChunks];
    for (std::size_t k = 0; k < count; ++k) {
      terms[k].emplace(x, set_bits(k, chunks[k]));
      calls[k].emplace(TableCall{x, map, chunks[k].rows, *terms[k], chunks[k].begin, draw,
                                 static_cast<std::uint32_t>(first_chain + chunks[k].begin), out, context.profile,
                                 DrawnBits{drawn.at(chunks[k].begin - begin, 0), drawn.row_stride, drawn.tile_stride}});
    }
    context.for_blocks_of_all(
        count, [&](std::size_t) { return tiles; }, 1,
        [&](std::size_t k, std::size_t tile, std::size_t) {
          thread_local TileScratch scratch;
          draw_tile(k, *calls[k], tile, scratch);
        });
    if (!apart) continue;
    context.for_blocks(left, kMovedRows, [&](std::size_t first, std::size_t last) {
      const Timed timed(context.profile, ProfiledStage::kDraw);
      move_drawn(drawn, first, last, tiles, begin, out.bits());
    });
  }
}

/// As sample_by_tables, where few inputs are on.
void sample_sparse(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                   const Context& context) {
  thread_local InputSums kept;  // so that sampling allocates nothing
  InputSums& found = kept;      // the same in all threads
  std::size_t begin = 0, rows = 0;
  sample_tiles(
      x, map, draw, first_chain, out, context,
      [&](std::span<const Chunk> chunks) {
        begin = chunks.front().begin;
        rows = chunks.back().begin + chunks.back().rows - begin;
        find_sparse_sums(x, begin, rows, *map.quantised, found, context);
      },
      [&](std::size_t, const Chunk& chunk) {
        return std::span<const std::uint32_t>(found.set_bits).subspan(chunk.begin - begin, chunk.rows);
      },
      [&](std::size_t, const TableCall& call, std::size_t tile, TileScratch& scratch) {
        const std::int32_t* of_tile = found.sums.data() + (tile * rows + call.first_row - begin) * kTileColumns;
        HWY_DYNAMIC_DISPATCH(sample_summed_tile)(call, of_tile, tile, scratch);
      });
}

}  // namespace

void sample_by_tables(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                      const Context& context) {
  if (few_are_on(x)) return sample_sparse(x, map, draw, first_chain, out, context);
  thread_local std::array<LookupPlan, kChunks> kept;  // so that sampling allocates nothing
  std::array<LookupPlan, kChunks>& plans = kept;      // the same ones in all threads
  std::array<std::uint32_t, LookupPlan::kMaxRows> counts;
  sample_tiles(
      x, map, draw, first_chain, out, context,
      [&](std::span<const Chunk> chunks) {
        LookupPlan::Task tasks[kChunks];
        for (std::size_t k = 0; k < chunks.size(); ++k) {
          tasks[k] = {&plans[k], blocks_of(x.bits(), chunks[k].begin, chunks[k].rows)};
        }
        LookupPlan::make_all(std::span(tasks).first(chunks.size()), context);
      },
      [&](std::size_t k, const Chunk& chunk) -> std::span<const std::uint32_t> {
        const auto found = std::span(counts).first(chunk.rows);
        plans[k].count_set_bits(found);
        return found;
      },
      [&](std::size_t k, const TableCall& call, std::size_t tile, TileScratch& scratch) {
        HWY_DYNAMIC_DISPATCH(sample_tile)(call, plans[k], tile, scratch);
      });
}

void sample_summed(const State& x, const InputSums& found, const Affine& map, const Draw& draw,
                   std::uint64_t first_chain, State& out, const Context& context) {
  assert(found.sums.size() == map.quantised->tiles() * x.chains() * kTileColumns);
  sample_tiles(
      x, map, draw, first_chain, out, context, [](std::span<const Chunk>) {},
      [&](std::size_t, const Chunk& chunk) { return std::span(found.set_bits).subspan(chunk.begin, chunk.rows); },
      [&](std::size_t, const TableCall& call, std::size_t tile, TileScratch& scratch) {
        const std::int32_t* of_tile = found.sums.data() + (tile * x.chains() + call.first_row) * kTileColumns;
        HWY_DYNAMIC_DISPATCH(sample_summed_tile)(call, of_tile, tile, scratch);
      });
}

void tail16(std::span<const std::int16_t> fields, std::span<std::uint16_t> out) {
  HWY_DYNAMIC_DISPATCH(tail16_all)(fields.data(), out.data(), fields.size());
}

}  // namespace ergodic
#endif  // HWY_ONCE
