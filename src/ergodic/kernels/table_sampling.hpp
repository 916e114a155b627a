// Certified sampling by look-up tables: the bits of the double-precision definition, at the price of 16-bit additions.
//
// A field in the rounded weights differs from the true one by at most E = half a unit for each input that is on. If p
// is the sigmoid of the first, that of the second is within p (1 - p) (e^E - 1). Where the upper 16 random bits of a
// unit decide beyond that, the bit is what the definition gives. The few others are decided with more digits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// Whether sample_by_tables can be used for this input, map and output, and pays.
bool tables_serve(const State& x, const Affine& map, const State& out);

/// As `sample`.
void sample_by_tables(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                      const Context& context);

/// What look-ups find of the rows of an input.
struct InputSums {
  /// Sums of the rounded weights of inputs that are on: [tile][row][column], columns in the order that suits the
  /// target.
  AlignedVector<std::int32_t> sums;
  std::vector<std::uint32_t> set_bits;  ///< of each row
};

/// As `sample_by_tables`, where the sums are known.
void sample_summed(const State& x, const InputSums& found, const Affine& map, const Draw& draw,
                   std::uint64_t first_chain, State& out, const Context& context);

/// 65536 times the sigmoid of -|field| / 4096, as the tables' sampler finds it, for a multiple of 32 fields.
void tail16(std::span<const std::int16_t> fields, std::span<std::uint16_t> out);
/// How far it may be off; the largest and the smallest field stand for all beyond.
inline constexpr int kTail16Error = 12;

}  // namespace ergodic
