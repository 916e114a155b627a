// Bits of a word as masks of lanes, for each target.

// Included once for each target.
#if defined(ERGODIC_KERNELS_LANE_BITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_LANE_BITS_INL
#undef ERGODIC_KERNELS_LANE_BITS_INL
#else
#define ERGODIC_KERNELS_LANE_BITS_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET <= HWY_AVX3

/// Masks of vectors of 32-bit lanes; here they are bits themselves.
template <class D>
struct LaneBits {
  /// Lane k is chosen if bit k of the word is set.
  HWY_INLINE hwy::HWY_NAMESPACE::MFromD<D> mask(std::uint64_t word) const {
    using Mask = hwy::HWY_NAMESPACE::MFromD<D>;
    return {static_cast<typename Mask::Raw>(word)};
  }
};

#elif HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

template <class D>
class LaneBits {
 public:
  HWY_INLINE LaneBits()
      : bit_(hwy::HWY_NAMESPACE::Shl(hwy::HWY_NAMESPACE::Set(kLanes, 1u), hwy::HWY_NAMESPACE::Iota(kLanes, 0u))) {}

  HWY_INLINE hwy::HWY_NAMESPACE::MFromD<D> mask(std::uint64_t word) const {
    const auto all = hwy::HWY_NAMESPACE::Set(kLanes, static_cast<std::uint32_t>(word));
    return hwy::HWY_NAMESPACE::RebindMask(D(), hwy::HWY_NAMESPACE::TestBit(all, bit_));
  }

 private:
  static constexpr hwy::HWY_NAMESPACE::RebindToUnsigned<D> kLanes{};
  hwy::HWY_NAMESPACE::VFromD<hwy::HWY_NAMESPACE::RebindToUnsigned<D> > bit_;
};

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
