// Rounding of floats to integers, for each target.

// Included once for each target.
#if defined(ERGODIC_KERNELS_NEAREST_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_NEAREST_INL
#undef ERGODIC_KERNELS_NEAREST_INL
#else
#define ERGODIC_KERNELS_NEAREST_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

/// The nearest integers; of numbers that have none in 32 bits, and of NaN, anything that has none in 16 bits either.
/// Where there is an instruction for that, Highway's NearestInt takes twice as many instructions to saturate as well.
template <class V>
HWY_INLINE auto nearest(V v) {
  return hwy::HWY_NAMESPACE::NearestInt(v);
}
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE auto nearest(hwy::HWY_NAMESPACE::Vec256<float> v) {
  return hwy::HWY_NAMESPACE::Vec256<std::int32_t>{_mm256_cvtps_epi32(v.raw)};
}
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE auto nearest(hwy::HWY_NAMESPACE::Vec512<float> v) {
  return hwy::HWY_NAMESPACE::Vec512<std::int32_t>{_mm512_cvtps_epi32(v.raw)};
}
#endif

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
