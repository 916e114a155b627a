#include "ergodic/kernels/bit_counts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/bit_counts.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Counts the 64 columns of one word, in at most 255 rows.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
void count_word(const Bits& bits, std::size_t word, std::size_t begin, std::size_t end, std::uint8_t* counts) {
  std::fill_n(counts, Bits::kWordBits, std::uint8_t{0});
  for (std::size_t r = begin; r < end; ++r) {
    for (std::size_t c = 0; c < Bits::kWordBits; ++c) {
      counts[c] = static_cast<std::uint8_t>(counts[c] + ((bits.row(r)[word] >> c) & 1u));
    }
  }
}
#else
void count_word(const Bits& bits, std::size_t word, std::size_t begin, std::size_t end, std::uint8_t* counts) {
  const hn::CappedTag<std::uint8_t, 32> d;
  for (std::size_t c = 0; c < Bits::kWordBits; c += hn::Lanes(d)) {
    auto count = hn::Zero(d);
    for (std::size_t r = begin; r < end; ++r) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&bits.row(r)[word]);
      count = hn::Sub(count, hn::VecFromMask(d, hn::LoadMaskBits(d, bytes + c / 8)));
    }
    hn::StoreU(count, d, counts + c);
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(count_word);
constexpr std::size_t kMostRows = 255;
}  // namespace

void count_columns(std::span<const ColumnCounts> all, const Context& context) {
  constexpr std::size_t kWords = 4;
  context.for_blocks_of_all(
      all.size(), [&](std::size_t k) { return Bits::words_for(all[k].bits->cols()); }, kWords,
      [&](std::size_t k, std::size_t first, std::size_t last) {
        const auto& [bits, counts] = all[k];
        assert(counts.size() == bits->cols());
        for (std::size_t word = first; word < last; ++word) {
          const std::size_t column = word * Bits::kWordBits;
          const auto own = counts.subspan(column, std::min(Bits::kWordBits, counts.size() - column));
          std::fill(own.begin(), own.end(), 0u);
          for (std::size_t begin = 0; begin < bits->rows(); begin += kMostRows) {
            std::uint8_t some[Bits::kWordBits];
            HWY_DYNAMIC_DISPATCH(count_word)(*bits, word, begin, std::min(bits->rows(), begin + kMostRows), some);
            for (std::size_t c = 0; c < own.size(); ++c) own[c] += some[c];
          }
        }
      });
}

}  // namespace ergodic
#endif  // HWY_ONCE
