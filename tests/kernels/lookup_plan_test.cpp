#include "ergodic/kernels/lookup_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using RowWords = std::array<std::uint64_t, 2>;

/// Looks up what a plan says, in a table whose entries are the very bits that select them.
void expect_plan(const LookupPlan& plan, const BitBlocks& bits) {
  ASSERT_EQ(plan.rows(), bits.rows);
  for (std::size_t b = 0; b < bits.blocks; ++b) {
    const LookupPlan::Block& block = plan.block(b);
    std::vector<int> seen(bits.rows);
    std::uint32_t used = 0;
    ASSERT_EQ(block.first.front(), 0u);
    ASSERT_EQ(block.first.back(), bits.rows);
    for (std::size_t pairs = 0; pairs <= LookupPlan::kMaxPairs; ++pairs) {
      ASSERT_LE(block.first[pairs], block.first[pairs + 1]);
      for (std::size_t place = block.first[pairs]; place < block.first[pairs + 1]; ++place) {
        ASSERT_LT(block.row[place], bits.rows);
        ++seen[block.row[place]];
        RowWords rebuilt = {};
        std::size_t selected = 0;
        for (std::size_t e = 0; e < 2 * pairs; ++e) {
          const std::size_t k = (place - block.first[pairs]) * 2 * pairs + e;
          const std::size_t at =
              bits.words == 1 ? block.entries<1>(pairs)[k] * kEntryBytes : block.entries<2>(pairs)[k];
          ASSERT_EQ(at % kEntryBytes, 0u);
          const std::size_t group = at / kGroupBytes;
          const std::uint64_t value = at % kGroupBytes / kEntryBytes;
          ASSERT_LT(group, std::min(LookupPlan::kMaxGroups, 16 * bits.words));
          ASSERT_TRUE(value == 0 || (block.used_groups >> group) & 1u);  // else nobody has filled it
          if (bits.words == 1 && value % 4 != 0 && value / 4 != 0 && ((block.full_groups >> group) & 1u) == 0) {
            const auto sums = std::span(block.sums).first(block.sum_count);
            ASSERT_TRUE(std::ranges::count(sums, at / kEntryBytes) == 1);
          }
          const std::uint64_t mask = value << (kGroupBits * (group % 16));
          ASSERT_EQ(rebuilt[group / 16] & mask, 0u);  // a sum would count it twice; the empty selection adds nothing
          rebuilt[group / 16] |= mask;
          used |= std::uint32_t{value != 0} << group;
          selected += value != 0;
        }
        ASSERT_GE(2 * pairs, selected);
        const std::uint64_t* words = bits.at(b, block.row[place]);
        for (std::size_t w = 0; w < bits.words; ++w) ASSERT_EQ(rebuilt[w], words[w]);
      }
    }
    ASSERT_EQ(block.used_groups & used, used);
    for (const int times : seen) ASSERT_EQ(times, 1);
  }
  std::vector<std::uint32_t> set_bits(bits.rows);
  plan.count_set_bits(set_bits);
  for (std::size_t r = 0; r < bits.rows; ++r) {
    std::uint32_t set = 0;
    for (std::size_t b = 0; b < bits.blocks; ++b) {
      for (std::size_t w = 0; w < bits.words; ++w) set += static_cast<std::uint32_t>(std::popcount(bits.at(b, r)[w]));
    }
    ASSERT_EQ(set_bits[r], set);
  }
}

TEST(LookupPlan, EntriesRebuildExactlyTheBitsOfEachWord) {
  LookupPlan kept;
  for (const std::size_t rows : {1u, 2u, 7u, 8u, 9u, 64u, 511u, 512u, 3u}) {
    for (const std::size_t cols : {1u, 4u, 63u, 64u, 65u, 130u, 300u}) {
      for (const double density : {0.0, 0.02, 0.2, 0.5, 1.0}) {
        const Bits x = test::random_bits(rows, cols, density, 1);
        const BitBlocks bits = blocks_of(x, 0, rows);
        test::for_each_target([&] {
          LookupPlan fresh;
          fresh.make(bits, {});
          ASSERT_NO_FATAL_FAILURE(expect_plan(fresh, bits));
          kept.make(bits, {});
          ASSERT_NO_FATAL_FAILURE(expect_plan(kept, bits));
        });
      }
    }
  }
}

TEST(LookupPlan, EntriesRebuildExactlyTheBitsOfTwoWords) {
  // Blocks of two words lie as the statistics have them: block by block, with room for other rows between.
  for (const std::size_t rows : {1u, 5u, 130u, 512u}) {
    for (const double density : {0.0, 0.02, 0.2, 0.5, 1.0}) {
      constexpr std::size_t kBlocks = 3, kBits = LookupPlan::kMaxGroups * kGroupBits;
      const Bits x = test::random_bits(kBlocks * (rows + 4), kBits, density, 2);
      const BitBlocks bits{x.row(2).data(), rows, kBlocks, 2, 2, 2 * (rows + 4)};
      test::for_each_target([&] {
        for (const std::size_t count : {1u, 3u}) {
          Threads threads(count);
          LookupPlan plan;
          plan.make(bits, Context{&threads});
          ASSERT_NO_FATAL_FAILURE(expect_plan(plan, bits));
        }
      });
    }
  }
}

TEST(LookupPlan, ABlockIsPlannedAgainAfterItsBitsHaveChanged) {
  for (const std::size_t rows : {1u, 9u, 100u}) {
    test::for_each_target([&] {
      Bits x = test::random_bits(rows + 3, 300, 0.3, 3);
      const BitBlocks bits = blocks_of(x, 3, rows);
      LookupPlan plan;
      plan.make(bits, {});
      for (const std::size_t block : {0u, 4u, 2u, 2u}) {
        const Bits others = test::random_bits(rows + 3, 300, block == 2 ? 0.0 : 0.7, 4);
        for (std::size_t r = 0; r < rows; ++r) x.row(3 + r)[block] = others.row(3 + r)[block];
        plan.remake_block(bits, block);
        ASSERT_NO_FATAL_FAILURE(expect_plan(plan, bits));
      }
    });
  }
}

TEST(LookupPlan, EverySingleBitAndEveryGroupIsSelected) {
  Bits x(LookupPlan::kMaxGroups * (kGroupBits + kGroupEntries - 1), LookupPlan::kMaxGroups * kGroupBits);
  std::size_t r = 0;
  for (std::size_t c = 0; c < x.cols(); ++c) x.set(r++, c, true);
  for (std::size_t g = 0; g < LookupPlan::kMaxGroups; ++g) {
    for (std::size_t value = 1; value < kGroupEntries; ++value, ++r) {
      for (std::size_t k = 0; k < kGroupBits; ++k) x.set(r, g * kGroupBits + k, (value >> k) & 1u);
    }
  }
  ASSERT_EQ(r, x.rows());
  for (std::size_t first = 0; first < x.rows(); first += LookupPlan::kMaxRows) {
    const BitBlocks bits{x.row(first).data(), std::min(LookupPlan::kMaxRows, x.rows() - first), 1, 2, 2, 1};
    test::for_each_target([&] {
      LookupPlan plan;
      plan.make(bits, {});
      ASSERT_NO_FATAL_FAILURE(expect_plan(plan, bits));
    });
  }
}

}  // namespace
}  // namespace ergodic
