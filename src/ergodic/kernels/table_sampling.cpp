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

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/table_sampling-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Without vectors the definition runs instead.
void sample_tile(const TableCall&, std::size_t, TileScratch&) {}
void sigmoid16_all(const std::int16_t*, std::uint16_t*, std::size_t) {}
#else

void sigmoid16_all(const std::int16_t* fields, std::uint16_t* out, std::size_t count) {
  for (std::size_t k = 0; k < count; k += kLanes) {
    hn::StoreU(sigmoid_of(sigmoid_pieces(), hn::LoadU(d16, fields + k)), du16, out + k);
  }
}

/// Draws one tile of the output for all chains of the plan.
void sample_tile(const TableCall& call, std::size_t tile, TileScratch& scratch) {
  {
    const Timed timed(call.profile, Stage::kProduct, call.plan.rows() * call.x.units() * kTileColumns);
    add_up(*call.map.quantised, call.plan, tile, scratch);
  }
  const Timed timed(call.profile, Stage::kDraw);
  const Judge judge(call, tile);
  const SigmoidPieces& pieces = sigmoid_pieces();
  alignas(kCacheLine) std::int32_t offsets[kTileColumns];
  for (std::size_t c = 0; c < kTileColumns; ++c) offsets[place(c)] = call.map.quantised->offsets(tile)[c];
  const auto first_unit = static_cast<std::uint32_t>(tile * kTileColumns);
  const std::size_t width = std::min(kTileColumns, call.map.bias.size() - first_unit);
  const auto inside = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);

  std::size_t unsure_count = 0;
  for (std::size_t r = 0; r < call.plan.rows(); ++r) {
    if (r % kDrawnChains == 0) {
      draw_coarse(call.draw, call.first_chain + static_cast<std::uint32_t>(r), first_unit, scratch);
    }
    const auto* HWY_RESTRICT random = reinterpret_cast<const std::uint16_t*>(scratch.coarse[r % kDrawnChains].data());
    const Margin margin(judge.error(call.terms[r]));
    const std::int32_t* HWY_RESTRICT sums = scratch.sums.data() + r * kTileColumns;
    std::uint32_t bits = 0, sure = 0;
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
      constexpr std::size_t kFirst = v * kLanes, kOdd = kFirst + kLanes / 2;
      const auto field = judge.fields(hn::Load(d32, sums + kFirst), hn::Load(d32, sums + kOdd),
                                      hn::Load(d32, offsets + kFirst), hn::Load(d32, offsets + kOdd));
      V16 on, known;
      margin.judge(pieces, field, hn::Load(du16, random + kFirst), on, known);
      bits |= bits_of(on) << kFirst;
      sure |= bits_of(known) << kFirst;
    });
    bits &= inside;
    for (std::uint32_t unsure = ~sure & inside; unsure != 0; unsure &= unsure - 1) {
      const auto c = static_cast<std::uint32_t>(std::countr_zero(unsure));
      fetch_weights(call, first_unit + c);
      scratch.unsure[unsure_count++] = {static_cast<std::uint32_t>(r), first_unit + c, random[c]};
    }
    call.out.bits().set_half_word(call.first_row + r, tile, bits);
    if (unsure_count + kTileColumns > scratch.unsure.size() || r + 1 == call.plan.rows()) {
      for (const auto& [row, unit, coarse] : std::span(scratch.unsure).first(unsure_count)) {
        if (!decide(call, row, unit, coarse)) continue;
        Bits& out = call.out.bits();
        const std::uint32_t known = out.half_word(call.first_row + row, tile);
        out.set_half_word(call.first_row + row, tile, known | (1u << (unit - first_unit)));
      }
      unsure_count = 0;
    }
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

bool plain_levels(Levels levels) { return levels == Levels{0.0f, 1.0f} || levels == Levels{-1.0f, 1.0f}; }

}  // namespace

const SigmoidPieces& sigmoid_pieces() {
  static const SigmoidPieces made = make_pieces();
  return made;
}

bool tables_serve(const State& x, const Affine& map, const State& out) {
  return x.chains() >= kFewChains && plain_levels(x.levels()) && plain_levels(out.levels()) && map.quantised->usable();
}

void sample_by_tables(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                      const Context& context) {
  thread_local LookupPlan plan;  // kept, so that sampling allocates nothing
  std::array<std::uint32_t, LookupPlan::kMaxRows> terms;
  for (std::size_t begin = 0; begin < x.chains(); begin += LookupPlan::kMaxRows) {
    const std::size_t rows = std::min(LookupPlan::kMaxRows, x.chains() - begin);
    plan.make(blocks_of(x.bits(), begin, rows), context);
    for (std::size_t r = 0; r < rows; ++r) {
      terms[r] = x.levels().low == 0.0f ? plan.set_bits(r) : static_cast<std::uint32_t>(x.units());
    }
    const auto first = static_cast<std::uint32_t>(first_chain + begin);
    const TableCall call{x, map, plan, {terms.data(), rows}, begin, draw, first, out, context.profile};
    context.for_blocks(map.quantised->tiles(), 1, [&call](std::size_t tile, std::size_t) {
      thread_local TileScratch scratch;
      HWY_DYNAMIC_DISPATCH(sample_tile)(call, tile, scratch);
    });
  }
}

void sigmoid16(std::span<const std::int16_t> fields, std::span<std::uint16_t> out) {
  HWY_DYNAMIC_DISPATCH(sigmoid16_all)(fields.data(), out.data(), fields.size());
}

}  // namespace ergodic
#endif  // HWY_ONCE
