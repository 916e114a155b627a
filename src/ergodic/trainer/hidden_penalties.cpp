#include "ergodic/trainer/hidden_penalties.hpp"

#include <array>
#include <cmath>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr double kTarget = 0.1;
constexpr std::size_t kColumns = 128;  // hidden units that one thread takes at a time

/// out_j = factor h_j sum_i g_i |w_ij|, in float.
void add_up_columns(MatrixView<const float> weights, const Gaps& gaps, double factor, std::span<double> out,
                    const Context& context) {
  context.for_blocks(weights.cols(), kColumns, [&](std::size_t begin, std::size_t end) {
    std::array<float, kColumns> sums{};
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      const auto gap = static_cast<float>(gaps.visible[i]);
      const float* const row = weights.row(i).data() + begin;
      for (std::size_t j = 0; j < end - begin; ++j) sums[j] += gap * std::abs(row[j]);
    }
    for (std::size_t j = begin; j < end; ++j) out[j] = factor * gaps.hidden[j] * double{sums[j - begin]};
  });
}

}  // namespace

HiddenPenalties::HiddenPenalties(const HiddenPenalty& options, const Rbm& model)
    : options_(options),
      l1_(options.l1_squared > 0.0 ? units_of(model.hidden()) : 0),
      bias_(options.sparsity > 0.0 ? units_of(model.hidden()) : 0) {
  require(!sparse() || two_valued(model.hidden()),
          "--sparsity is for hidden units that are on or off; take --hidden-type bernoulli or spin, or leave it out");
  require(sparse() || !options.target,
          "--sparsity-target is the share of rows that --sparsity pulls hidden units to; give --sparsity too");
}

HiddenPull HiddenPenalties::find(const Rbm& model, const Gaps& gaps, std::span<const double> hidden_means,
                                 const Context& context) {
  if (!l1_.empty()) {
    const double factor = options_.l1_squared / static_cast<double>(gaps.visible.size());
    add_up_columns(model.weights(), gaps, factor, l1_, context);
  }
  if (sparse()) {
    const Levels levels = levels_of(model.hidden());
    const double target = options_.target.value_or(kTarget);
    for (std::size_t j = 0; j < bias_.size(); ++j) {
      const double share = (hidden_means[j] - levels.low) / levels.gap();
      bias_[j] = options_.sparsity * (target - share) / levels.gap();
    }
  }
  return {l1_, bias_};
}

}  // namespace ergodic
