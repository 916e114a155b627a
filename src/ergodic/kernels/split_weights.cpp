#include "ergodic/kernels/split_weights.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/split_weights.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "ergodic/kernels/row_sum.hpp"
#include "ergodic/kernels/table_sampling-inl.hpp"

// What all targets share.
#ifndef ERGODIC_SPLIT_WEIGHTS_SHARED
#define ERGODIC_SPLIT_WEIGHTS_SHARED
namespace ergodic {

/// Adds gap * (sums of one part of the weights) to the fields of one tile.
struct PartCall {
  const State& x;
  const QuantisedWeights& weights;
  const LookupPlan& plan;
  std::size_t first_row;  // of x and of the fields: row 0 of the plan
  MatrixView<double> fields;
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {

/// Adds 32 sums, in units, to a row of fields.
HWY_INLINE void add_sums(const PartCall& call, std::size_t tile, std::size_t r, const std::int32_t* sums) {
  const std::size_t first = tile * kTileColumns, width = std::min(kTileColumns, call.fields.cols() - first);
  double* fields = call.fields.row(call.first_row + r).data() + first;
  const double gap = call.x.levels().gap();
  for (std::size_t c = 0; c < width; ++c) fields[c] += gap * double{call.weights.unit(first + c)} * sums[c];
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
void add_part(const PartCall& call, std::size_t tile, TileScratch&) {
  for (std::size_t r = 0; r < call.plan.rows(); ++r) {
    std::int32_t sums[kTileColumns] = {};
    for_each_set(call.x.bits().row(call.first_row + r), [&](std::size_t i) {
      const std::int16_t* row = call.weights.block(tile, i / kBlockRows) + i % kBlockRows * kTileColumns;
      for (std::size_t c = 0; c < kTileColumns; ++c) sums[c] += row[c];
    });
    add_sums(call, tile, r, sums);
  }
}
#else
void add_part(const PartCall& call, std::size_t tile, TileScratch& scratch) {
  add_up(call.weights, call.plan, tile, scratch);
  for (std::size_t r = 0; r < call.plan.rows(); ++r) {
    const std::int32_t* from = scratch.sums.data() + r * kTileColumns;
    std::int32_t sums[kTileColumns];
    // Four neighbours lie together.
    for (std::size_t c = 0; c < kTileColumns; c += 4) std::copy_n(from + place(c), 4, sums + c);
    add_sums(call, tile, r, sums);
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(add_part);
}  // namespace

SplitWeights::SplitWeights(MatrixView<const float> weights, std::span<const float> bias, Levels inputs,
                           const Context& context)
    : inputs_(inputs),
      upper_(weights.rows(), weights.cols(), inputs.low),
      lower_(weights.rows(), weights.cols(), inputs.low),
      offsets_(bias.begin(), bias.end()) {
  const std::vector<float> nothing(weights.cols());
  upper_.assign(weights, bias, context);
  if (!upper_.usable()) return;
  // What was rounded off is a float: it has no digit that the weight has not.
  Matrix<float> rest(weights.rows(), weights.cols());
  for (std::size_t i = 0; i < rest.rows(); ++i) {
    for (std::size_t j = 0; j < rest.cols(); ++j) {
      const std::int16_t* block = upper_.block(j / kTileColumns, i / kBlockRows);
      rest(i, j) = weights(i, j) - upper_.unit(j) * block[i % kBlockRows * kTileColumns + j % kTileColumns];
      offsets_[j] += double{inputs.low} * double{weights(i, j)};
    }
  }
  lower_.assign(rest, nothing, context);
}

void SplitWeights::product(const State& x, MatrixView<double> fields, const Context& context) const {
  assert(usable() && x.levels() == inputs_ && fields.rows() == x.chains() && fields.cols() == offsets_.size());
  thread_local LookupPlan plan;
  for (std::size_t begin = 0; begin < x.chains(); begin += LookupPlan::kMaxRows) {
    const std::size_t rows = std::min(LookupPlan::kMaxRows, x.chains() - begin);
    const LookupPlan& made = plan;
    plan.make(blocks_of(x.bits(), begin, rows), context);
    for (std::size_t r = begin; r < begin + rows; ++r) {
      std::copy(offsets_.begin(), offsets_.end(), fields.row(r).begin());
    }
    context.for_blocks(upper_.tiles(), 1, [&](std::size_t tile, std::size_t) {
      thread_local TileScratch scratch;
      for (const QuantisedWeights* part : {&upper_, &lower_}) {
        HWY_DYNAMIC_DISPATCH(add_part)({x, *part, made, begin, fields}, tile, scratch);
      }
    });
  }
}

double SplitWeights::error(std::size_t column, std::size_t terms) const {
  return 0.5 * double{inputs_.gap()} * double{lower_.unit(column)} * static_cast<double>(terms);
}

}  // namespace ergodic
#endif  // HWY_ONCE
