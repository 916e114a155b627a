#include "ergodic/kernels/lookup_plan.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/lookup_plan.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

// What all targets share.
#ifndef ERGODIC_LOOKUP_PLAN_SHARED
#define ERGODIC_LOOKUP_PLAN_SHARED
namespace ergodic {

/// For each choice of eight lanes of 16 bits, the order of bytes that brings the chosen ones to the front. (Highway 1.0
/// has such a table too, but GCC 12 copies it to the stack at each use.)
inline constexpr auto kToFront = [] {
  std::array<std::array<std::uint8_t, 16>, 256> out{};
  for (std::size_t chosen = 0; chosen < out.size(); ++chosen) {
    std::size_t to = 0;
    for (std::size_t lane = 0; lane < 8; ++lane) {
      if (((chosen >> lane) & 1u) == 0) continue;
      out[chosen][to++] = static_cast<std::uint8_t>(2 * lane);
      out[chosen][to++] = static_cast<std::uint8_t>(2 * lane + 1);
    }
  }
  return out;
}();

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kWordGroups = 64 / kGroupBits;

/// One bit for each group of a word that is not empty.
HWY_INLINE std::uint64_t filled_groups(std::uint64_t word) {
  word |= word >> 2;
  return (word | (word >> 1)) & 0x1111111111111111u;
}

/// Writes the entries of the groups that are not empty, the first group of the word being at `base`; returns where they
/// end. What follows up to the 16th is overwritten.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
std::uint16_t* write_filled(std::uint64_t word, std::size_t base, std::uint16_t* entries) {
  for (std::size_t g = 0; g < kWordGroups; ++g) {
    const std::size_t value = (word >> (kGroupBits * g)) & (kGroupEntries - 1);
    if (value != 0) *entries++ = static_cast<std::uint16_t>(base + g * kGroupBytes + value * kEntryBytes);
  }
  return entries;
}
#elif HWY_TARGET == HWY_AVX3_DL
HWY_INLINE std::uint16_t* write_filled(std::uint64_t word, std::size_t base, std::uint16_t* entries) {
  static_assert(kGroupBits == 4 && kEntryBytes == 64 && kGroupBytes == 1024);
  const hn::FixedTag<std::uint16_t, 16> d;
  // Each byte is any eight neighbouring bits of the word: lane g becomes group g, moved up by six bits.
  alignas(32) static constexpr auto kFirstBit = [] {
    std::array<std::uint8_t, 32> out{};
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<std::uint8_t>((2 * k + 58 + k % 2 * 6) % 64);
    return out;
  }();
  const __m256i bits = _mm256_multishift_epi64_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(&kFirstBit)),
                                                    _mm256_set1_epi64x(static_cast<std::int64_t>(word)));
  const auto values = hn::And(hn::VFromD<decltype(d)>{bits}, hn::Set(d, 0x03C0));
  const auto places =
      hn::Add(hn::Set(d, static_cast<std::uint16_t>(base)), hn::ShiftLeft<10>(hn::Iota(d, std::uint16_t{0})));
  const auto filled = hn::Ne(values, hn::Zero(d));
  const hn::VFromD<decltype(d)> chosen{_mm256_maskz_compress_epi16(filled.raw, hn::Add(values, places).raw)};
  hn::StoreU(chosen, d, entries);
  return entries + hn::CountTrue(d, filled);
}
#else
HWY_INLINE std::uint16_t* write_filled(std::uint64_t word, std::size_t base, std::uint16_t* entries) {
  static_assert(kGroupBits == 4 && kEntryBytes == 64 && kGroupBytes == 1024);
  const hn::FixedTag<std::uint16_t, 8> d;
  const hn::FixedTag<std::uint64_t, 2> d64;
  const hn::FixedTag<std::uint8_t, 16> d8;
  const auto bytes = hn::BitCast(d8, hn::Set(d64, word));
  const auto pairs = hn::BitCast(d, hn::InterleaveLower(d8, bytes, hn::Zero(d8)));  // two groups in each lane
  const auto even = hn::ShiftLeft<6>(hn::And(pairs, hn::Set(d, 0x0F)));
  const auto odd = hn::ShiftLeft<2>(hn::And(pairs, hn::Set(d, 0xF0)));
  const auto write = [&](hn::VFromD<decltype(d)> values, std::size_t first) HWY_ATTR {
    const auto places = hn::Add(hn::Set(d, static_cast<std::uint16_t>(base + first * kGroupBytes)),
                                hn::ShiftLeft<10>(hn::Iota(d, std::uint16_t{0})));
    std::uint8_t chosen[8] = {};
    hn::StoreMaskBits(d, hn::Ne(values, hn::Zero(d)), chosen);
    const auto order = hn::LoadU(d8, kToFront[chosen[0]].data());
    hn::StoreU(hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, hn::Add(values, places)), order)), d, entries);
    entries += std::popcount(chosen[0]);
  };
  write(hn::InterleaveLower(d, even, odd), 0);
  write(hn::InterleaveUpper(d, even, odd), 8);
  return entries;
}
#endif

template <std::size_t kWords>
HWY_INLINE void plan_words(const BitBlocks& bits, std::size_t b, LookupPlan::Block& block) {
  std::uint64_t used[kWords] = {};
  std::array<std::uint64_t, kWords * LookupPlan::kMaxRows> near;  // the words, which may lie far apart
  std::array<std::uint8_t, LookupPlan::kMaxRows> pairs;
  constexpr std::size_t kTurns = 4;  // counters that take turns, so that none waits for the last
  std::array<std::uint16_t, LookupPlan::kMaxPairs + 2> counts[kTurns] = {};
  constexpr std::size_t kStride = kWords * kWordGroups;
  block.stride = kStride;
  const std::uint64_t* words = bits.at(b, 0);
  for (std::size_t r = 0; r < bits.rows; ++r, words += bits.row_stride) {
    int groups = 0, set = 0;
    for (std::size_t w = 0; w < kWords; ++w) {
      const std::uint64_t word = near[r * kWords + w] = words[w], filled = filled_groups(word);
      used[w] |= filled;
      set += std::popcount(word);
      groups += std::popcount(filled);
    }
    block.set_bits[r] = static_cast<std::uint8_t>(set);
    pairs[r] = static_cast<std::uint8_t>((groups + 1) / 2);
    ++counts[r % kTurns][pairs[r] + std::size_t{1}];
  }
  block.used_groups = 0;
  for (std::size_t g = 0; g < kStride; ++g) {
    block.used_groups |= static_cast<std::uint32_t>((used[g / kWordGroups] >> (kGroupBits * (g % kWordGroups))) & 1u)
                         << g;
  }
  block.first[0] = 0;
  for (std::size_t p = 1; p < block.first.size(); ++p) {
    block.first[p] = block.first[p - 1];
    for (const auto& turn : counts) block.first[p] = static_cast<std::uint16_t>(block.first[p] + turn[p]);
  }

  std::array<std::uint16_t, LookupPlan::kMaxPairs + 1> next;
  for (std::size_t p = 0; p < next.size(); ++p) next[p] = block.first[p];
  for (std::size_t r = 0; r < bits.rows; ++r) {
    const std::size_t place = next[pairs[r]]++;
    block.row[place] = static_cast<std::uint16_t>(r);
    std::uint16_t* const first = block.entries.data() + place * kStride;
    std::uint16_t* entry = first;
    for (std::size_t w = 0; w < kWords; ++w) {
      entry = write_filled(near[r * kWords + w], w * kWordGroups * kGroupBytes, entry);
    }
    // An odd number is made even by the first entry of all, which is zero.
    if (entry != first + kStride) *entry = 0;
  }
}

void plan_block(const BitBlocks& bits, std::size_t b, LookupPlan::Block& block) {
  bits.words == 1 ? plan_words<1>(bits, b, block) : plan_words<2>(bits, b, block);
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(plan_block);
}

void LookupPlan::make_all(std::span<const Task> tasks, const Context& context) {
  for (const auto& [plan, bits] : tasks) {
    assert(bits.rows <= kMaxRows && bits.words <= 2);
    plan->rows_ = bits.rows;
    plan->used_blocks_ = bits.blocks;
    if (plan->blocks_.size() < bits.blocks) plan->blocks_.resize(bits.blocks);
  }
  context.for_blocks_of_all(
      tasks.size(), [&](std::size_t k) { return tasks[k].bits.blocks; }, 1,
      [&](std::size_t k, std::size_t b, std::size_t) {
        const Timed timed(context.profile, Stage::kPlan);
        HWY_DYNAMIC_DISPATCH(plan_block)(tasks[k].bits, b, tasks[k].plan->blocks_[b]);
      });
}

void LookupPlan::count_set_bits(std::span<std::uint32_t> out) const {
  assert(out.size() == rows_);
  std::ranges::fill(out, 0u);
  for (std::size_t b = 0; b < used_blocks_; ++b) {
    for (std::size_t r = 0; r < out.size(); ++r) out[r] += blocks_[b].set_bits[r];
  }
}

void LookupPlan::remake_block(const BitBlocks& bits, std::size_t block) {
  assert(bits.rows == rows_);
  HWY_DYNAMIC_DISPATCH(plan_block)(bits, block, blocks_[block]);
}

}  // namespace ergodic
#endif  // HWY_ONCE
