#include "ergodic/kernels/kernels.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowBlock = 8;                // chains that one thread takes at a time
constexpr std::size_t kTileRows = 32;               // rows of a statistics matrix that one thread takes at a time
constexpr std::uint32_t kCoarseUnits = 8;           // units whose upper 16 bits share one Philox block
constexpr std::uint32_t kFineBlocks = 0x80000000u;  // where the blocks of lower bits begin

/// Calls f(i, x_i) for each unit of a row whose value is not zero, in ascending order.
template <class F>
void for_each_nonzero(const State& x, std::size_t row, const F& f) {
  if (x.levels().low == 0.0f) {
    for_each_set(x.bits().row(row), [&](std::size_t i) { f(i, x.levels().high); });
  } else {
    for (std::size_t i = 0; i < x.units(); ++i) f(i, x.value(row, i));
  }
}

/// out += sum of factor * row, for rows given one after the other. Four are taken in one pass over `out`, which saves
/// most of the memory traffic; each element still adds them in the order given.
class RowSum {
 public:
  RowSum(double* out, std::size_t width) : out_(out), width_(width) {}
  ~RowSum() {
    for (std::size_t k = 0; k < waiting_; ++k) {
      for (std::size_t j = 0; j < width_; ++j) out_[j] += factors_[k] * rows_[k][j];
    }
  }
  RowSum(const RowSum&) = delete;
  RowSum& operator=(const RowSum&) = delete;

  void add(double factor, const float* row) {
    factors_[waiting_] = factor;
    rows_[waiting_] = row;
    if (++waiting_ < 4) return;
    waiting_ = 0;
    const auto [f0, f1, f2, f3] = factors_;
    const auto [r0, r1, r2, r3] = rows_;
    for (std::size_t j = 0; j < width_; ++j) {
      out_[j] = (((out_[j] + f0 * r0[j]) + f1 * r1[j]) + f2 * r2[j]) + f3 * r3[j];
    }
  }

 private:
  double* out_;
  std::size_t width_;
  double factors_[4];
  const float* rows_[4];
  std::size_t waiting_ = 0;
};

void row_fields(const State& x, std::size_t row, const Affine& map, std::span<double> fields) {
  for (std::size_t j = 0; j < fields.size(); ++j) fields[j] = map.bias[j];
  RowSum sum(fields.data(), fields.size());
  for_each_nonzero(x, row, [&](std::size_t i, float value) { sum.add(value, map.weights.row(i).data()); });
}

void row_means(std::span<const double> fields, Levels levels, std::span<float> out) {
  const double gap = levels.gap();
  for (std::size_t j = 0; j < fields.size(); ++j) {
    out[j] = static_cast<float>(levels.low + gap * sigmoid(gap * fields[j]));
  }
}

/// Whether coarse + fine / 2^16 < p, with the 16 coarse bits of the unit already drawn.
bool below(double p, std::uint32_t coarse_bits, const Draw& draw, std::uint32_t chain, std::uint32_t unit) {
  const double coarse = coarse_bits;
  const double threshold = p * 0x1p16;
  if (coarse + 1.0 <= threshold) return true;
  if (coarse >= threshold) return false;
  const std::uint32_t fine = draw.words(chain, kFineBlocks | (unit / 4))[unit % 4];
  return coarse + static_cast<double>(fine) * 0x1p-32 < threshold;
}

std::uint32_t coarse_lane(const Words& block, std::uint32_t unit) {
  const std::uint32_t lane = unit % kCoarseUnits;
  return (block[lane / 2] >> (16 * (lane % 2))) & 0xFFFFu;
}

void row_sample(std::span<const double> fields, double gap, const Draw& draw, std::uint32_t chain,
                std::span<std::uint64_t> out) {
  std::fill(out.begin(), out.end(), 0);
  const auto units = static_cast<std::uint32_t>(fields.size());
  for (std::uint32_t first = 0; first < units; first += kCoarseUnits) {
    const Words block = draw.words(chain, first / kCoarseUnits);
    for (std::uint32_t j = first; j < std::min(units, first + kCoarseUnits); ++j) {
      const bool on = below(sigmoid(gap * fields[j]), coarse_lane(block, j), draw, chain, j);
      out[j / Bits::kWordBits] |= std::uint64_t{on} << (j % Bits::kWordBits);
    }
  }
}

double row_weight(std::span<const double> row_weights, std::size_t row) {
  return row_weights.size() == 1 ? row_weights[0] : row_weights[row];
}

[[maybe_unused]] bool fits(const State& x, const Affine& map) {
  return x.units() == map.weights.rows() && map.weights.cols() == map.bias.size();
}

}  // namespace

bool coin(const Draw& draw, std::uint32_t chain, std::uint32_t unit, double p) {
  return below(p, coarse_lane(draw.words(chain, unit / kCoarseUnits), unit), draw, chain, unit);
}

void product(const State& x, const Affine& map, MatrixView<double> fields, const Context& context) {
  assert(fits(x, map) && fields.rows() == x.chains() && fields.cols() == map.bias.size());
  context.for_blocks(x.chains(), kRowBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) row_fields(x, r, map, fields.row(r));
  });
}

void sample(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
            const Context& context) {
  assert(fits(x, map) && out.chains() == x.chains() && out.units() == map.bias.size());
  context.for_blocks(x.chains(), kRowBlock, [&](std::size_t begin, std::size_t end) {
    std::vector<double> fields(map.bias.size());
    for (std::size_t r = begin; r < end; ++r) {
      row_fields(x, r, map, fields);
      const auto chain = static_cast<std::uint32_t>(first_chain + r);
      row_sample(fields, out.levels().gap(), draw, chain, out.bits().row(r));
    }
  });
}

void means(const State& x, const Affine& map, Levels levels, MatrixView<float> out, const Context& context) {
  assert(fits(x, map) && out.rows() == x.chains() && out.cols() == map.bias.size());
  context.for_blocks(x.chains(), kRowBlock, [&](std::size_t begin, std::size_t end) {
    std::vector<double> fields(map.bias.size());
    for (std::size_t r = begin; r < end; ++r) {
      row_fields(x, r, map, fields);
      row_means(fields, levels, out.row(r));
    }
  });
}

void correlate(const State& x, MatrixView<const float> y, std::span<const double> row_weights, MatrixView<double> out,
               const Context& context) {
  assert(x.chains() == y.rows() && out.rows() == x.units() && out.cols() == y.cols());
  // A thread owns whole rows of the result and goes through all chains in order, so no sum is split.
  context.for_blocks(x.units(), kTileRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      RowSum sum(out.row(i).data(), out.cols());
      for (std::size_t r = 0; r < x.chains(); ++r) {
        const double factor = row_weight(row_weights, r) * x.value(r, i);
        if (factor != 0.0) sum.add(factor, y.row(r).data());
      }
    }
  });
}

void add_column_sums(const State& x, std::span<const double> row_weights, std::span<double> out) {
  assert(out.size() == x.units());
  for (std::size_t r = 0; r < x.chains(); ++r) {
    const double weight = row_weight(row_weights, r);
    for_each_nonzero(x, r, [&](std::size_t i, float value) { out[i] += weight * value; });
  }
}

void add_column_sums(MatrixView<const float> y, std::span<const double> row_weights, std::span<double> out) {
  assert(out.size() == y.cols());
  for (std::size_t r = 0; r < y.rows(); ++r) {
    const double weight = row_weight(row_weights, r);
    for (std::size_t j = 0; j < y.cols(); ++j) out[j] += weight * y(r, j);
  }
}

void unpack(const State& x, MatrixView<float> out) {
  assert(out.rows() == x.chains() && out.cols() == x.units());
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (std::size_t i = 0; i < x.units(); ++i) out(r, i) = x.value(r, i);
  }
}

void transpose(MatrixView<const float> in, MatrixView<float> out, const Context& context) {
  assert(in.rows() == out.cols() && in.cols() == out.rows());
  constexpr std::size_t kTile = 16;
  context.for_blocks(in.cols(), kTile, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 0; i < in.rows(); i += kTile) {
      const std::size_t i_end = std::min(in.rows(), i + kTile);
      for (std::size_t j = begin; j < end; ++j) {
        for (std::size_t k = i; k < i_end; ++k) out(j, k) = in(k, j);
      }
    }
  });
}

}  // namespace ergodic
