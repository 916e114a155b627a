#include "ergodic/kernels/lookup_plan.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/lookup_plan.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <bit>
#include <cassert>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

/// One bit for each group of a word that is not empty.
HWY_INLINE std::uint64_t filled_groups(std::uint64_t word) {
  word |= word >> 2;
  return (word | (word >> 1)) & 0x1111111111111111u;
}

/// Compiled for each target for its bit counting alone.
void plan_block(const BitBlocks& bits, std::size_t b, LookupPlan::Block& block) {
  std::uint64_t used[2] = {};
  std::array<std::uint8_t, LookupPlan::kMaxRows> pairs;
  block.first.fill(0);
  for (std::size_t r = 0; r < bits.rows; ++r) {
    const std::uint64_t* words = bits.at(b, r);
    int groups = 0;
    for (std::size_t w = 0; w < bits.words; ++w) {
      const std::uint64_t filled = filled_groups(words[w]);
      used[w] |= filled;
      groups += std::popcount(filled);
    }
    pairs[r] = static_cast<std::uint8_t>((groups + 1) / 2);
    ++block.first[pairs[r] + std::size_t{1}];
  }
  block.used_groups = 0;
  for (std::size_t g = 0; g < 16 * bits.words; ++g) {
    block.used_groups |= static_cast<std::uint32_t>((used[g / 16] >> (kGroupBits * (g % 16))) & 1u) << g;
  }
  for (std::size_t p = 1; p < block.first.size(); ++p) {
    block.first[p] = static_cast<std::uint16_t>(block.first[p] + block.first[p - 1]);
  }

  std::array<std::uint16_t, LookupPlan::kMaxPairs + 1> next;
  for (std::size_t p = 0; p < next.size(); ++p) next[p] = block.first[p];
  for (std::size_t r = 0; r < bits.rows; ++r) {
    const std::size_t place = next[pairs[r]]++;
    block.row[place] = static_cast<std::uint16_t>(r);
    std::uint16_t* entry = block.entries[place].data();
    const std::uint64_t* words = bits.at(b, r);
    for (std::size_t w = 0; w < bits.words; ++w) {
      for (std::uint64_t filled = filled_groups(words[w]); filled != 0; filled &= filled - 1) {
        const auto shift = static_cast<std::size_t>(std::countr_zero(filled));
        const std::size_t value = (words[w] >> shift) & (kGroupEntries - 1);
        *entry++ = static_cast<std::uint16_t>((64 * w + shift) * (kGroupBytes / kGroupBits) + value * kEntryBytes);
      }
    }
    // An odd number is made even by the zero entry of the last group.
    if ((entry - block.entries[place].data()) % 2 != 0) {
      *entry = static_cast<std::uint16_t>(entry[-1] / kGroupBytes * kGroupBytes);
    }
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
  if (blocks_.size() < bits.blocks) blocks_.resize(bits.blocks);
  constexpr std::size_t kBlocksAtATime = 2;
  context.for_blocks(bits.blocks, kBlocksAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) HWY_DYNAMIC_DISPATCH(plan_block)(bits, b, blocks_[b]);
  });
}

}  // namespace ergodic
#endif  // HWY_ONCE
