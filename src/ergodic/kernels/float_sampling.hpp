// Certified sampling: the bits of the double-precision definition, at the price of single precision.
//
// Fields are summed in float. The error of such a sum is bounded by gamma * reach, where reach is the largest that the
// field could be, and gamma the number of terms times the unit roundoff (Higham, "Accuracy and stability of numerical
// algorithms", 2002, section 4.2). If the 16 upper random bits of a unit decide beyond that error, the bit is what the
// definition gives; if not, which is rare, the field is summed again in double.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ergodic/core/random.hpp"
#include "ergodic/kernels/products.hpp"

namespace ergodic {

/// 1 / (1 + e^-x) in float arithmetic, for any x but NaN, off by less than kSigmoidError.
inline float approximate_sigmoid(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  float y = -x > -80.0f ? -x : -80.0f;   // written so that the compiler sees vector instructions
  y = y < 80.0f ? y : 80.0f;
  const float shifted = y * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (y - n * 0.693359375f) - n * -2.12194440e-4f;  // |r| <= ln(2)/2
  float p = 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  // The last bits of `shifted` are n: as an exponent, with its bias of 127, they make 2^n.
  const auto power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127u) << 23);
  return 1.0f / (1.0f + p * power);
}
inline constexpr float kSigmoidError = 1e-6f;

/// The largest that the field of a unit could be.
inline float tempered_reach(const Affine& map, std::size_t unit) {
  return map.quantised->reach()[unit] + std::abs(static_cast<float>(map.base_of(unit)));
}

/// The bit of one unit by the definition: its field in double, the bias first, then the units in ascending order.
bool defined_bit(const State& x, std::size_t row, const Affine& map, double gap, const Draw& draw, std::uint32_t chain,
                 std::uint32_t unit, std::uint32_t coarse);

/// What one thread needs to sample the rows of a layer.
struct CertifiedScratch {
  explicit CertifiedScratch(std::size_t units);

  std::vector<float> fields;
  std::vector<float> thresholds;  // probabilities times 2^16
  std::vector<Words> coarse;      // the upper 16 bits of eight units in each
};

/// Draws row `row` of `out` given the same row of x, with the random numbers of `chain`.
void sample_certified(const State& x, std::size_t row, const Affine& map, const Draw& draw, std::uint32_t chain,
                      CertifiedScratch& scratch, State& out);

}  // namespace ergodic
