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

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// The sum of the values whose bits are set.
std::int32_t sum_values(std::span<const std::uint64_t> words, const float* values) {
  std::int32_t sum = 0;
  for_each_set(words, [&](std::size_t c) { sum += static_cast<std::int32_t>(values[c]); });
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

std::int32_t sum_values(std::span<const std::uint64_t> words, const float* HWY_RESTRICT values) {
  using D = hn::RebindToFloat<D32>;
  constexpr D d;
  const LaneBits<D> lanes;
  hn::VFromD<D> sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (const std::uint64_t word : words) {
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
      const auto on = lanes.mask(word >> (v * kLanes));
      sum[v % 4] = hn::Add(sum[v % 4], hn::IfThenElseZero(on, hn::Load(d, values + v * kLanes)));
    });
    values += Bits::kWordBits;
  }
  const auto all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return static_cast<std::int32_t>(hn::GetLane(hn::SumOfLanes(d, all)));
}

void sum_rows(const Bits& bits, std::size_t word, std::size_t begin, std::size_t end,
              const std::int32_t* HWY_RESTRICT of_rows, std::int32_t* HWY_RESTRICT out) {
  const LaneBits<D32> lanes;
  hn::VFromD<D32> sum[kVectors];
  unroll<kVectors>([&](auto v) ERGODIC_LAMBDA { sum[v] = hn::Zero(d32); });
  for (std::size_t r = begin; r < end; ++r) {
    const auto of_row = hn::Set(d32, of_rows[r]);
    const std::uint64_t on = bits.row(r)[word];
    unroll<kVectors>([&](auto v) ERGODIC_LAMBDA {
      const auto mask = lanes.mask(on >> (v * kLanes));
      sum[v] = hn::Add(sum[v], hn::IfThenElseZero(mask, of_row));
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

// Of so many columns, values sum to less than 2^24 and are exact in float; of so many rows, such sums fit 32 bits.
constexpr std::size_t kPartColumns = 4096, kPartRows = 64;
static_assert(kPartColumns << PairProjection::kMaxBits <= std::size_t{1} << 24);
}  // namespace

void PairProjection::add(const Bits& x, const Bits& y, double weight, std::span<const float> values,
                         std::span<double> onto, const Context& context) {
  assert(x.rows() == y.rows() && values.size() == y.cols() && onto.size() == x.cols());
  sums_.resize(y.rows());
  for (std::size_t first = 0; first < values.size(); first += kPartColumns) {
    const auto some = values.subspan(first, std::min(kPartColumns, values.size() - first));
    const std::size_t words = Bits::words_for(some.size());
    part_.assign(words * Bits::kWordBits, 0.0f);
    std::copy(some.begin(), some.end(), part_.begin());
    context.for_blocks(y.rows(), kPartRows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        sums_[r] = HWY_DYNAMIC_DISPATCH(sum_values)(y.row(r).subspan(first / Bits::kWordBits, words), part_.data());
      }
    });
    context.for_blocks(Bits::words_for(x.cols()), 4, [&](std::size_t word, std::size_t last_word) {
      for (; word < last_word; ++word) {
        const std::size_t column = word * Bits::kWordBits, width = std::min(Bits::kWordBits, x.cols() - column);
        double total[Bits::kWordBits] = {};
        for (std::size_t begin = 0; begin < x.rows(); begin += kPartRows) {
          std::int32_t of_part[Bits::kWordBits];
          HWY_DYNAMIC_DISPATCH(sum_rows)
          (x, word, begin, std::min(x.rows(), begin + kPartRows), sums_.data(), of_part);
          for (std::size_t c = 0; c < width; ++c) total[c] += of_part[c];
        }
        for (std::size_t c = 0; c < width; ++c) onto[column + c] += weight * total[c];
      }
    });
  }
}

}  // namespace ergodic
#endif  // HWY_ONCE
