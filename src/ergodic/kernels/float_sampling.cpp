#include "ergodic/kernels/float_sampling.hpp"

#include <algorithm>
#include <bit>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/row_sum.hpp"

namespace ergodic {
namespace {

constexpr float kRoundoff = 0x1p-24f;

/// Sums the fields of one row in float, and returns how many terms went into each.
std::size_t float_fields(const State& x, std::size_t row, const Affine& map, std::vector<float>& fields) {
  std::copy(map.bias.begin(), map.bias.end(), fields.begin());
  std::size_t terms = 1;
  RowSum<float> sum(fields.data(), fields.size());
  for_each_nonzero(x, row, [&](std::size_t i, float value) {
    sum.add(value, map.weights.row(i).data());
    ++terms;
  });
  return terms;
}

}  // namespace

bool defined_bit(const State& x, std::size_t row, const Affine& map, double gap, const Draw& draw, std::uint32_t chain,
                 std::uint32_t unit, std::uint32_t coarse) {
  double field = map.bias[unit];
  const float* weights = map.transposed.row(unit).data();
  for_each_nonzero(x, row, [&](std::size_t i, float value) { field += double{value} * weights[i]; });
  return falls_below(sigmoid(gap * map.tempered(field, unit)), coarse, draw, chain, unit);
}

CertifiedScratch::CertifiedScratch(std::size_t units)
    : fields(units), thresholds(units), coarse((units + kCoarseUnits - 1) / kCoarseUnits) {}

void sample_certified(const State& x, std::size_t row, const Affine& map, const Draw& draw, std::uint32_t chain,
                      CertifiedScratch& scratch, State& out) {
  const auto units = static_cast<std::uint32_t>(map.bias.size());
  const float gap = out.levels().gap();
  // Tempering rounds four times more.
  const auto terms = static_cast<float>(float_fields(x, row, map, scratch.fields) + 4);
  const auto beta = static_cast<float>(map.beta);
  for (std::uint32_t j = 0; j < units; ++j) {
    const float field = beta * scratch.fields[j] + static_cast<float>(map.base_of(j));
    scratch.thresholds[j] = approximate_sigmoid(gap * field) * 65536.0f;
  }
  draw.words(chain, 0, scratch.coarse);

  // Where a sum overflows, so does its reach, and the unit is not sure. The threshold is off by at most `slope` * reach
  // (a sigmoid is nowhere steeper than 1/4; doubled, for the second order of the bound and for the rounding of these
  // few operations) plus `offset`.
  const float slope = 65536.0f * 0.25f * 2.0f * gap * terms * kRoundoff;
  const float offset = 65536.0f * kSigmoidError + 0.05f;
  const std::span<std::uint64_t> bits = out.bits().row(row);
  for (std::uint32_t first = 0; first < units; first += Bits::kWordBits) {
    const std::uint32_t last = std::min<std::uint32_t>(units, first + Bits::kWordBits);
    std::uint64_t on = 0, unsure = 0;
    for (std::uint32_t j = first; j < last; ++j) {
      const auto coarse = static_cast<float>(coarse_bits(scratch.coarse[j / kCoarseUnits], j));
      const float margin = slope * tempered_reach(map, j) + offset;
      const bool surely_on = coarse + 1.0f + margin <= scratch.thresholds[j];
      const bool surely_off = coarse - margin >= scratch.thresholds[j];
      on |= std::uint64_t{surely_on} << (j - first);
      unsure |= std::uint64_t{!surely_on && !surely_off} << (j - first);
    }
    for (; unsure != 0; unsure &= unsure - 1) {
      const std::uint32_t j = first + static_cast<std::uint32_t>(std::countr_zero(unsure));
      const std::uint32_t coarse = coarse_bits(scratch.coarse[j / kCoarseUnits], j);
      const bool high = defined_bit(x, row, map, gap, draw, chain, j, coarse);
      on |= std::uint64_t{high} << (j - first);
    }
    bits[first / Bits::kWordBits] = on;
  }
}

}  // namespace ergodic
