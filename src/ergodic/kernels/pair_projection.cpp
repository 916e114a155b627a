#include "ergodic/kernels/pair_projection.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/pair_projection.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>

#include "ergodic/kernels/lane_bits-inl.hpp"
#include "ergodic/kernels/lookup-inl.hpp"
#include "ergodic/kernels/optimisation_barrier.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// The sum of the values whose bits are set.
std::int32_t sum_values(std::span<const std::uint64_t> words, const std::int16_t* values) {
  std::int32_t sum = 0;
  for_each_set(words, [&](std::size_t c) { sum += values[c]; });
  return sum;
}

/// out(c) = the sum of what belongs to the rows that have bit c of a word set.
void sum_rows(const Bits& bits, std::size_t word, std::size_t begin, std::size_t end, const std::int32_t* of_rows,
              std::int32_t* out) {
  std::fill_n(out, Bits::kWordBits, 0);
  for (std::size_t r = begin; r < end; ++r) {
    for_each_set(bits.row(r).subspan(word, 1), [&](std::size_t c) { out[c] += of_rows[r]; });
  }
}

#else
using D32 = hn::CappedTag<std::int32_t, 16>;
constexpr D32 d32;
constexpr std::size_t kLanes = hn::MaxLanes(d32), kVectors = Bits::kWordBits / kLanes;

std::int32_t sum_values(std::span<const std::uint64_t> words, const std::int16_t* HWY_RESTRICT values) {
  constexpr hn::Repartition<std::int16_t, D32> d16;
  constexpr std::size_t kValues = hn::MaxLanes(d16);
  const LaneBits<decltype(d16)> lanes;
  const auto one = hn::Set(d16, 1);
  hn::VFromD<D32> sum = hn::Zero(d32), rest = hn::Zero(d32);  // which of them a product goes to is not said
  for (const std::uint64_t word : words) {
    unroll<Bits::kWordBits / kValues>([&](auto v) ERGODIC_LAMBDA {
      const auto on = hn::IfThenElseZero(lanes.mask(word >> (v * kValues)), hn::Load(d16, values + v * kValues));
      sum = hn::ReorderWidenMulAccumulate(d32, on, one, sum, rest);
    });
    values += Bits::kWordBits;
  }
  return hn::GetLane(hn::SumOfLanes(d32, hn::Add(sum, rest)));
}

void sum_rows(const Bits& bits, std::size_t word, std::size_t begin, std::size_t end,
              const std::int32_t* HWY_RESTRICT of_rows, std::int32_t* HWY_RESTRICT out) {
  const LaneBits<D32> lanes;
  hn::VFromD<D32> sum[kVectors];
  unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { sum[v] = hn::Zero(d32); });
  for (std::size_t r = begin; r < end; ++r) {
    auto of_row = hn::Set(d32, of_rows[r]);
    ERGODIC_KEEP_VECTOR(of_row);
    std::uint64_t on = bits.row(r)[word];
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
      sum[v] = lanes.add(sum[v], on, of_row);
      on >>= kLanes;
      ERGODIC_KEEP_WORD(on);  // or GCC would shift masks, which takes longer
    });
  }
  unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { hn::StoreU(sum[v], d32, out + v * kLanes); });
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(sum_values);
HWY_EXPORT(sum_rows);

// Values of so many columns sum to at most 2^24; such sums over so many rows fit 32 bits.
constexpr std::size_t kPartColumns = 4096, kPartRows = 64;
static_assert(kPartColumns << PairProjection::kMaxBits <= std::size_t{1} << 24);
}  // namespace

void PairProjection::add(std::span<const WeightedPairs> sides, const Units& x, const Units& y, const Context& context) {
  const Units* const units[kLayers] = {&x, &y};
  const auto bits_of = [&](std::size_t side, std::size_t layer) -> const Bits& {
    return layer == 0 ? *sides[side].x : *sides[side].y;
  };
  const auto parts_of = [&](std::size_t layer) {
    return (units[layer]->values.size() + kPartColumns - 1) / kPartColumns;
  };
  std::size_t most_rows = 0;
  for (const WeightedPairs& side : sides) most_rows = std::max(most_rows, side.x->rows());
  const std::size_t most_parts = std::max(parts_of(0), parts_of(1));
  const auto sums_of = [&](std::size_t side, std::size_t layer, std::size_t part) {
    return sums_.data() + ((side * kLayers + layer) * most_parts + part) * most_rows;
  };
  sums_.resize(sides.size() * kLayers * most_parts * most_rows);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    const std::span<const float> values = units[layer]->values;
    values_[layer].resize(Bits::words_for(values.size()) * Bits::kWordBits);
    std::ranges::transform(values, values_[layer].begin(),
                           [](float value) { return static_cast<std::int16_t>(value); });
  }

  // What is on in each row of either layer of each side.
  context.for_blocks_of_all(
      sides.size() * kLayers, [&](std::size_t k) { return sides[k / kLayers].x->rows(); }, kPartRows,
      [&](std::size_t k, std::size_t begin, std::size_t end) {
        const std::size_t side = k / kLayers, layer = k % kLayers;
        const Bits& bits = bits_of(side, layer);
        assert(bits.rows() == sides[side].x->rows() && bits.cols() == units[layer]->values.size());
        constexpr std::size_t kPartWords = kPartColumns / Bits::kWordBits;
        const std::size_t words = Bits::words_for(bits.cols());
        for (std::size_t part = 0; part < parts_of(layer); ++part) {
          const std::size_t first = part * kPartWords, count = std::min(kPartWords, words - first);
          std::int32_t* const sums = sums_of(side, layer, part);
          for (std::size_t r = begin; r < end; ++r) {
            sums[r] = HWY_DYNAMIC_DISPATCH(sum_values)(bits.row(r).subspan(first, count),
                                                       values_[layer].data() + first * Bits::kWordBits);
          }
        }
      });

  // Added to the units that are on in the other layer.
  context.for_blocks_of_all(
      kLayers, [&](std::size_t layer) { return Bits::words_for(units[layer]->onto.size()); }, 1,
      [&](std::size_t layer, std::size_t word, std::size_t) {
        const std::size_t column = word * Bits::kWordBits;
        const std::span<double> all = units[layer]->onto;
        const std::span<double> onto = all.subspan(column, std::min(Bits::kWordBits, all.size() - column));
        for (std::size_t side = 0; side < sides.size(); ++side) {
          const Bits& bits = bits_of(side, layer);
          for (std::size_t part = 0; part < parts_of(1 - layer); ++part) {
            const std::int32_t* const sums = sums_of(side, 1 - layer, part);
            double total[Bits::kWordBits] = {};
            for (std::size_t begin = 0; begin < bits.rows(); begin += kPartRows) {
              std::int32_t some[Bits::kWordBits];
              HWY_DYNAMIC_DISPATCH(sum_rows)
              (bits, word, begin, std::min(bits.rows(), begin + kPartRows), sums, some);
              for (std::size_t c = 0; c < onto.size(); ++c) total[c] += some[c];
            }
            for (std::size_t c = 0; c < onto.size(); ++c) onto[c] += double{sides[side].weight} * total[c];
          }
        }
      });
}

}  // namespace ergodic
#endif  // HWY_ONCE
