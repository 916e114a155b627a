// The look-up loop, for each target: what products and counts share. See lookup_plan.hpp.

// Included once for each target.
#if defined(ERGODIC_KERNELS_LOOKUP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ERGODIC_KERNELS_LOOKUP_INL
#undef ERGODIC_KERNELS_LOOKUP_INL
#else
#define ERGODIC_KERNELS_LOOKUP_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ergodic/kernels/lookup_plan.hpp"
#include "ergodic/kernels/optimisation_barrier.hpp"

// A lambda that is compiled for the target, and inlined however large what surrounds it.
#undef ERGODIC_LAMBDA
#define ERGODIC_LAMBDA HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

/// f(0), f(1), ..., each index a constant: what is indexed by it can stay in registers.
template <class F, std::size_t... kIndex>
HWY_INLINE void unroll(std::index_sequence<kIndex...>, const F& f) {
  (f(std::integral_constant<std::size_t, kIndex>{}), ...);
}
template <std::size_t kCount, class F>
HWY_INLINE void unroll(const F& f) {
  unroll(std::make_index_sequence<kCount>{}, f);
}

/// Vectors of T of which a few make an entry, or the part of it that is used.
template <class T, std::size_t kBytes = kEntryBytes>
struct Entry {
  using D = hn::CappedTag<T, kBytes / sizeof(T)>;
  using V = hn::VFromD<D>;
  static constexpr D d{};
  static constexpr std::size_t kLanes = hn::MaxLanes(D{});
  static constexpr std::size_t kVectors = kBytes / sizeof(T) / kLanes;
};

/// Writes the 16 sums of four rows, given one vector of each, at the vector's place in the entries of a group. All but
/// the first, which is zero from the start: stores are what limits this.
template <class V>
HWY_INLINE void fill_group(V w0, V w1, V w2, V w3, hn::TFromV<V>* HWY_RESTRICT group) {
  const hn::DFromV<V> d;
  const auto zero = hn::Zero(d);
  const V low[4] = {zero, w0, w1, hn::Add(w0, w1)};
  const V high[4] = {zero, w2, w3, hn::Add(w2, w3)};
  for (std::size_t e = 1; e < kGroupEntries; ++e) {
    hn::Store(hn::Add(low[e % 4], high[e / 4]), d, group + e * (kEntryBytes / sizeof(*group)));
  }
}

/// Calls flush(row, sum) for the rows of a block with kPairs pairs of look-ups, sum being E::kVectors vectors, where E
/// says how much of each entry is used.
template <class E, std::size_t kPairs, class T, class Flush>
HWY_INLINE void look_up_pairs(const LookupPlan::Block& block, const T* HWY_RESTRICT table, const Flush& flush) {
  constexpr std::size_t kWords = sizeof(T) == sizeof(std::int16_t) ? 1 : 2;  // of a block of products, or of counts
  const auto* HWY_RESTRICT bytes = reinterpret_cast<const std::uint8_t*>(table);
  const std::size_t end = block.first[kPairs + 1];
  const auto* HWY_RESTRICT entries = block.entries<kWords>(kPairs);
  for (std::size_t k = block.first[kPairs]; k < end; ++k, entries += 2 * kPairs) {
    typename E::V sum[E::kVectors];
    unroll<E::kVectors>([&](auto v) ERGODIC_LAMBDA { sum[v] = hn::Zero(E::d); });
    // The two load ports are what limits the loop: as many entries as fit a word are loaded at once and taken apart in
    // registers.
    constexpr std::size_t kPacked = sizeof(std::uint64_t) / sizeof(*entries);
    unroll<(2 * kPairs + kPacked - 1) / kPacked>([&](auto p) ERGODIC_LAMBDA {
      std::uint64_t packed;
      std::memcpy(&packed, entries + kPacked * p, sizeof(packed));
      unroll<std::min(kPacked, 2 * kPairs - kPacked * p)>([&](auto e) ERGODIC_LAMBDA {
        std::uint64_t at;
        if constexpr (kWords == 2) {
          at = (packed >> (16 * e)) & 0xFFFFu;
        } else if constexpr (e == 0) {
          at = (packed & 0xFFu) * kEntryBytes;
        } else {  // moved to its place in one shift
          static_assert(kEntryBytes == 64);
          at = (packed >> (8 * e - 6)) & (0xFFu * kEntryBytes);
        }
        const T* HWY_RESTRICT entry = reinterpret_cast<const T*>(bytes + at);
        unroll<E::kVectors>([&](auto v) ERGODIC_LAMBDA {
          sum[v] = hn::Add(sum[v], hn::Load(E::d, entry + v * E::kLanes));
          ERGODIC_KEEP_VECTOR(sum[v]);  // or GCC would gather the additions of each sum and run out of registers
        });
      });
    });
    flush(block.row[k], sum);
  }
}

template <class E, class T, class Flush, std::size_t... kPairs>
HWY_INLINE void look_up_each(std::index_sequence<kPairs...>, const LookupPlan::Block& block, const T* table,
                             const Flush& flush) {
  (look_up_pairs<E, kPairs + 1>(block, table, flush), ...);
}

/// Looks up all rows that have anything to look up, by the number of their pairs.
template <class E, std::size_t kGroups, class T, class Flush>
HWY_INLINE void look_up(const LookupPlan::Block& block, const T* table, const Flush& flush) {
  look_up_each<E>(std::make_index_sequence<kGroups / 2>{}, block, table, flush);
}

#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
