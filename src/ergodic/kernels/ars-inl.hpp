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

using WordsTag = hwy::HWY_NAMESPACE::FixedTag<std::uint32_t, 4>;

/// The words of a counter, of the counter plus `step`, and so on. The rounds of all go side by side, since each waits
/// for the one before it.
template <std::size_t kBlocks>
HWY_INLINE void ars_blocks(const ArsKeys& keys, const Words& counter, const Words& step,
                           hwy::HWY_NAMESPACE::VFromD<WordsTag> (&out)[kBlocks]) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::uint8_t, 16> d;
  const WordsTag d_words;
  const auto load = [&](const Words& words) HWY_ATTR { return hn::LoadU(d_words, words.data()); };
  const auto key = [&](std::size_t k) HWY_ATTR { return hn::BitCast(d, load(keys[k])); };
  const auto next = load(step);
  auto at = load(counter);
  hn::VFromD<decltype(d)> state[kBlocks];
  for (std::size_t k = 0; k < kBlocks; ++k, at = hn::Add(at, next)) state[k] = hn::Xor(hn::BitCast(d, at), key(0));
  for (std::size_t round = 1; round < kArsRounds; ++round) {
    for (std::size_t k = 0; k < kBlocks; ++k) state[k] = hn::AESRound(state[k], key(round));
  }
  for (std::size_t k = 0; k < kBlocks; ++k) {
    out[k] = hn::BitCast(d_words, hn::AESLastRound(state[k], key(kArsRounds)));
  }
}

/// The words of a counter and of those with the next indices.
template <std::size_t kBlocks>
HWY_INLINE void ars_words(const ArsKeys& keys, const Words& counter, Words* HWY_RESTRICT out) {
  hwy::HWY_NAMESPACE::VFromD<WordsTag> blocks[kBlocks];
  ars_blocks(keys, counter, {1, 0, 0, 0}, blocks);
  for (std::size_t k = 0; k < kBlocks; ++k) hwy::HWY_NAMESPACE::StoreU(blocks[k], WordsTag{}, out[k].data());
}

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
