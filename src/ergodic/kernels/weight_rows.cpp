#include "ergodic/kernels/weight_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/weight_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

float dot_all(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t count) {
  constexpr std::size_t kSums = 16;
  float sums[kSums] = {};
  std::size_t k = 0;
  for (; k + kSums <= count; k += kSums) {
    for (std::size_t s = 0; s < kSums; ++s) sums[s] += a[k + s] * b[k + s];
  }
  for (std::size_t s = 0; k < count; ++k, ++s) sums[s] += a[k] * b[k];
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t s = 0; s < half; ++s) sums[s] += sums[s + half];
  }
  return sums[0];
}

void follow_all(float factor, float share, const float* HWY_RESTRICT weights, float* HWY_RESTRICT follow,
                float* HWY_RESTRICT row, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    follow[j] += factor * row[j];
    row[j] += share * weights[j];
  }
}

void centre_all(const Centre& about, float* HWY_RESTRICT row, std::size_t count) {
  const float *HWY_RESTRICT means = about.means.data(), *HWY_RESTRICT changes = about.changes.data(),
                            *HWY_RESTRICT scales = about.scales.data();
  const float mean = about.mean, change = about.change, scale = about.scale;
  for (std::size_t j = 0; j < count; ++j) {
    row[j] = (row[j] - mean * changes[j] - change * means[j]) * (scale * scales[j]);
  }
}

void add_all(float factor, const float* HWY_RESTRICT row, float* HWY_RESTRICT out, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) out[j] += factor * row[j];
}

void add_squares_of(float factor, const float* HWY_RESTRICT row, float* HWY_RESTRICT out, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) out[j] += factor * (row[j] * row[j]);
}

void step_all(float momentum, float rate, const float* HWY_RESTRICT gradient, float* HWY_RESTRICT velocity,
              float* HWY_RESTRICT values, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    velocity[j] = momentum * velocity[j] + gradient[j];
    values[j] += rate * velocity[j];
  }
}

void add_distances_of(float factor, const float* HWY_RESTRICT row, const float* HWY_RESTRICT offsets,
                      float* HWY_RESTRICT sums, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) sums[k] += factor * std::abs(row[k] - offsets[k]);
}

void round_all(const float* HWY_RESTRICT row, const float* HWY_RESTRICT offsets, const float* HWY_RESTRICT scales,
               std::int16_t* HWY_RESTRICT out, std::int16_t* HWY_RESTRICT sums, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    // Adding 1.5 * 2^23 rounds to an integer, which the last bits then are.
    const float shifted = (row[k] - offsets[k]) * scales[k] + 12582912.0f;
    out[k] = static_cast<std::int16_t>(std::bit_cast<std::uint32_t>(shifted));
    sums[k] = static_cast<std::int16_t>(sums[k] + out[k]);
  }
}

void widen_all(MatrixView<const std::int16_t> rows, const float* HWY_RESTRICT units, const float* HWY_RESTRICT factors,
               const float* HWY_RESTRICT offsets, float* HWY_RESTRICT out) {
  const std::size_t count = rows.cols();
  const std::int16_t* HWY_RESTRICT from = rows.data();
  for (std::size_t r = 0; r < rows.rows(); ++r, from += count, out += count) {
    const float factor = factors[r];
    for (std::size_t k = 0; k < count; ++k) out[k] = static_cast<float>(from[k]) * units[k] + factor * offsets[k];
  }
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(dot_all);
HWY_EXPORT(follow_all);
HWY_EXPORT(centre_all);
HWY_EXPORT(add_all);
HWY_EXPORT(add_squares_of);
HWY_EXPORT(step_all);
HWY_EXPORT(add_distances_of);
HWY_EXPORT(round_all);
HWY_EXPORT(widen_all);
}  // namespace

float dot_rows(std::span<const float> a, std::span<const float> b) {
  assert(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(dot_all)(a.data(), b.data(), a.size());
}

void centre_row(const Centre& about, std::span<float> row) {
  assert(about.means.size() == row.size() && about.changes.size() == row.size() && about.scales.size() == row.size());
  HWY_DYNAMIC_DISPATCH(centre_all)(about, row.data(), row.size());
}

void follow_row(float factor, std::span<float> follow, float share, std::span<const float> weights,
                std::span<float> row) {
  assert(weights.size() == row.size() && follow.size() == row.size());
  HWY_DYNAMIC_DISPATCH(follow_all)(factor, share, weights.data(), follow.data(), row.data(), row.size());
}

void add_row(float factor, std::span<const float> row, std::span<float> out) {
  assert(row.size() == out.size());
  HWY_DYNAMIC_DISPATCH(add_all)(factor, row.data(), out.data(), out.size());
}

void add_squares(float factor, std::span<const float> row, std::span<float> out) {
  assert(row.size() == out.size());
  HWY_DYNAMIC_DISPATCH(add_squares_of)(factor, row.data(), out.data(), out.size());
}

void step_row(float momentum, float rate, std::span<const float> gradient, std::span<float> velocity,
              std::span<float> values) {
  assert(velocity.size() == gradient.size() && values.size() == gradient.size());
  HWY_DYNAMIC_DISPATCH(step_all)(momentum, rate, gradient.data(), velocity.data(), values.data(), values.size());
}

void add_distances(float factor, std::span<const float> row, std::span<const float> offsets, std::span<float> sums) {
  assert(row.size() == sums.size() && offsets.size() == sums.size());
  HWY_DYNAMIC_DISPATCH(add_distances_of)(factor, row.data(), offsets.data(), sums.data(), sums.size());
}

void round_about(std::span<const float> row, std::span<const float> offsets, std::span<const float> scales,
                 std::span<std::int16_t> out, std::span<std::int16_t> sums) {
  assert(row.size() == out.size() && offsets.size() == out.size() && scales.size() == out.size() &&
         sums.size() == out.size());
  HWY_DYNAMIC_DISPATCH(round_all)(row.data(), offsets.data(), scales.data(), out.data(), sums.data(), out.size());
}

void widen_about(MatrixView<const std::int16_t> rows, std::span<const float> units, std::span<const float> factors,
                 std::span<const float> offsets, MatrixView<float> out) {
  assert(rows.rows() == out.rows() && rows.cols() == out.cols() && factors.size() == rows.rows() &&
         units.size() == rows.cols() && offsets.size() == rows.cols());
  HWY_DYNAMIC_DISPATCH(widen_all)(rows, units.data(), factors.data(), offsets.data(), out.data());
}

}  // namespace ergodic
#endif  // HWY_ONCE
