#include "ergodic/kernels/unit_words.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/unit_words.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ergodic/kernels/lookup-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

void transpose_block(const std::uint32_t* in, std::uint32_t* out) {
  for (std::size_t c = 0; c < kTileUnits; ++c) {
    out[c] = 0;
    for (std::size_t r = 0; r < kTileUnits; ++r) out[c] |= ((in[r] >> c) & 1u) << r;
  }
}

void add_tile_terms(std::span<const ProductTerm> terms, const std::uint32_t* bits, Levels levels, double* sums) {
  for (const auto& [a, b, factor] : terms) {
    for (std::size_t c = 0; c < kTileChains; ++c) {
      const bool high_a = (bits[a] >> c) & 1u, high_b = (bits[b] >> c) & 1u;
      sums[c] += factor * double{high_a ? levels.high : levels.low} * double{high_b ? levels.high : levels.low};
    }
  }
}

#else

void transpose_block(const std::uint32_t* HWY_RESTRICT in, std::uint32_t* HWY_RESTRICT out) {
  const hn::CappedTag<std::uint8_t, kTileChains> d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr std::size_t kRows = hn::MaxLanes(d);  // of which a vector has a byte
  std::fill_n(out, kTileUnits, 0u);
  for (std::size_t first = 0; first < kTileChains; first += kRows) {
    hn::VFromD<decltype(d)> planes[4];  // byte by byte
    hn::LoadInterleaved4(d, reinterpret_cast<const std::uint8_t*>(in + first), planes[0], planes[1], planes[2],
                         planes[3]);
    unroll<4>([&](auto plane) ERGODIC_LAMBDA {
      auto bytes = planes[plane];
      for (std::size_t bit = 8; bit-- > 0; bytes = hn::Add(bytes, bytes)) {
        std::uint8_t signs[8] = {};
        hn::StoreMaskBits(di, hn::Lt(hn::BitCast(di, bytes), hn::Zero(di)), signs);
        std::uint32_t word;
        std::memcpy(&word, signs, sizeof(word));
        out[plane * 8 + bit] |= word << first;
      }
    });
  }
}

void add_tile_terms(std::span<const ProductTerm> terms, const std::uint32_t* HWY_RESTRICT bits, Levels levels,
                    double* HWY_RESTRICT sums) {
  const hn::CappedTag<double, 4> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToUnsigned<decltype(d)> du;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kVectors = 4;
  const bool spins = levels.low != 0.0f;
  // Moving the bit of lane k to its sign.
  const auto to_sign = hn::Sub(hn::Set(du, 63), hn::Iota(du, 0));
  for (std::size_t first = 0; first < kTileChains; first += kVectors * kLanes) {
    hn::VFromD<decltype(d)> sum[kVectors];
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { sum[v] = hn::LoadU(d, sums + first + v * kLanes); });
    for (const auto& [a, b, factor] : terms) {
      const std::uint32_t high = spins ? ~(bits[a] ^ bits[b]) : bits[a] & bits[b];
      const auto word = hn::Set(du, std::uint64_t{high} >> first);
      const auto yes = hn::Set(d, factor), no = spins ? hn::Neg(yes) : hn::Zero(d);
      unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
        const auto moved = hn::BitCast(di, hn::Shl(word, hn::Sub(to_sign, hn::Set(du, v * kLanes))));
        const auto here = hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(moved)));
        sum[v] = hn::Add(sum[v], hn::IfThenElse(here, yes, no));
      });
    }
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { hn::StoreU(sum[v], d, sums + first + v * kLanes); });
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(transpose_block);
HWY_EXPORT(add_tile_terms);
}  // namespace

void transpose_bits(std::span<const std::uint32_t, kTileChains> in, std::span<std::uint32_t, kTileUnits> out) {
  HWY_DYNAMIC_DISPATCH(transpose_block)(in.data(), out.data());
}

void load_bits(const Bits& from, std::size_t first_row, std::size_t begin, std::size_t end, UnitWords& out) {
  const std::size_t count = std::min(kTileChains, from.rows() - first_row);
  for (std::size_t first = begin; first < end; first += kTileUnits) {
    std::array<std::uint32_t, kTileChains> rows{};
    for (std::size_t r = 0; r < count; ++r) rows[r] = from.half_word(first_row + r, first / kTileUnits);
    transpose_bits(rows, std::span(out).subspan(first).first<kTileUnits>());
  }
}

void store_bits(const UnitWords& from, std::size_t first_row, std::size_t begin, std::size_t end, Bits& out) {
  const std::size_t count = std::min(kTileChains, out.rows() - first_row);
  for (std::size_t first = begin; first < end; first += kTileUnits) {
    std::array<std::uint32_t, kTileUnits> rows;
    transpose_bits(std::span(from).subspan(first).first<kTileUnits>(), rows);
    for (std::size_t r = 0; r < count; ++r) out.set_half_word(first_row + r, first / kTileUnits, rows[r]);
  }
}

void add_products(std::span<const ProductTerm> terms, const UnitWords& bits, Levels levels,
                  std::span<double, kTileChains> sums) {
  HWY_DYNAMIC_DISPATCH(add_tile_terms)(terms, bits.data(), levels, sums.data());
}

}  // namespace ergodic
#endif  // HWY_ONCE
