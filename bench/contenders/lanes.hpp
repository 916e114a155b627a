// Vectors of floats as wide as the machine has them, and a sampler made of them: one pass from fields to bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "xoshiro.hpp"

namespace bench {

#ifdef __AVX512F__
inline constexpr std::size_t kLanes = 16;
#else
inline constexpr std::size_t kLanes = 8;
#endif
using Floats [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using Ints [[gnu::vector_size(kLanes * sizeof(float))]] = std::int32_t;
using Words [[gnu::vector_size(kLanes * sizeof(float))]] = std::uint32_t;

template <class To, class From>
To same_bits(const From& from) {
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

inline Floats load(const float* from) {
  Floats to;
  std::memcpy(&to, from, sizeof(Floats));
  return to;
}
inline void store(float* to, const Floats& from) { std::memcpy(to, &from, sizeof(Floats)); }

inline Floats splat(float x) { return Floats{} + x; }

/// e^x for x in [-87, 0], to about 3e-7 of itself; what is below counts as -87.
inline Floats exp_of_negative(Floats x) {
  x = x < -87.0f ? splat(-87.0f) : x;
  constexpr float kRounder = 0x1.8p23f;  // added and subtracted, it leaves the nearest integer
  const Floats rounded = x * 1.44269504f + kRounder;
  const Floats power = rounded - kRounder;
  const Floats rest = x - power * 0.693359375f + power * 2.12194440e-4f;  // x - power log 2, in [-0.35, 0.35]
  Floats sum = splat(1.0f / 720);
  for (const float coefficient : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) sum = sum * rest + coefficient;
  return same_bits<Floats>(same_bits<Ints>(sum) + (same_bits<Ints>(rounded) << 23));
}

inline Floats magnitude(const Floats& x) { return same_bits<Floats>(same_bits<Words>(x) & 0x7FFFFFFFu); }

/// Calls body(column, lanes) for each vector of a row; the last may have fewer lanes.
template <class Body>
void for_vectors(std::size_t columns, const Body& body) {
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) body(c, kLanes);
  if (c < columns) body(c, columns - c);
}

inline Floats load(const float* from, std::size_t lanes) {
  if (lanes == kLanes) return load(from);
  Floats to{};
  std::memcpy(&to, from, lanes * sizeof(float));
  return to;
}
inline void store(float* to, const Floats& from, std::size_t lanes) {
  if (lanes == kLanes) return store(to, from);
  std::memcpy(to, &from, lanes * sizeof(float));
}

class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : random_(seed) {}

  /// Draws a row: out is `on` with probability 1/(1 + e^-(fields + bias)), else 0.
  void draw(const float* fields, const float* bias, std::size_t columns, float on, float* out) {
    for_vectors(columns, [&](std::size_t c, std::size_t lanes) {
      const Floats field = load(fields + c, lanes) + load(bias + c, lanes);
      store(out + c, coin(field, exp_of_negative(-magnitude(field)), on), lanes);
    });
  }

  /// `on` with probability 1/(1 + e^-field), where tail = e^-|field|; without a division.
  Floats coin(const Floats& field, const Floats& tail, float on) {
    const Floats uniform = __builtin_convertvector(same_bits<Ints>(random_.next() >> 8), Floats) * 0x1p-24f;
    return uniform * (tail + 1.0f) < (field < 0.0f ? tail : splat(1.0f)) ? splat(on) : Floats{};
  }

 private:
  Xoshiro<Words> random_;
};

}  // namespace bench
