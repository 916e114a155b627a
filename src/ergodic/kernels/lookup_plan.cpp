#include "ergodic/kernels/lookup_plan.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/lookup_plan.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cassert>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

/// One bit for each group of a word that is not empty.
HWY_INLINE std::uint64_t filled_groups(std::uint64_t word) {
  word |= word >> 2;
  return (word | (word >> 1)) & 0x1111111111111111u;
}

// A word with at least so many groups that are not empty gets entries for all of them: it takes fewer instructions.
constexpr int kNearlyFull = 13;
constexpr std::size_t kWordGroups = 64 / kGroupBits;

/// Entries for all groups of a word, the first of which is at `base`.
HWY_INLINE void write_all(std::uint64_t word, std::size_t base, std::uint16_t* entries) {
  for (std::size_t g = 0; g < kWordGroups; ++g) {
    const std::size_t value = (word >> (kGroupBits * g)) & (kGroupEntries - 1);
    entries[g] = static_cast<std::uint16_t>(base + g * kGroupBytes + value * kEntryBytes);
  }
}

/// Entries for the groups that are not empty; returns where they end.
HWY_INLINE std::uint16_t* write_filled(std::uint64_t word, std::size_t base, std::uint16_t* entries) {
  for (std::uint64_t filled = filled_groups(word); filled != 0; filled &= filled - 1) {
    const auto shift = static_cast<std::size_t>(std::countr_zero(filled));
    const std::size_t value = (word >> shift) & (kGroupEntries - 1);
    *entries++ = static_cast<std::uint16_t>(base + shift * (kGroupBytes / kGroupBits) + value * kEntryBytes);
  }
  return entries;
}

void plan_block(const BitBlocks& bits, std::size_t b, LookupPlan::Block& block) {
  std::uint64_t used[2] = {};
  std::array<std::uint8_t, LookupPlan::kMaxRows> pairs;
  block.first.fill(0);
  block.stride = std::min(LookupPlan::kMaxGroups, bits.words * kWordGroups);
  for (std::size_t r = 0; r < bits.rows; ++r) {
    const std::uint64_t* words = bits.at(b, r);
    int groups = 0, set = 0;
    for (std::size_t w = 0; w < bits.words; ++w) {
      const std::uint64_t filled = filled_groups(words[w]);
      const int count = std::popcount(filled);
      used[w] |= count >= kNearlyFull ? ~std::uint64_t{0} : filled;
      set += std::popcount(words[w]);
      groups += count >= kNearlyFull ? static_cast<int>(kWordGroups) : count;
    }
    block.set_bits[r] = static_cast<std::uint8_t>(set);
    pairs[r] = static_cast<std::uint8_t>((groups + 1) / 2);
    ++block.first[pairs[r] + std::size_t{1}];
  }
  block.used_groups = 0;
  for (std::size_t g = 0; g < kWordGroups * bits.words; ++g) {
    block.used_groups |= static_cast<std::uint32_t>((used[g / kWordGroups] >> (kGroupBits * (g % kWordGroups))) & 1u)
                         << g;
  }
  for (std::size_t p = 1; p < block.first.size(); ++p) {
    block.first[p] = static_cast<std::uint16_t>(block.first[p] + block.first[p - 1]);
  }

  std::array<std::uint16_t, LookupPlan::kMaxPairs + 1> next;
  for (std::size_t p = 0; p < next.size(); ++p) next[p] = block.first[p];
  for (std::size_t r = 0; r < bits.rows; ++r) {
    const std::size_t place = next[pairs[r]]++;
    block.row[place] = static_cast<std::uint16_t>(r);
    std::uint16_t* const first = block.entries.data() + place * block.stride;
    std::uint16_t* entry = first;
    const std::uint64_t* words = bits.at(b, r);
    for (std::size_t w = 0; w < bits.words; ++w) {
      const std::size_t base = w * kWordGroups * kGroupBytes;
      if (std::popcount(filled_groups(words[w])) >= kNearlyFull) {
        write_all(words[w], base, entry);
        entry += kWordGroups;
      } else {
        entry = write_filled(words[w], base, entry);
      }
    }
    // An odd number is made even by the zero entry of the last group.
    if ((entry - first) % 2 != 0) *entry = static_cast<std::uint16_t>(entry[-1] / kGroupBytes * kGroupBytes);
  }
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(plan_block);
}

void LookupPlan::make(const BitBlocks& bits, const Context& context) {
  assert(bits.rows <= kMaxRows && bits.words <= 2);
  rows_ = bits.rows;
  used_blocks_ = bits.blocks;
  if (blocks_.size() < bits.blocks) blocks_.resize(bits.blocks);
  constexpr std::size_t kBlocksAtATime = 2;
  context.for_blocks(bits.blocks, kBlocksAtATime, [&](std::size_t begin, std::size_t end) {
    const Timed timed(context.profile, Stage::kPlan);
    for (std::size_t b = begin; b < end; ++b) HWY_DYNAMIC_DISPATCH(plan_block)(bits, b, blocks_[b]);
  });
}

void LookupPlan::remake_block(const BitBlocks& bits, std::size_t block) {
  assert(bits.rows == rows_);
  HWY_DYNAMIC_DISPATCH(plan_block)(bits, block, blocks_[block]);
}

}  // namespace ergodic
#endif  // HWY_ONCE
