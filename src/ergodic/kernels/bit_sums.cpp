#include "ergodic/kernels/bit_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/bit_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

std::int32_t row_sum(const Bits& bits, std::size_t row, std::span<const std::int32_t> values) {
  std::int32_t sum = 0;
  for_each_set(bits.row(row), [&](std::size_t c) { sum += values[c]; });
  return sum;
}

void column_sums(const Bits& bits, std::size_t first, std::size_t last, std::span<const std::int32_t> values,
                 std::int64_t* counts, std::int64_t* sums) {
  for (std::size_t c = first; c < last; ++c) {
    counts[c] = sums[c] = 0;
    for (std::size_t r = 0; r < bits.rows(); ++r) {
      if (!bits.get(r, c)) continue;
      ++counts[c];
      sums[c] += values[r];
    }
  }
}

#else
constexpr std::size_t kByteColumns = 8;
using D = hn::CappedTag<std::int32_t, kByteColumns>;

std::int32_t row_sum(const Bits& bits, std::size_t row, std::span<const std::int32_t> values) {
  const D d;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(bits.row(row).data());
  auto sum = hn::Zero(d);
  std::size_t c = 0;
  for (; c + kByteColumns <= values.size(); c += kByteColumns) {
    for (std::size_t k = 0; k < kByteColumns; k += hn::Lanes(d)) {
      const std::uint8_t mask[8] = {static_cast<std::uint8_t>(bytes[c / 8] >> k)};
      sum = hn::Add(sum, hn::IfThenElseZero(hn::LoadMaskBits(d, mask), hn::LoadU(d, values.data() + c + k)));
    }
  }
  std::int32_t total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; c < values.size(); ++c) total += bits.get(row, c) ? values[c] : 0;
  return total;
}

/// Columns [first, last), `first` being a multiple of 8.
void column_sums(const Bits& bits, std::size_t first, std::size_t last, std::span<const std::int32_t> values,
                 std::int64_t* counts, std::int64_t* sums) {
  const D d;
  constexpr std::size_t kRows = 64;  // whose sums fit 32 bits
  for (std::size_t c = first; c < last; c += kByteColumns) {
    std::int64_t count[kByteColumns] = {}, sum[kByteColumns] = {};
    for (std::size_t begin = 0; begin < bits.rows(); begin += kRows) {
      const std::size_t end = std::min(bits.rows(), begin + kRows);
      for (std::size_t k = 0; k < kByteColumns; k += hn::Lanes(d)) {
        auto counted = hn::Zero(d), summed = hn::Zero(d);
        for (std::size_t r = begin; r < end; ++r) {
          const std::uint8_t byte = reinterpret_cast<const std::uint8_t*>(bits.row(r).data())[c / 8];
          const std::uint8_t mask_bits[8] = {static_cast<std::uint8_t>(byte >> k)};
          const auto mask = hn::LoadMaskBits(d, mask_bits);
          counted = hn::Add(counted, hn::IfThenElseZero(mask, hn::Set(d, 1)));
          summed = hn::Add(summed, hn::IfThenElseZero(mask, hn::Set(d, values[r])));
        }
        alignas(32) std::int32_t lanes[kByteColumns];
        hn::Store(counted, d, lanes);
        for (std::size_t l = 0; l < hn::Lanes(d); ++l) count[k + l] += lanes[l];
        hn::Store(summed, d, lanes);
        for (std::size_t l = 0; l < hn::Lanes(d); ++l) sum[k + l] += lanes[l];
      }
    }
    for (std::size_t l = 0; l < std::min(kByteColumns, last - c); ++l) {
      counts[c + l] = count[l];
      sums[c + l] = sum[l];
    }
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(row_sum);
HWY_EXPORT(column_sums);
}  // namespace

void sum_rows(const Bits& bits, std::span<const std::int32_t> column_values, std::span<std::int32_t> out,
              const Context& context) {
  assert(column_values.size() == bits.cols() && out.size() == bits.rows());
  constexpr std::size_t kRows = 32;
  context.for_blocks(bits.rows(), kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) out[r] = HWY_DYNAMIC_DISPATCH(row_sum)(bits, r, column_values);
  });
}

void sum_columns(const Bits& bits, std::span<const std::int32_t> row_values, std::span<std::int64_t> counts,
                 std::span<std::int64_t> sums, const Context& context) {
  assert(row_values.size() == bits.rows() && counts.size() == bits.cols() && sums.size() == bits.cols());
  constexpr std::size_t kColumns = 64;
  context.for_blocks(bits.cols(), kColumns, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(column_sums)(bits, begin, end, row_values, counts.data(), sums.data());
  });
}

}  // namespace ergodic
#endif  // HWY_ONCE
