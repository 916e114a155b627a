#include "ergodic/core/ars.hpp"

#include <bit>

#ifdef __x86_64__
#include <wmmintrin.h>
#endif

namespace ergodic {

namespace {

/// Twice a byte in the field of AES, GF(2) polynomials modulo x^8 + x^4 + x^3 + x + 1.
constexpr std::uint8_t twice(std::uint8_t a) { return static_cast<std::uint8_t>((a << 1) ^ (a & 0x80 ? 0x1B : 0)); }

/// The substitution of AES: the inverse in the field, then an affine map of its bits.
constexpr std::array<std::uint8_t, 256> make_substitution() {
  std::array<std::uint8_t, 255> power{1};  // of 3, which generates the field: power[k] and power[255 - k] are inverses
  for (std::size_t k = 1; k < 255; ++k) power[k] = power[k - 1] ^ twice(power[k - 1]);
  std::array<std::uint8_t, 256> inverse{};
  for (std::size_t k = 0; k < 255; ++k) inverse[power[k]] = power[(255 - k) % 255];
  std::array<std::uint8_t, 256> result{};
  for (std::size_t a = 0; a < 256; ++a) {
    const std::uint8_t b = inverse[a];
    result[a] = b ^ std::rotl(b, 1) ^ std::rotl(b, 2) ^ std::rotl(b, 3) ^ std::rotl(b, 4) ^ 0x63;
  }
  return result;
}

constexpr std::array<std::uint8_t, 256> kSubstitution = make_substitution();

/// What a byte in row 0 becomes in the four rows of its column. In row r it becomes the same, turned by r bytes.
constexpr std::array<std::uint32_t, 256> make_column() {
  std::array<std::uint32_t, 256> result{};
  for (std::size_t a = 0; a < 256; ++a) {
    const std::uint32_t once = kSubstitution[a];
    const std::uint32_t two = twice(kSubstitution[a]);
    result[a] = two | (once << 8) | (once << 16) | ((two ^ once) << 24);
  }
  return result;
}

constexpr std::array<std::uint32_t, 256> kColumn = make_column();

/// A column of the next state, without the key: shifting the rows takes row r from the r-th of four columns.
inline std::uint32_t mixed(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return kColumn[a & 0xFF] ^ std::rotl(kColumn[(b >> 8) & 0xFF], 8) ^ std::rotl(kColumn[(c >> 16) & 0xFF], 16) ^
         std::rotl(kColumn[d >> 24], 24);
}

/// A column of the last state, without the key: rows are shifted as in `mixed`, but the column is not mixed.
inline std::uint32_t unmixed(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return kSubstitution[a & 0xFF] | (std::uint32_t{kSubstitution[(b >> 8) & 0xFF]} << 8) |
         (std::uint32_t{kSubstitution[(c >> 16) & 0xFF]} << 16) | (std::uint32_t{kSubstitution[d >> 24]} << 24);
}

}  // namespace

ArsKeys ars_keys(Words key) {
  constexpr std::uint64_t kStepLow = 0x9E3779B97F4A7C15u;   // the fraction of the golden ratio
  constexpr std::uint64_t kStepHigh = 0xBB67AE8584CAA73Bu;  // the fraction of the square root of 3
  std::uint64_t low = (std::uint64_t{key[1]} << 32) | key[0];
  std::uint64_t high = (std::uint64_t{key[3]} << 32) | key[2];
  ArsKeys keys;
  for (Words& k : keys) {
    k = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32), static_cast<std::uint32_t>(high),
         static_cast<std::uint32_t>(high >> 32)};
    low += kStepLow;
    high += kStepHigh;
  }
  return keys;
}

Words aes_round(const Words& state, const Words& key) {
  const auto [a, b, c, d] = state;
  return {mixed(a, b, c, d) ^ key[0], mixed(b, c, d, a) ^ key[1], mixed(c, d, a, b) ^ key[2],
          mixed(d, a, b, c) ^ key[3]};
}

Words aes_last_round(const Words& state, const Words& key) {
  const auto [a, b, c, d] = state;
  return {unmixed(a, b, c, d) ^ key[0], unmixed(b, c, d, a) ^ key[1], unmixed(c, d, a, b) ^ key[2],
          unmixed(d, a, b, c) ^ key[3]};
}

#ifdef __x86_64__
namespace {

__attribute__((target("aes"))) Words ars_by_instructions(const Words& counter, const ArsKeys& keys) {
  const auto load = [](const Words& words) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(words.data())); };
  __m128i state = _mm_xor_si128(load(counter), load(keys[0]));
  for (std::size_t round = 1; round < kArsRounds; ++round) state = _mm_aesenc_si128(state, load(keys[round]));
  Words out;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out.data()), _mm_aesenclast_si128(state, load(keys[kArsRounds])));
  return out;
}

}  // namespace
#endif

Words ars(const Words& counter, const ArsKeys& keys) {
#ifdef __x86_64__
  static const bool has_instructions = __builtin_cpu_supports("aes");
  if (has_instructions) return ars_by_instructions(counter, keys);
#endif
  return ars_by_table(counter, keys);
}

Words ars_by_table(const Words& counter, const ArsKeys& keys) {
  Words state = counter;
  for (std::size_t k = 0; k < 4; ++k) state[k] ^= keys[0][k];
  for (std::size_t round = 1; round < kArsRounds; ++round) state = aes_round(state, keys[round]);
  return aes_last_round(state, keys[kArsRounds]);
}

}  // namespace ergodic
