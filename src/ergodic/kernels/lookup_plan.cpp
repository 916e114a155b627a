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

/// For each choice of eight bytes, the order that brings the chosen ones to the front.
inline constexpr auto kToFront = [] {
  std::array<std::array<std::uint8_t, 8>, 256> out{};
  for (std::size_t chosen = 0; chosen < out.size(); ++chosen) {
    std::size_t to = 0;
    for (std::size_t lane = 0; lane < 8; ++lane) {
      if ((chosen >> lane) & 1u) out[chosen][to++] = static_cast<std::uint8_t>(lane);
    }
  }
  return out;
}();

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kWordGroups = LookupPlan::kWordGroups;

/// One bit for each group of a word that is not empty.
HWY_INLINE std::uint64_t filled_groups(std::uint64_t word) {
  word |= word >> 2;
  return (word | (word >> 1)) & 0x1111111111111111u;
}

/// A bit for each value of each group of a word.
using ValueSets = std::array<std::uint16_t, kWordGroups>;

/// UsedValues: the values that groups have had.
///
/// write_filled: Writes the entries of the groups of word w that are not empty, and adds their values to `used`;
/// returns where they end. What follows up to the 16th is overwritten.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
struct UsedValues : ValueSets {
  const ValueSets& sets() const { return *this; }
};

template <std::size_t kWords>
LookupPlan::Entry<kWords>* write_filled(std::uint64_t word, std::size_t w, LookupPlan::Entry<kWords>* entries,
                                        UsedValues& used) {
  for (std::size_t g = 0; g < kWordGroups; ++g) {
    const std::size_t value = (word >> (kGroupBits * g)) & (kGroupEntries - 1);
    const std::size_t number = (w * kWordGroups + g) * kGroupEntries + value;
    used[g] = static_cast<std::uint16_t>(used[g] | (1u << value));
    if (value != 0) *entries++ = static_cast<LookupPlan::Entry<kWords>>(kWords == 1 ? number : number * kEntryBytes);
  }
  return entries;
}
#else
class UsedValues {
 public:
  using D = hn::FixedTag<std::uint8_t, kWordGroups>;

  HWY_INLINE UsedValues() : low_(hn::Zero(D())), high_(hn::Zero(D())) {}
  HWY_INLINE void add(hn::VFromD<D> values) {
    alignas(16) static constexpr std::uint8_t kBits[kGroupEntries] = {1, 2, 4, 8, 16, 32, 64, 128};
    const auto low = hn::Load(D(), kBits), high = hn::CombineShiftRightBytes<8>(D(), low, low);
    low_ = hn::Or(low_, hn::TableLookupBytes(low, values));
    high_ = hn::Or(high_, hn::TableLookupBytes(high, values));
  }
  HWY_INLINE ValueSets sets() const {
    ValueSets out;
    const hn::RepartitionToWide<D> wide;
    hn::StoreU(hn::ZipLower(wide, low_, high_), wide, out.data());
    hn::StoreU(hn::ZipUpper(wide, low_, high_), wide, out.data() + kWordGroups / 2);
    return out;
  }

 private:
  hn::VFromD<D> low_, high_;  // of values below 8, and of the others
};

/// Given their numbers in the word.
template <std::size_t kWords, class V>
HWY_INLINE void write_numbers(V numbers, std::size_t w, LookupPlan::Entry<kWords>* entries) {
  const hn::DFromV<V> d8;
  if constexpr (kWords == 1) {
    hn::StoreU(numbers, d8, entries);
  } else {
    static_assert(kEntryBytes == 64);
    const hn::Rebind<std::uint16_t, decltype(d8)> d16;
    const auto base = hn::Set(d16, static_cast<std::uint16_t>(w * kWordGroups * kGroupBytes));
    hn::StoreU(hn::Add(hn::ShiftLeft<6>(hn::PromoteTo(d16, numbers)), base), d16, entries);
  }
}

template <std::size_t kWords>
HWY_INLINE LookupPlan::Entry<kWords>* write_filled(std::uint64_t word, std::size_t w,
                                                   LookupPlan::Entry<kWords>* entries, UsedValues& used) {
  static_assert(kGroupBits == 4);
  const hn::FixedTag<std::uint8_t, kWordGroups> d8;
  alignas(16) static constexpr std::uint8_t kFirst[kWordGroups] = {0,   16,  32,  48,  64,  80,  96,  112,
                                                                   128, 144, 160, 176, 192, 208, 224, 240};
#if HWY_TARGET == HWY_AVX3_DL
  // Each byte is any eight neighbouring bits of the word.
  alignas(16) static constexpr std::uint8_t kFirstBit[kWordGroups] = {0,  4,  8,  12, 16, 20, 24, 28,
                                                                      32, 36, 40, 44, 48, 52, 56, 60};
  const hn::VFromD<decltype(d8)> bits{
      _mm_multishift_epi64_epi8(hn::Load(d8, kFirstBit).raw, _mm_set1_epi64x(static_cast<std::int64_t>(word)))};
  const auto values = hn::And(bits, hn::Set(d8, 0x0F));
  if constexpr (kWords == 1) used.add(values);
  const auto filled = hn::Ne(values, hn::Zero(d8));
  const auto numbers = hn::Or(values, hn::Load(d8, kFirst));
  write_numbers<kWords>(hn::VFromD<decltype(d8)>{_mm_maskz_compress_epi8(filled.raw, numbers.raw)}, w, entries);
  return entries + hn::CountTrue(d8, filled);
#else
  const hn::FixedTag<std::uint64_t, 2> d64;
  const hn::FixedTag<std::uint16_t, 8> d16;
  const hn::Half<decltype(d8)> half;
  const auto bytes = hn::BitCast(d8, hn::Set(d64, word)), low = hn::Set(d8, 0x0F);
  const auto even = hn::And(bytes, low),
             odd = hn::And(hn::BitCast(d8, hn::ShiftRight<4>(hn::BitCast(d16, bytes))), low);
  const auto values = hn::InterleaveLower(d8, even, odd);
  if constexpr (kWords == 1) used.add(values);
  std::uint8_t filled[8] = {};
  hn::StoreMaskBits(d8, hn::Ne(values, hn::Zero(d8)), filled);
  const auto numbers = hn::Or(values, hn::Load(d8, kFirst));
  const auto write = [&](auto eight, std::uint8_t chosen) HWY_ATTR {
    write_numbers<kWords>(hn::TableLookupBytes(eight, hn::LoadU(half, kToFront[chosen].data())), w, entries);
    entries += std::popcount(chosen);
  };
  write(hn::LowerHalf(half, numbers), filled[0]);
  write(hn::UpperHalf(half, numbers), filled[1]);
  return entries;
#endif
}
#endif

/// Says which entries to fill.
HWY_INLINE void find_sums(const ValueSets& used, LookupPlan::Block& block) {
  constexpr std::uint32_t kSums = 0xEEE0u;  // of values with bits of both pairs
  block.full_groups = 0;
  block.sum_count = 0;
  for (std::uint32_t left = block.used_groups; left != 0; left &= left - 1) {
    const auto g = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint32_t sums = used[g] & kSums;
    if (static_cast<std::size_t>(std::popcount(sums)) > LookupPlan::kFewSums) {
      block.full_groups |= 1u << g;
      continue;
    }
    for (; sums != 0; sums &= sums - 1) {
      const std::size_t entry = g * kGroupEntries + static_cast<std::size_t>(std::countr_zero(sums));
      block.sums[block.sum_count++] = static_cast<std::uint8_t>(entry);
    }
  }
}

template <std::size_t kWords>
HWY_INLINE void plan_words(const BitBlocks& bits, std::size_t b, LookupPlan::Block& block) {
  std::uint64_t used[kWords] = {};
  std::array<std::uint64_t, kWords * LookupPlan::kMaxRows> near;  // the words, which may lie far apart
  std::array<std::uint8_t, LookupPlan::kMaxRows> pairs;
  constexpr std::size_t kTurns = 4;  // counters that take turns, so that none waits for the last
  std::array<std::uint16_t, LookupPlan::kMaxPairs + 1> counts[kTurns] = {};
  constexpr std::size_t kStride = kWords * kWordGroups;
  const std::uint64_t* words = bits.at(b, 0);
  const std::size_t rows = bits.rows, row_stride = bits.row_stride;  // which no store of bytes below can change
  const auto measure = [&](std::size_t r, std::size_t turn) HWY_ATTR {
    int groups = 0, set = 0;
    for (std::size_t w = 0; w < kWords; ++w) {
      const std::uint64_t word = near[r * kWords + w] = words[w], filled = filled_groups(word);
      used[w] |= filled;
      set += std::popcount(word);
      groups += std::popcount(filled);
    }
    words += row_stride;
    block.set_bits[r] = static_cast<std::uint8_t>(set);
    pairs[r] = static_cast<std::uint8_t>((groups + 1) / 2);
    ++counts[turn][pairs[r]];
  };
  std::size_t measured = 0;
  for (; measured + kTurns <= rows; measured += kTurns) {
    for (std::size_t turn = 0; turn < kTurns; ++turn) measure(measured + turn, turn);
  }
  for (; measured < rows; ++measured) measure(measured, 0);
  block.used_groups = 0;
  for (std::size_t g = 0; g < kStride; ++g) {
    block.used_groups |= static_cast<std::uint32_t>((used[g / kWordGroups] >> (kGroupBits * (g % kWordGroups))) & 1u)
                         << g;
  }
  // For rows with p pairs: the place of the next one, with the place where its entries begin in the upper half; and the
  // step from one row to the next.
  std::array<std::uint64_t, LookupPlan::kMaxPairs + 1> next, step;
  std::uint32_t place = 0, entry = 0;
  for (std::uint32_t p = 0; p <= LookupPlan::kMaxPairs; ++p) {
    next[p] = place | std::uint64_t{entry} << 32;
    step[p] = 1 | std::uint64_t{2 * p} << 32;
    block.first[p] = static_cast<std::uint16_t>(place);
    block.begin[p] = static_cast<std::uint16_t>(entry);
    std::uint32_t count = 0;
    for (const auto& turn : counts) count += turn[p];
    place += count;
    entry += 2 * p * count + static_cast<std::uint32_t>(kStride);
  }
  block.first.back() = static_cast<std::uint16_t>(place);
  block.used_memory = (entry * sizeof(LookupPlan::Entry<kWords>) + 1) / sizeof(block.memory[0]);

  UsedValues values{};
  auto* const entries = reinterpret_cast<LookupPlan::Entry<kWords>*>(block.memory.data());
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint64_t at = next[pairs[r]];
    next[pairs[r]] = at + step[pairs[r]];
    block.row[at & 0xFFFFFFFFu] = static_cast<std::uint16_t>(r);
    LookupPlan::Entry<kWords>* to = entries + (at >> 32);
    for (std::size_t w = 0; w < kWords; ++w) to = write_filled<kWords>(near[r * kWords + w], w, to, values);
    // An odd number is made even by the first entry of all, which is zero. What this and the last word write beyond the
    // end is overwritten by the rows that follow, or belongs to none.
    *to = 0;
  }
  if constexpr (kWords == 1) find_sums(values.sets(), block);
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

void LookupPlan::Block::copy(const Block& other, std::size_t rows) {
  used_groups = other.used_groups;
  full_groups = other.full_groups;
  sum_count = other.sum_count;
  std::copy_n(other.sums.begin(), sum_count, sums.begin());
  first = other.first;
  begin = other.begin;
  std::copy_n(other.set_bits.begin(), rows, set_bits.begin());
  std::copy_n(other.row.begin(), rows, row.begin());
  used_memory = other.used_memory;
  std::copy_n(other.memory.begin(), used_memory, memory.begin());
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
        const Timed timed(context.profile, ProfiledStage::kPlan);
        const auto& [plan, bits] = tasks[k];
        if (context.thread_count() == 1) return HWY_DYNAMIC_DISPATCH(plan_block)(bits, b, plan->blocks_[b]);
        // Others have read the lines of the last plan, so that each must be fetched to be written. A copy asks for one
        // after the other without a wait; planning, which writes here and there, would wait for most of them.
        thread_local Block own;
        HWY_DYNAMIC_DISPATCH(plan_block)(bits, b, own);
        plan->blocks_[b].copy(own, bits.rows);
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
