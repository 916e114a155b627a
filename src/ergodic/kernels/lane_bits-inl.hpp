// Bits of a word as masks of lanes, for each target.

// Included once for each target.
#if defined(ERGODIC_KERNELS_LANE_BITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_LANE_BITS_INL
#undef ERGODIC_KERNELS_LANE_BITS_INL
#else
#define ERGODIC_KERNELS_LANE_BITS_INL
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET <= HWY_AVX3

/// Masks of vectors of 16- or 32-bit lanes; here they are bits themselves.
template <class D>
struct LaneBits {
  /// Lane k is chosen if bit k of the word is set.
  HWY_INLINE hwy::HWY_NAMESPACE::MFromD<D> mask(std::uint64_t word) const {
    using Mask = hwy::HWY_NAMESPACE::MFromD<D>;
    return {static_cast<typename Mask::Raw>(word)};
  }
  /// sum + more in the lanes that are chosen, sum in the others.
  template <class V>
  HWY_INLINE V add(V sum, std::uint64_t word, V more) const {
    return hwy::HWY_NAMESPACE::IfThenElse(mask(word), hwy::HWY_NAMESPACE::Add(sum, more), sum);
  }
};

#elif HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

template <class D>
class LaneBits {
 public:
  HWY_INLINE LaneBits() : bit_(hwy::HWY_NAMESPACE::Load(kLanes, kPowers.data())) {}

  HWY_INLINE hwy::HWY_NAMESPACE::MFromD<D> mask(std::uint64_t word) const {
    const auto all = hwy::HWY_NAMESPACE::Set(kLanes, static_cast<Lane>(word));
    return hwy::HWY_NAMESPACE::RebindMask(D(), hwy::HWY_NAMESPACE::TestBit(all, bit_));
  }
  template <class V>
  HWY_INLINE V add(V sum, std::uint64_t word, V more) const {
    return hwy::HWY_NAMESPACE::Add(sum, hwy::HWY_NAMESPACE::IfThenElseZero(mask(word), more));
  }

 private:
  static constexpr hwy::HWY_NAMESPACE::RebindToUnsigned<D> kLanes{};
  using Lane = hwy::HWY_NAMESPACE::TFromD<decltype(kLanes)>;
  alignas(32) static constexpr auto kPowers = [] {
    std::array<Lane, hwy::HWY_NAMESPACE::MaxLanes(D())> out{};
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<Lane>(Lane{1} << k);
    return out;
  }();
  hwy::HWY_NAMESPACE::VFromD<hwy::HWY_NAMESPACE::RebindToUnsigned<D> > bit_;
};

#endif

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
/// The sum of the lanes, in any order: halves first, of which GCC makes less than of all at once.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::TFromD<D> sum_of_lanes(D d, hwy::HWY_NAMESPACE::VFromD<D> v) {
  if constexpr (hwy::HWY_NAMESPACE::MaxLanes(d) * sizeof(hwy::HWY_NAMESPACE::TFromD<D>) > 16) {
    const hwy::HWY_NAMESPACE::Half<D> half;
    return sum_of_lanes(
        half, hwy::HWY_NAMESPACE::Add(hwy::HWY_NAMESPACE::LowerHalf(half, v), hwy::HWY_NAMESPACE::UpperHalf(half, v)));
  } else {
    return hwy::HWY_NAMESPACE::GetLane(hwy::HWY_NAMESPACE::SumOfLanes(d, v));
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
