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

/// The words of a counter and of those with the next indices. The rounds of all go side by side, since each waits for
/// the one before it.
template <std::size_t kBlocks>
HWY_INLINE void ars_blocks(const ArsKeys& keys, const Words& counter, Words* HWY_RESTRICT out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<std::uint8_t, 16> d;
  const hn::FixedTag<std::uint32_t, 4> d_words;
  const auto load = [&](const Words& words) HWY_ATTR { return hn::LoadU(d_words, words.data()); };
  const auto key = [&](std::size_t k) HWY_ATTR { return hn::BitCast(d, load(keys[k])); };
  const auto next_index = load({1, 0, 0, 0});
  auto at = load(counter);
  hn::VFromD<decltype(d)> state[kBlocks];
  for (std::size_t k = 0; k < kBlocks; ++k, at = hn::Add(at, next_index)) {
    state[k] = hn::Xor(hn::BitCast(d, at), key(0));
  }
  for (std::size_t round = 1; round < kArsRounds; ++round) {
    for (std::size_t k = 0; k < kBlocks; ++k) state[k] = hn::AESRound(state[k], key(round));
  }
  for (std::size_t k = 0; k < kBlocks; ++k) {
    hn::StoreU(hn::BitCast(d_words, hn::AESLastRound(state[k], key(kArsRounds))), d_words, out[k].data());
  }
}

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
