#include "ergodic/kernels/split_weights.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/split_weights.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "ergodic/kernels/table_sampling-inl.hpp"
#include "ergodic/kernels/target.hpp"

// What all targets share.
#ifndef ERGODIC_SPLIT_WEIGHTS_SHARED
#define ERGODIC_SPLIT_WEIGHTS_SHARED
namespace ergodic {

/// Makes the fields of one tile, and keeps the sums of the upper part.
struct SplitCall {
  const State& x;
  const QuantisedWeights& upper;
  const QuantisedWeights& lower;
  std::span<const double> offsets;
  const LookupPlan& plan;
  std::size_t first_row;  // of x, of the fields and of the sums: row 0 of the plan
  MatrixView<double> fields;
  std::span<std::int32_t> upper_sums;  // see InputSums
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
void make_fields(const SplitCall& call, std::size_t tile, TileScratch&) {
  const std::size_t first = tile * kTileColumns, width = std::min(kTileColumns, call.fields.cols() - first);
  for (std::size_t r = 0; r < call.plan.rows(); ++r) {
    double* fields = call.fields.row(call.first_row + r).data() + first;
    std::copy_n(call.offsets.data() + first, width, fields);
    for (const QuantisedWeights* part : {&call.upper, &call.lower}) {
      std::int32_t sums[kTileColumns] = {};
      for_each_set(call.x.bits().row(call.first_row + r), [&](std::size_t i) {
        const std::int16_t* row = part->block(tile, i / kBlockRows) + i % kBlockRows * kTileColumns;
        for (std::size_t c = 0; c < kTileColumns; ++c) sums[c] += row[c];
      });
      const double gap = call.x.levels().gap();
      for (std::size_t c = 0; c < width; ++c) fields[c] += gap * double{part->unit(first + c)} * sums[c];
    }
  }
}
#else
/// out = from + gap * unit * sum, for the columns of a tile. Units are powers of two: nothing but the sum is rounded.
HWY_INLINE void add_sums(const double* HWY_RESTRICT steps, const std::int32_t* HWY_RESTRICT sums, const double* from,
                         std::size_t width, double* out) {
  const hn::CappedTag<double, 4> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  constexpr std::size_t kDoubles = hn::MaxLanes(d);
  static_assert(4 % kDoubles == 0);  // four neighbours lie together
  if (width == kTileColumns) {
    unroll<kTileColumns / kDoubles>([&](auto k) ERGODIC_LAMBDA {
      constexpr std::size_t kAt = k * kDoubles;
      const auto sum = hn::PromoteTo(d, hn::Load(di, sums + place(kAt)));
      hn::StoreU(hn::Add(hn::LoadU(d, from + kAt), hn::Mul(hn::Load(d, steps + kAt), sum)), d, out + kAt);
    });
    return;
  }
  for (std::size_t c = 0; c < width; ++c) out[c] = from[c] + steps[c] * sums[place(c)];
}

void make_fields(const SplitCall& call, std::size_t tile, TileScratch& scratch) {
  const std::size_t first = tile * kTileColumns, width = std::min(kTileColumns, call.fields.cols() - first);
  const std::size_t rows = call.plan.rows();
  const auto steps_of = [&](const QuantisedWeights& part) {
    alignas(kCacheLine) std::array<double, kTileColumns> steps{};
    for (std::size_t c = 0; c < width; ++c) steps[c] = call.x.levels().gap() * double{part.unit(first + c)};
    return steps;
  };
  const auto field = [&](std::size_t r) { return call.fields.row(call.first_row + r).data() + first; };
  const std::int32_t* sums = scratch.sums.data();

  add_up(call.upper, call.plan, tile, scratch);
  std::copy_n(sums, rows * kTileColumns,
              call.upper_sums.data() + (tile * call.x.chains() + call.first_row) * kTileColumns);
  alignas(kCacheLine) const auto upper = steps_of(call.upper), lower = steps_of(call.lower);
  for (std::size_t r = 0; r < rows; ++r) {
    add_sums(upper.data(), sums + r * kTileColumns, call.offsets.data() + first, width, field(r));
  }
  add_up(call.lower, call.plan, tile, scratch);
  for (std::size_t r = 0; r < rows; ++r) {
    add_sums(lower.data(), sums + r * kTileColumns, field(r), width, field(r));
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(make_fields);
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

void SplitWeights::product(const State& x, MatrixView<double> fields, const Context& context) {
  assert(usable() && x.levels() == inputs_ && fields.rows() == x.chains() && fields.cols() == offsets_.size());
  found_.sums.resize(upper_.tiles() * x.chains() * kTileColumns);
  found_.set_bits.resize(x.chains());
  thread_local LookupPlan kept;
  LookupPlan& plan = kept;  // the same one in all threads
  for (std::size_t begin = 0; begin < x.chains(); begin += LookupPlan::kMaxRows) {
    const std::size_t rows = std::min(LookupPlan::kMaxRows, x.chains() - begin);
    plan.make(blocks_of(x.bits(), begin, rows), context);
    plan.count_set_bits(std::span(found_.set_bits).subspan(begin, rows));
    const SplitCall call{x, upper_, lower_, offsets_, plan, begin, fields, found_.sums};
    context.for_blocks(upper_.tiles(), 1, [&call](std::size_t tile, std::size_t) {
      thread_local TileScratch scratch;
      HWY_DYNAMIC_DISPATCH(make_fields)(call, tile, scratch);
    });
  }
}

void SplitWeights::sample(const State& x, const Affine& map, const Draw& draw, std::uint64_t first_chain, State& out,
                          const Context& context) const {
  Affine own = map;
  own.quantised = &upper_;
  if (plain_target() || !tables_serve(x, own, out)) return ergodic::sample(x, map, draw, first_chain, out, context);
  sample_summed(x, found_, own, draw, first_chain, out, context);
}

double SplitWeights::error(std::size_t column, std::size_t terms) const {
  return 0.5 * double{inputs_.gap()} * double{lower_.unit(column)} * static_cast<double>(terms);
}

}  // namespace ergodic
#endif  // HWY_ONCE
