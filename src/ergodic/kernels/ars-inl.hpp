// Random words in vectors, for each target: see core/ars.hpp.

// Included once for each target.
#if defined(ERGODIC_KERNELS_ARS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_ARS_INL
#undef ERGODIC_KERNELS_ARS_INL
#else
#define ERGODIC_KERNELS_ARS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "ergodic/core/ars.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of so many blocks of words, where the CPU has rounds of long vectors; else of one.
template <std::size_t kBlocks>
using ArsTag = hn::CappedTag<std::uint32_t, HWY_TARGET == HWY_AVX3_DL ? 4 * kBlocks : 4>;

/// A counter, the counter plus `step` and so on, in the blocks of a vector.
template <class D>
HWY_INLINE hn::VFromD<D> ars_counters(D d, const Words& counter, const Words& step) {
  const auto block = hn::ShiftRight<2>(hn::Iota(d, 0u));
  return hn::Add(hn::LoadDup128(d, counter.data()), hn::Mul(hn::LoadDup128(d, step.data()), block));
}

/// The words of the counters `at`, of `at` plus `next`, and so on. The rounds of all go side by side, since each waits
/// for the one before it.
template <class D, std::size_t kVectors>
HWY_INLINE void ars_vectors(D d_words, const ArsKeys& keys, hn::VFromD<D> at, hn::VFromD<D> next,
                            hn::VFromD<D> (&out)[kVectors]) {
  const hn::Repartition<std::uint8_t, D> d;
  const auto key = [&](std::size_t k) HWY_ATTR { return hn::BitCast(d, hn::LoadDup128(d_words, keys[k].data())); };
  hn::VFromD<decltype(d)> state[kVectors];
  for (std::size_t k = 0; k < kVectors; ++k, at = hn::Add(at, next)) state[k] = hn::Xor(hn::BitCast(d, at), key(0));
  for (std::size_t round = 1; round < kArsRounds; ++round) {
    for (std::size_t k = 0; k < kVectors; ++k) state[k] = hn::AESRound(state[k], key(round));
  }
  for (std::size_t k = 0; k < kVectors; ++k) {
    out[k] = hn::BitCast(d_words, hn::AESLastRound(state[k], key(kArsRounds)));
  }
}

/// The words of kBlocks blocks, whose indices follow those of `at`.
template <std::size_t kBlocks, std::size_t kVectors>
HWY_INLINE void ars_following(const ArsKeys& keys, hn::VFromD<ArsTag<kBlocks>> at,
                              hn::VFromD<ArsTag<kBlocks>> (&out)[kVectors]) {
  constexpr ArsTag<kBlocks> d;
  static_assert(kVectors * hn::MaxLanes(d) == 4 * kBlocks);
  alignas(16) static constexpr std::uint32_t kNext[4] = {kBlocks / kVectors, 0, 0, 0};
  ars_vectors(d, keys, at, hn::LoadDup128(d, kNext), out);
}
template <std::size_t kBlocks>
HWY_INLINE void ars_words(const ArsKeys& keys, hn::VFromD<ArsTag<kBlocks>> at, Words* HWY_RESTRICT out) {
  constexpr ArsTag<kBlocks> d;
  constexpr std::size_t kInVector = hn::MaxLanes(d) / 4;
  hn::VFromD<decltype(d)> vectors[kBlocks / kInVector];
  ars_following<kBlocks>(keys, at, vectors);
  for (std::size_t k = 0; k < kBlocks / kInVector; ++k) hn::StoreU(vectors[k], d, out[k * kInVector].data());
}

/// A vector of vectors that are as long or shorter, the first one lowest.
template <class D, class V>
HWY_INLINE hn::VFromD<D> joined(D d, const V* parts) {
  constexpr std::size_t kBytes = hn::MaxLanes(d) * sizeof(hn::TFromD<D>);
  constexpr std::size_t kPartBytes = hn::MaxLanes(hn::DFromV<V>()) * sizeof(hn::TFromV<V>);
  if constexpr (kBytes == kPartBytes) {
    return hn::BitCast(d, parts[0]);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, joined(half, parts + kBytes / 2 / kPartBytes), joined(half, parts));
  }
}

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
