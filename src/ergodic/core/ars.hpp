// The ARS4x32 bijection with seven rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): 128
// random bits for each 128-bit counter and 128-bit key. A round is one of AES, so a CPU with AES instructions needs one
// instruction for it; for others it is written with a table. Not for secrets: the keys of the rounds are an arithmetic
// sequence, and seven rounds are as many as statistics need, with some to spare.
//
// Words are in the byte order of the instructions: byte i of a block is bits 8 * (i % 4) and up of word i / 4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ergodic {

using Words = std::array<std::uint32_t, 4>;

inline constexpr std::size_t kArsRounds = 7;
using ArsKeys = std::array<Words, kArsRounds + 1>;  ///< the first is for the counter, the others for the rounds

/// The keys of the rounds: each half of the key grows by a constant from one to the next.
ArsKeys ars_keys(Words key);

/// A round of AES: substitute bytes, shift rows, mix columns, add the key.
Words aes_round(const Words& state, const Words& key);
/// The last round of AES, which does not mix columns.
Words aes_last_round(const Words& state, const Words& key);

/// 128 random bits.
Words ars(const Words& counter, const ArsKeys& keys);
/// The bits of `ars`, for CPUs without instructions for AES.
Words ars_by_table(const Words& counter, const ArsKeys& keys);

}  // namespace ergodic
