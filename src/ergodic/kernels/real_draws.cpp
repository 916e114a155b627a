#include "ergodic/kernels/real_draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/real_draws.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/ars-inl.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/float_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using V = hn::VFromD<Floats>;
using Mask = decltype(hn::Lt(V(), V()));
constexpr Floats kFloats{};
constexpr hn::RebindToUnsigned<Floats> kWords{};
constexpr hn::RebindToSigned<Floats> kIntegers{};
constexpr std::size_t kLanes = hn::MaxLanes(kFloats);

/// 64 words, or 128 numbers of 16 bits.
constexpr std::size_t kBlocks = 16, kHalf = 32;
struct alignas(64) RandomWords {
  std::uint32_t words[2 * kHalf];

  HWY_INLINE RandomWords(const Draw& draw, std::uint32_t chain, std::uint32_t index) {
    Words blocks[kBlocks];
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    draw.words(chain, index, blocks);
#else
    constexpr std::size_t kAtATime = 8;
    for (std::uint32_t k = 0; k < kBlocks; k += kAtATime) {
      ars_words<kAtATime>(draw.keys(), ars_counters(ArsTag<kAtATime>(), draw.counter(chain, index + k), {1, 0, 0, 0}),
                          blocks + k);
    }
#endif
    static_assert(sizeof(blocks) == sizeof(words));
    std::memcpy(words, blocks, sizeof(words));
  }
};

/// -log of a uniform number in (0, 1].
HWY_INLINE V exponential_of(const std::uint32_t* words) {
  const auto grid = hn::BitCast(kIntegers, hn::ShiftRight<1>(hn::Load(kWords, words)));
  const V uniform = hn::Mul(hn::Add(hn::ConvertTo(kFloats, grid), hn::Set(kFloats, 0.5f)), hn::Set(kFloats, 0x1p-31f));
  return hn::Neg(log_of(kFloats, uniform));
}

/// Some units' fields and deviations, padded.
template <std::size_t kUnits>
struct alignas(64) Padded {
  float t[kUnits] = {}, deviation[kUnits] = {}, z[kUnits];

  HWY_INLINE Padded(const FloatFields& at, std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      deviation[k] = at.deviations[first + k];
      t[k] = deviation[k] * at.fields[first + k];
    }
  }
  HWY_INLINE void put(std::size_t first, std::size_t count, std::span<float> out) const {
    for (std::size_t k = 0; k < count; ++k) out[first + k] = deviation[k] * z[k];
  }
};

void normals(const FloatFields& at, const Draw& draw, std::uint32_t chain, std::span<float> out) {
  constexpr std::size_t kUnits = 2 * kHalf;
  for (std::size_t first = 0; first < out.size(); first += kUnits) {
    const std::size_t count = std::min(kUnits, out.size() - first);
    const RandomWords random(draw, chain, static_cast<std::uint32_t>(first / kUnits * kBlocks));
    Padded<kUnits> units(at, first, count);
    for (std::size_t k = 0; k < kHalf; k += kLanes) {
      V cosine, sine;
      turn_of(kFloats, hn::Load(kWords, random.words + kHalf + k), cosine, sine);
      const V e = exponential_of(random.words + k), radius = hn::Sqrt(hn::Add(e, e));
      const auto put = [&](std::size_t place, V direction) HWY_ATTR {
        hn::Store(hn::Add(hn::Load(kFloats, units.t + place), hn::Mul(radius, direction)), kFloats, units.z + place);
      };
      put(k, cosine);
      put(kHalf + k, sine);
    }
    units.put(first, count, out);
  }
}

constexpr std::size_t kMostAttempts = 200;  // each succeeds two times in three: fields that are not finite end here
constexpr float kMostlyAllowed = 0.5f;

/// One attempt at a vector of units: z, and whether it is rejected.
HWY_INLINE Mask attempt(V t, const std::uint32_t* words, V& z) {
  const auto set = [](float value) HWY_ATTR { return hn::Set(kFloats, value); };
  const V e = exponential_of(words);
  const auto other = hn::Load(kWords, words + kHalf);
  V cosine, sine;
  turn_of(kFloats, other, cosine, sine);
  const V normal = hn::Add(t, hn::Mul(hn::Sqrt(hn::Add(e, e)), cosine));
  // The exponential of rate (a + root) / 2, with a = -t, touches the tail where z is 1 / rate = (root - a) / 2.
  const V root = hn::Sqrt(hn::Add(hn::Mul(t, t), set(4.0f)));
  const V touch = hn::Div(set(2.0f), hn::Sub(root, t)), exponential = hn::Mul(e, touch);
  const V miss = hn::Sub(exponential, touch);
  const V accepted = exp_of(kFloats, hn::Mul(set(-0.5f), hn::Mul(miss, miss)));
  const V uniform = hn::Mul(
      hn::Add(hn::ConvertTo(kFloats, hn::BitCast(kIntegers, hn::ShiftRight<8>(other))), set(0.5f)), set(0x1p-24f));
  const auto allowed = hn::Ge(t, set(kMostlyAllowed));
  z = hn::IfThenElse(allowed, normal, exponential);
  return hn::Or(hn::And(allowed, hn::Lt(normal, hn::Zero(kFloats))), hn::AndNot(allowed, hn::Gt(uniform, accepted)));
}

/// Bit k is lane k.
HWY_INLINE std::uint64_t bits_of(Mask mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(kFloats, mask, bytes);
  std::uint64_t out;
  std::memcpy(&out, bytes, sizeof(out));
  return out;
}

/// An attempt at kHalf units: z, and bits of those that are rejected.
HWY_INLINE std::uint64_t attempt_all(const float* HWY_RESTRICT t, const RandomWords& random, float* HWY_RESTRICT out) {
  std::uint64_t rejected = 0;
  for (std::size_t k = 0; k < kHalf; k += kLanes) {
    V z;
    rejected |= bits_of(attempt(hn::Load(kFloats, t + k), random.words + k, z)) << k;
    hn::Store(z, kFloats, out + k);
  }
  return rejected;
}

void positive_normals(const FloatFields& at, const Draw& draw, std::uint32_t chain, std::span<float> out) {
  const std::size_t units = out.size(), groups = (units + kHalf - 1) / kHalf;
  thread_local std::vector<std::uint32_t> open;  // units without a value, in ascending order
  open.resize(std::max(open.size(), units));
  for (std::size_t k = 0; k < units; ++k) open[k] = static_cast<std::uint32_t>(k);
  std::size_t left = units;
  for (std::size_t a = 0; left > 0 && a < kMostAttempts; ++a) {
    std::size_t rejected = 0;
    for (std::size_t first = 0; first < left; first += kHalf) {
      const std::size_t count = std::min(kHalf, left - first);
      alignas(64) float t[kHalf] = {}, z[kHalf];
      for (std::size_t k = 0; k < count; ++k) t[k] = at.deviations[open[first + k]] * at.fields[open[first + k]];
      const RandomWords random(draw, chain, static_cast<std::uint32_t>((a * groups + first / kHalf) * kBlocks));
      const std::uint64_t bits = attempt_all(t, random, z);
      for (std::size_t k = 0; k < count; ++k) {
        const std::uint32_t unit = open[first + k];
        out[unit] = at.deviations[unit] * z[k];
        open[rejected] = unit;  // stays if it is rejected; else the next one takes its place
        rejected += (bits >> k) & 1;
      }
    }
    left = rejected;
  }
}

/// The mean of z. With a = -t and Mills' ratio R it is 1 / R(a) - a; R(a) = 1 / (a + 1 / (a + 2 / (a + ...))).
HWY_INLINE V positive_mean_of(V t) {
  const auto set = [](float value) HWY_ATTR { return hn::Set(kFloats, value); };
  const V size = hn::Abs(t), one = set(1.0f);
  // R for positive a, by the fit of Press et al. ("Numerical recipes", section 6.2) to the complement of erf.
  static constexpr float kFit[] = {0.17087277f,  -0.82215223f, 1.48851587f, -1.13520398f, 0.27886807f,
                                   -0.18628806f, 0.09678418f,  0.37409196f, 1.00002368f,  -1.26551223f};
  const V k = hn::Div(one, hn::Add(one, hn::Mul(set(0.35355339f), size)));
  const V ratio = hn::Mul(hn::Mul(set(1.25331414f), k), exp_of(kFloats, polynomial_of(kFloats, k, kFit)));
  const V density = exp_of(kFloats, hn::Mul(set(-0.5f), hn::Mul(size, size)));
  const V above = hn::Add(t, hn::Div(density, hn::Sub(set(2.50662827f), hn::Mul(density, ratio))));
  const V below = hn::Sub(hn::Div(one, ratio), size);
  const V mean = hn::IfThenElse(hn::Lt(t, hn::Zero(kFloats)), below, above);
  const auto is_far = hn::Le(t, set(-3.0f));  // where `below` is a small difference of large numbers
  if (hn::AllFalse(kFloats, is_far)) return mean;
  const V far = hn::Max(size, set(1.0f));
  V rest = hn::Zero(kFloats);
  for (int n = 12; n >= 1; --n) rest = hn::Div(set(static_cast<float>(n)), hn::Add(far, rest));
  return hn::IfThenElse(is_far, rest, mean);
}

void positive_means(const FloatFields& at, std::span<float> out) {
  for (std::size_t first = 0; first < out.size(); first += kHalf) {
    const std::size_t count = std::min(kHalf, out.size() - first);
    Padded<kHalf> units(at, first, count);
    for (std::size_t k = 0; k < kHalf; k += kLanes) {
      hn::Store(positive_mean_of(hn::Load(kFloats, units.t + k)), kFloats, units.z + k);
    }
    units.put(first, count, out);
  }
}

/// Values from `first` on, with zeros in the place of those that are not there.
template <std::size_t kCount>
HWY_INLINE const float* padded_from(std::span<const float> values, std::size_t first,
                                    std::array<float, kCount>& padded) {
  if (first + kCount <= values.size()) return &values[first];
  padded.fill(0.0f);
  std::copy(values.begin() + static_cast<std::ptrdiff_t>(first), values.end(), padded.begin());
  return padded.data();
}

/// 2^16 times what a sigmoid p may change by if its argument does by d at most: p (1 - p) d + d^2 / 20, since no second
/// derivative of it exceeds a tenth.
HWY_INLINE V reach_of(V p, V d) {
  const auto set = [](float value) HWY_ATTR { return hn::Set(kFloats, value); };
  const V slope = hn::Mul(p, hn::Sub(set(1.0f), p));
  return hn::Mul(hn::Mul(set(65536.0f * 1.001f), d), hn::Add(slope, hn::Mul(set(0.05f), d)));
}

/// Calls open(unit, its upper bits) for those that stay open.
template <bool kErrors, class Open>
HWY_INLINE void coins_with(std::span<const float> fields, std::span<const float> errors, float gap, const Draw& draw,
                           std::uint32_t chain, std::span<std::uint64_t> out, const Open& open) {
  constexpr std::size_t kUnits = 64;
  constexpr float kMargin = 0.1f;  // 2^16 times the error of the sigmoid, and roundoffs
  for (std::size_t first = 0; first < fields.size(); first += 2 * kUnits) {
    const RandomWords random(draw, chain, static_cast<std::uint32_t>(first / kCoarseUnits));
    for (std::size_t half = first; half < std::min(fields.size(), first + 2 * kUnits); half += kUnits) {
      const std::size_t count = std::min(kUnits, fields.size() - half);
      alignas(64) std::array<float, kUnits> padded, padded_errors;
      const float* const some = padded_from(fields, half, padded);
      const float* const off = kErrors ? padded_from(errors, half, padded_errors) : nullptr;
      alignas(64) std::uint16_t coarse[kUnits];
      std::memcpy(coarse, random.words + (half - first) / 2, sizeof(coarse));
      std::uint64_t on = 0, sure = 0;
      for (std::size_t k = 0; k < kUnits; k += kLanes) {
        const V p = sigmoid_of(kFloats, hn::Mul(hn::Set(kFloats, gap), hn::LoadU(kFloats, some + k)));
        const V threshold = hn::Mul(p, hn::Set(kFloats, 65536.0f));
        V least = threshold, most = threshold;
        if constexpr (kErrors) {
          const V reach = reach_of(p, hn::Mul(hn::Set(kFloats, gap), hn::LoadU(kFloats, off + k)));
          least = hn::Sub(least, reach), most = hn::Add(most, reach);
        }
        const auto integers = hn::PromoteTo(kIntegers, hn::LoadU(hn::Rebind<std::uint16_t, Floats>(), coarse + k));
        const V drawn = hn::ConvertTo(kFloats, integers);
        const auto surely_on = hn::Le(hn::Add(drawn, hn::Set(kFloats, 1.0f + kMargin)), least);
        const auto surely_off = hn::Ge(hn::Sub(drawn, hn::Set(kFloats, kMargin)), most);
        on |= bits_of(surely_on) << k;
        sure |= bits_of(hn::Or(surely_on, surely_off)) << k;
      }
      const std::uint64_t there = count == kUnits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      std::uint64_t& word = out[half / kUnits];
      word = on & there;
      for (std::uint64_t left = ~sure & there; left != 0; left &= left - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(left));
        open(half + k, coarse[k], word);
      }
    }
  }
}

void coins(std::span<const float> fields, float gap, const Draw& draw, std::uint32_t chain,
           std::span<std::uint64_t> out) {
  coins_with<false>(fields, {}, gap, draw, chain, out,
                    [&](std::size_t unit, std::uint32_t coarse, std::uint64_t& word) {
                      const double p = sigmoid(double{gap} * double{fields[unit]});
                      const bool high = falls_below(p, coarse, draw, chain, static_cast<std::uint32_t>(unit));
                      word |= std::uint64_t{high} << (unit % 64);
                    });
}

std::size_t sure_coins(std::span<const float> fields, std::span<const float> errors, float gap, const Draw& draw,
                       std::uint32_t chain, std::span<std::uint64_t> out, std::span<OpenCoin> open) {
  std::size_t count = 0;
  coins_with<true>(fields, errors, gap, draw, chain, out, [&](std::size_t unit, std::uint32_t coarse, std::uint64_t&) {
    open[count++] = {static_cast<std::uint32_t>(unit), coarse};
  });
  return count;
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(coins);
HWY_EXPORT(sure_coins);
HWY_EXPORT(normals);
HWY_EXPORT(positive_normals);
HWY_EXPORT(positive_means);
}  // namespace

void draw_coins(std::span<const float> fields, float gap, const Draw& draw, std::uint32_t chain,
                std::span<std::uint64_t> out) {
  assert(out.size() * 64 >= fields.size());
  HWY_DYNAMIC_DISPATCH(coins)(fields, gap, draw, chain, out);
}

std::size_t draw_sure_coins(std::span<const float> fields, std::span<const float> errors, float gap, const Draw& draw,
                            std::uint32_t chain, std::span<std::uint64_t> out, std::span<OpenCoin> open) {
  assert(out.size() * 64 >= fields.size() && errors.size() == fields.size() && open.size() >= fields.size());
  return HWY_DYNAMIC_DISPATCH(sure_coins)(fields, errors, gap, draw, chain, out, open);
}

void draw_normals(const FloatFields& at, const Draw& draw, std::uint32_t chain, std::span<float> out) {
  assert(at.fields.size() == out.size() && at.deviations.size() == out.size());
  HWY_DYNAMIC_DISPATCH(normals)(at, draw, chain, out);
}

void draw_positive_normals(const FloatFields& at, const Draw& draw, std::uint32_t chain, std::span<float> out) {
  assert(at.fields.size() == out.size() && at.deviations.size() == out.size());
  HWY_DYNAMIC_DISPATCH(positive_normals)(at, draw, chain, out);
}

void positive_normal_means(const FloatFields& at, std::span<float> out) {
  assert(at.fields.size() == out.size() && at.deviations.size() == out.size());
  HWY_DYNAMIC_DISPATCH(positive_means)(at, out);
}

}  // namespace ergodic
#endif  // HWY_ONCE
