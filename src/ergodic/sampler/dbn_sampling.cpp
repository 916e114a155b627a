#include "ergodic/sampler/dbn_sampling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

class TopDown final : public Sampling {
 public:
  /// Labels may stay as they are: a bit for each unit of the top.
  TopDown(const Dbn& model, SamplingOptions options, Bits fixed, const Context& context) : model_(model) {
    require(options.stations.empty(), "--path is for machines whose layers were trained together");
    require(options.sampler != kAnnealing,
            "annealing looks for states of low energy, and a deep belief network draws its lower layers from the "
            "highest; take another --sampler");
    options.kernel.fixed = std::move(fixed);
    top_ = ergodic::make_sampling(options, model.top(), context);
  }

  void sweep(Chains& chains, Key key, const Context& context) override {
    const std::size_t depth = model_.depth();
    Chains top{{model_.joined_top(chains.layers[depth - 1], chains.layers[0]), std::move(chains.layers[depth])},
               chains.sweep,
               chains.first_chain};
    const LayerDraws down{key, Purpose::kGibbs, chains.sweep, chains.first_chain};
    top_->sweep(top, key, context);
    std::vector<State> below = model_.draw_down(model_.below_top(top.layers[Rbm::kVisible]), down, context);
    below[0] = model_.joined_visible(below[0], top.layers[Rbm::kVisible]);
    std::ranges::move(below, chains.layers.begin());
    chains.layers[depth] = std::move(top.layers[Rbm::kHidden]);
    chains.sweep = top.sweep;
  }
  std::optional<double> accepted() const override { return top_->accepted(); }
  std::vector<double> swapped() const override { return top_->swapped(); }

 private:
  const Dbn& model_;
  std::unique_ptr<Sampling> top_;
};

/// Chains some of whose values stay.
class GivenValues final : public Sampling {
 public:
  GivenValues(const Dbn& model, const SamplingOptions& options, Bits fixed_top)
      : model_(model), fixed_(options.kernel.fixed), fixed_top_(std::move(fixed_top)) {
    require(plain_sampler(options, GibbsRow::kName) == GibbsRow::kName && options.temperature == 1.0 &&
                options.stations.empty(),
            "a deep belief network keeps values as they are by gibbs at temperature 1 alone");
    for (std::size_t r = 0; r < fixed_top_.rows(); ++r) {
      for (std::size_t i = 0; i + model.shape().classes < fixed_top_.cols(); ++i) fixed_top_.set(r, i, true);
    }
  }

  void sweep(Chains& chains, Key key, const Context& context) override {
    choose_hidden(chains, key, context);
    const LayerDraws draws{key, Purpose::kGibbs, chains.sweep, chains.first_chain};
    State& visible = chains.layers[0];
    State top[] = {model_.joined_top(chains.layers[model_.depth() - 1], visible), std::move(chains.layers.back())};
    model_.top().resample(Rbm::kHidden, top, draws.at(model_.depth() + 1), draws.first_chain, context);
    if (model_.shape().classes > 0) {
      model_.top().resample_given(fixed_top_, Rbm::kVisible, top, draws.at(model_.depth()), draws.first_chain, context);
    }
    State below[] = {model_.values_of(visible), std::move(chains.layers[1])};
    model_.stage(0).resample(Rbm::kVisible, below, draws.at(0), draws.first_chain, context);
    State drawn = model_.joined_visible(below[0], top[0]);
    const FixedUnits stays(fixed_);
    for (std::size_t r = 0; r < drawn.chains(); ++r) {
      for (std::size_t i = 0; i < model_.shape().values; ++i) {
        if (stays.at(r, i)) drawn.bits().set(r, i, visible.bits().get(r, i));
      }
    }
    visible = std::move(drawn);
    chains.layers[1] = std::move(below[1]);
    chains.layers.back() = std::move(top[1]);
    ++chains.sweep;
  }
  std::optional<double> accepted() const override { return std::nullopt; }

 private:
  static constexpr std::size_t kDraws = 4;

  /// h_1, ..., h_{L-1} of each chain, those that were there or one of the draws.
  void choose_hidden(Chains& chains, Key key, const Context& context) const {
    const std::size_t depth = model_.depth();
    const State values = model_.values_of(chains.layers[0]);
    std::vector<std::vector<State>> choices;
    std::vector<std::vector<double>> logs;
    for (std::size_t d = 0; d <= kDraws; ++d) {
      if (d == 0) {
        choices.push_back({values});
        for (std::size_t k = 1; k < depth; ++k) choices[0].push_back(chains.layers[k]);
      } else {
        const LayerDraws up{key, Purpose::kDataHidden, chains.sweep * kDraws + d - 1, chains.first_chain};
        choices.push_back(model_.draw_up(values, depth - 1, up, context));
      }
      logs.push_back(model_.log_weights(choices.back(), chains.layers[0], context));
    }
    const Draw draw = key.at(Purpose::kMetropolis, chains.sweep);
    for (std::size_t r = 0; r < values.chains(); ++r) {
      double largest = logs[0][r], sum = 0.0;
      for (const auto& log : logs) largest = std::max(largest, log[r]);
      for (const auto& log : logs) sum += portable_exp(log[r] - largest);
      double left = sum * draw.uniform(static_cast<std::uint32_t>(chains.first_chain + r), 0);
      std::size_t chosen = 0;
      while (chosen < kDraws && (left -= portable_exp(logs[chosen][r] - largest)) >= 0.0) ++chosen;
      for (std::size_t k = 1; k < depth; ++k) chains.layers[k].set_row(r, choices[chosen][k], r);
    }
  }

  const Dbn& model_;
  Bits fixed_, fixed_top_;
};

/// The units of labels that stay, as the top has them, and whether any value stays.
struct FixedParts {
  Bits top;
  bool labels = false, values = false;
};
FixedParts parts_of(const Dbn& model, const Bits& fixed) {
  const std::size_t values = model.shape().values, classes = model.shape().classes;
  FixedParts out{Bits(fixed.rows(), units_of(model.top().visible()))};
  for (std::size_t r = 0; r < fixed.rows(); ++r) {
    for_each_set(fixed.row(r), [&](std::size_t i) {
      (i < values ? out.values : out.labels) = true;
      if (i >= values) out.top.set(r, out.top.cols() - classes + (i - values), true);
    });
  }
  return out;
}

}  // namespace

std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Dbn& model, const Context& context) {
  const Bits& fixed = options.kernel.fixed;
  if (fixed.rows() > 0) require_mask(model.visible_layer(), fixed, fixed.rows());
  FixedParts parts = parts_of(model, fixed);
  if (parts.values) return std::make_unique<GivenValues>(model, options, std::move(parts.top));
  return std::make_unique<TopDown>(model, options, parts.labels ? std::move(parts.top) : Bits(), context);
}

}  // namespace ergodic
