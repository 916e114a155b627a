// Deciding units whose upper random bits lie too close to their probability in rounded weights, for each target: first
// in float, then in double, then by the definition. See table_sampling.hpp.

// Included once for each target.
#if defined(ERGODIC_KERNELS_DECIDE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_DECIDE_INL
#undef ERGODIC_KERNELS_DECIDE_INL
#else
#define ERGODIC_KERNELS_DECIDE_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/ars-inl.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/lane_bits-inl.hpp"
#include "ergodic/kernels/lookup-inl.hpp"
#include "ergodic/kernels/optimisation_barrier.hpp"
#include "ergodic/kernels/table_sampling-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

/// The sum of the weights whose bits are set, or else of the weights with the signs that the bits say (1 for +). In
/// any order, in vectors of T.
template <class T, bool kSigns>
HWY_INLINE T sum_of_bits(const std::uint64_t* bits, const float* HWY_RESTRICT weights, std::size_t count) {
  const hn::CappedTag<float, 16> d;
  constexpr std::size_t kFloats = hn::MaxLanes(d);
  const LaneBits<decltype(d)> lanes;
  const hn::Repartition<T, decltype(d)> dt;
  hn::VFromD<decltype(dt)> sums[4] = {hn::Zero(dt), hn::Zero(dt), hn::Zero(dt), hn::Zero(dt)};
  const auto add = [&](auto k, std::uint64_t word, const float* from) ERGODIC_LAMBDA {
    const auto w = hn::LoadU(d, from);
    if constexpr (sizeof(T) == sizeof(float) && !kSigns) {
      sums[k % 4] = lanes.add(sums[k % 4], word, w);
      return;
    }
    const auto on = hn::IfThenElseZero(lanes.mask(word), w), terms = kSigns ? hn::Sub(hn::Add(on, on), w) : on;
    if constexpr (sizeof(T) == sizeof(float)) {
      sums[k % 4] = hn::Add(sums[k % 4], terms);
    } else {
      const hn::Half<decltype(d)> half;
      sums[2 * k % 4] = hn::Add(sums[2 * k % 4], hn::PromoteTo(dt, hn::LowerHalf(half, terms)));
      sums[2 * k % 4 + 1] = hn::Add(sums[2 * k % 4 + 1], hn::PromoteTo(dt, hn::UpperHalf(half, terms)));
    }
  };
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    std::uint64_t word = bits[i / 64];
    unroll<64 / kFloats>([&](auto k) ERGODIC_LAMBDA {
      add(k, word, weights + i + k * kFloats);
      word >>= kFloats;
      ERGODIC_KEEP_WORD(word);  // or GCC would shift masks, which takes longer
    });
  }
  for (; i + kFloats <= count; i += kFloats) {
    add(std::integral_constant<std::size_t, 0>{}, bits[i / 64] >> (i % 64), weights + i);
  }
#if HWY_TARGET <= HWY_AVX2  // where what is beyond the end is not read
  if constexpr (sizeof(T) == sizeof(float) && !kSigns) {
    if (i < count) sums[0] = hn::Add(sums[0], hn::MaskedLoad(lanes.mask(bits[i / 64] >> (i % 64)), d, weights + i));
    i = count;
  }
#endif
  T total = sum_of_lanes(dt, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
  for (; i < count; ++i) {  // whether a bit is set cannot be guessed
    const auto set = static_cast<std::uint32_t>(bits[i / 64] >> (i % 64)) & 1u;
    const auto w = std::bit_cast<std::uint32_t>(weights[i]);
    total += std::bit_cast<float>(kSigns ? w ^ ((1u - set) << 31) : w & (0u - set));
  }
  return total;
}

/// bias + x W of one unit and row, summed in T in any order.
template <class T>
HWY_INLINE T field_of(const TableCall& call, std::size_t row, std::uint32_t unit) {
  const std::uint64_t* bits = call.x.bits().row(row).data();
  const float* weights = call.map.transposed.row(unit).data();
  return call.map.bias[unit] + (call.x.levels().low == 0.0f ? sum_of_bits<T, false>(bits, weights, call.x.units())
                                                            : sum_of_bits<T, true>(bits, weights, call.x.units()));
}

/// Begins to bring the weights that `decide` will need into the cache, while other work goes on.
HWY_INLINE void fetch_weights(const TableCall& call, std::uint32_t unit) {
  const std::span<const float> weights = call.map.transposed.row(unit);
  for (std::size_t i = 0; i < weights.size(); i += kCacheLine / sizeof(float)) hwy::Prefetch(&weights[i]);
}

/// The bit of one unit whose 16 upper random bits are too close to its probability in float.
inline HWY_NOINLINE bool decide_in_double(const TableCall& call, std::size_t r, std::uint32_t unit,
                                          std::uint32_t coarse) {
  const std::size_t row = call.first_row + r;
  const auto chain = call.first_chain + static_cast<std::uint32_t>(r);
  const double gap = call.out.levels().gap();
  const double p = sigmoid(gap * call.map.tempered(field_of<double>(call, row, unit), unit));
  // Two sums in double, this one and the definition's, differ by at most a roundoff of the reach for each addition.
  const double additions = 2.0 * static_cast<double>(call.x.units()) + 16.0;
  const double off = 0x1p-53 * additions * 0.25 * gap * double{tempered_reach(call.map, unit)} + 0x1p-49;
  Words fine;
  ars_words<1>(call.draw.keys(), hn::LoadU(ArsTag<1>(), call.draw.counter(chain, fine_block(unit)).data()), &fine);
  const double number = 0x1p-16 * (coarse + fine_bits(fine, unit));
  if (number < p - off) return true;
  if (number >= p + off) return false;
  return defined_bit(call.x, row, call.map, gap, call.draw, chain, unit, coarse);
}

/// The bit of one unit whose 16 upper random bits are too close to its probability in the rounded weights.
inline HWY_NOINLINE bool decide(const TableCall& call, std::size_t r, std::uint32_t unit, std::uint32_t coarse) {
  const std::size_t row = call.first_row + r, count = call.x.units();
  const float gap = call.out.levels().gap();
  const auto beta = static_cast<float>(call.map.beta), base = static_cast<float>(call.map.base_of(unit));
  const float p = approximate_sigmoid(gap * (beta * field_of<float>(call, row, unit) + base));
  // A sum in float is off by at most a roundoff of the reach for each addition that a term goes through: count / 16 in
  // a lane, some for the last terms, the sum of lanes and the tempering. A sigmoid is nowhere steeper than 1/4; the
  // rest is for the second order and for what these few operations round.
  const float additions = static_cast<float>(count) / 16.0f + 52.0f;
  const float off = 0x1p-24f * additions * 0.25f * gap * tempered_reach(call.map, unit) * 1.1f + 2.0f * kSigmoidError;
  const float upper = static_cast<float>(coarse);
  // Nearly always one of both holds; which one cannot be guessed, and need not be.
  int surely_on = upper + 1.05f <= 65536.0f * (p - off), surely_off = upper - 0.05f >= 65536.0f * (p + off);
  ERGODIC_KEEP_WORD(surely_on);
  ERGODIC_KEEP_WORD(surely_off);
  if ((surely_on | surely_off) == 0) return decide_in_double(call, r, unit, coarse);
  return surely_on != 0;
}

/// The upper random bits of one unit.
HWY_INLINE std::uint32_t coarse_bits_of(const Draw& draw, std::uint32_t chain, std::uint32_t unit) {
  Words words;
  ars_words<1>(draw.keys(), hn::LoadU(ArsTag<1>(), draw.counter(chain, unit / kCoarseUnits).data()), &words);
  return coarse_bits(words, unit);
}

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
