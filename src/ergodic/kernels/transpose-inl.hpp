// Squares of 32-bit values turned over in registers, for each target.

// Included once for each target.
#if defined(ERGODIC_KERNELS_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_TRANSPOSE_INL
#undef ERGODIC_KERNELS_TRANSPOSE_INL
#else
#define ERGODIC_KERNELS_TRANSPOSE_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <type_traits>

#include "ergodic/kernels/optimisation_barrier.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
namespace hn = hwy::HWY_NAMESPACE;

/// out(j, i) = in(i, j), for a square of 32-bit values as wide as a vector.
template <class D>
HWY_INLINE void transpose_square(D d, const hn::TFromD<D>* HWY_RESTRICT in, std::size_t in_stride,
                                 hn::TFromD<D>* HWY_RESTRICT out, std::size_t out_stride) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const hn::Repartition<double, D> dd;
  hn::VFromD<D> columns[kLanes];  // of four rows each: column k of the first 16 bytes of the vector, then of the second
  for (std::size_t r = 0; r < kLanes; r += 4, in += 4 * in_stride) {
    ERGODIC_KEEP_WORD(in);  // or GCC would keep all multiples of the stride, for which there are no registers
    const auto r0 = hn::LoadU(d, in), r1 = hn::LoadU(d, in + in_stride);
    const auto r2 = hn::LoadU(d, in + 2 * in_stride), r3 = hn::LoadU(d, in + 3 * in_stride);
    const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1)), b = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
    const auto c = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3)), e = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
    columns[r] = hn::BitCast(d, hn::InterleaveLower(dd, a, c));
    columns[r + 1] = hn::BitCast(d, hn::InterleaveUpper(dd, a, c));
    columns[r + 2] = hn::BitCast(d, hn::InterleaveLower(dd, b, e));
    columns[r + 3] = hn::BitCast(d, hn::InterleaveUpper(dd, b, e));
  }
  for (std::size_t k = 0; k < 4; ++k, out += out_stride) {
    ERGODIC_KEEP_WORD(out);
    const auto store = [&](std::size_t row, hn::VFromD<D> v) HWY_ATTR { hn::StoreU(v, d, out + row * out_stride); };
    if constexpr (kLanes == 4) {
      store(0, columns[k]);
    } else if constexpr (kLanes == 8) {
      store(0, hn::ConcatLowerLower(d, columns[k + 4], columns[k]));
      store(4, hn::ConcatUpperUpper(d, columns[k + 4], columns[k]));
    } else {
#if HWY_TARGET <= HWY_AVX3
      const hn::RebindToFloat<D> df;
      const auto pick = [d, df](auto quarters, hn::VFromD<D> x, hn::VFromD<D> y) HWY_ATTR {
        const auto picked = _mm512_shuffle_f32x4(hn::BitCast(df, x).raw, hn::BitCast(df, y).raw, quarters);
        return hn::BitCast(d, hn::VFromD<decltype(df)>{picked});
      };
      const std::integral_constant<int, 0x88> even;
      const std::integral_constant<int, 0xDD> odd;
      const auto a = pick(even, columns[k], columns[k + 4]), b = pick(even, columns[k + 8], columns[k + 12]);
      const auto c = pick(odd, columns[k], columns[k + 4]), e = pick(odd, columns[k + 8], columns[k + 12]);
      store(0, pick(even, a, b));
      store(4, pick(even, c, e));
      store(8, pick(odd, a, b));
      store(12, pick(odd, c, e));
#endif
    }
  }
}

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
