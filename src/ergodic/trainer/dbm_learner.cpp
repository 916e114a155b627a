#include "ergodic/trainer/dbm_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/core/permutation.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 1000, kMeanFieldSteps = 10;
constexpr std::uint64_t kJoinStep = (std::uint64_t{1} << 40) + 2;  // beyond those of updates and of monitors

/// The options of a part of training.
TrainOptions with_updates(TrainOptions options, std::uint64_t updates) {
  options.epochs.reset();
  options.updates = updates;
  return options;
}

/// A bit for each mean, which is its probability.
Bits drawn(const Matrix<float>& means, const Draw& draw, const Context& context) {
  Bits out(means.rows(), means.cols());
  context.for_blocks(means.rows(), 1, [&](std::size_t r, std::size_t) {
    for (std::size_t i = 0; i < means.cols(); ++i) {
      out.set(r, i, draw.uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(i)) < means(r, i));
    }
  });
  return out;
}

}  // namespace

Bits drawn_by_mean_field(const DeepBoltzmann& model, const Bits& rows, const LayerDraws& draws,
                         const Context& context) {
  const std::vector<Matrix<float>> means =
      mean_field(model, moments_of(State(rows, Bernoulli::kLevels)).means, kMeanFieldSteps, context);
  Bits out = rows;
  for (std::size_t k = 2; k <= model.depth(); k += 2) out = beside(out, drawn(means[k - 1], draws.at(k), context));
  return out;
}

std::unique_ptr<RbmLearner> learner_of(DeepBoltzmann& model, const Dataset& train, const Dataset& held_out,
                                       const TrainOptions& options, DataSide data_side, Key key,
                                       const Context& context) {
  BatchSource source;
  if (data_side == DataSide::kMeanField) {
    require(train.complete(), "mean field is for rows without missing values; take --data-side chains");
    source = [&model, &train, key](const UpdateStep& now, State& even, const Context& inner) {
      Bits rows(now.rows.size(), train.units());
      gather(train, now.rows, key, now.epoch, rows, inner);
      even.bits() = drawn_by_mean_field(model, rows, {key, Purpose::kDataHidden, now.update}, inner);
    };
  }
  return std::make_unique<RbmLearner>(model, train, held_out, options, key, context, std::move(source));
}

Dbn twin_layers(const DeepBoltzmann& model) {
  const std::vector<std::size_t>& sizes = model.sizes();
  DbnShape shape{2 * sizes.front(), {sizes.begin() + 1, sizes.end()}};
  shape.hidden.back() *= 2;
  return Dbn(std::move(shape));
}

void join(const Dbn& layers, DeepBoltzmann& model, const Context& context) {
  const std::size_t depth = model.depth();
  model.update(
      [&](Parameters& to) {
        for (std::size_t k = 0; k < depth; ++k) {
          Matrix<float> weights(model.sizes()[k], model.sizes()[k + 1]);
          const float share = k == 0 || k + 1 == depth ? 1.0f : 0.5f;
          for (std::size_t i = 0; i < weights.rows(); ++i) {
            for (std::size_t j = 0; j < weights.cols(); ++j) weights(i, j) = share * layers.stage(k).weights()(i, j);
          }
          model.put_weights_above(k, weights, to);
        }
        model.put_bias(0, layers.stage(0).visible_bias().first(model.sizes()[0]), to);
        model.put_bias(depth, layers.top().hidden_bias().first(model.sizes()[depth]), to);
        for (std::size_t k = 1; k < depth; ++k) {
          std::vector<float> bias(model.sizes()[k]);
          for (std::size_t i = 0; i < bias.size(); ++i) {
            bias[i] = 0.5f * (layers.stage(k - 1).hidden_bias()[i] + layers.stage(k).visible_bias()[i]);
          }
          model.put_bias(k, bias, to);
        }
      },
      context);
}

DbmLearner::DbmLearner(DeepBoltzmann& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options,
                       const DbmLearning& learning, Key key, const Context& context)
    : model_(model),
      train_(train),
      held_out_(held_out),
      options_(settled(options, {}, train.rows())),
      learning_(learning),
      key_(key) {
  require(learning.layer_updates >= model.depth() && learning.layer_updates <= *options_.updates,
          fmt::format("--layer-updates: expected from {} (one for each layer) to {} (--updates), or 0; found {}",
                      model.depth(), *options_.updates, learning.layer_updates));
  require(train.complete(), "layers are trained one by one on rows without missing values; take --layer-updates 0");
  single_ = single_layers(context);
}

std::unique_ptr<DbmLearner::SingleLayers> DbmLearner::single_layers(const Context& context) const {
  auto out = std::make_unique<SingleLayers>(SingleLayers{twin_layers(model_), nullptr});
  const DbnLearning own{.weight_scale = learning_.weight_scale, .twins = true};
  initialise(out->model, train_, own, key_, context);
  out->learner = std::make_unique<DbnLearner>(out->model, train_, held_out_,
                                              with_updates(options_, learning_.layer_updates), own, key_, context);
  return out;
}

std::unique_ptr<RbmLearner> DbmLearner::all_layers(const Context& context) const {
  return learner_of(model_, train_, held_out_, with_updates(options_, *options_.updates - learning_.layer_updates),
                    learning_.data_side, key_of_stage(key_, model_.depth()), context);
}

std::vector<State> DbmLearner::drawn_up(std::span<const std::uint32_t> rows, std::uint64_t epoch,
                                        std::uint64_t first_chain, const Context& context) const {
  Bits values(rows.size(), train_.units());
  gather(train_, rows, key_, epoch, values, context);
  const LayerDraws draws{key_, Purpose::kDataHidden, kJoinStep, first_chain};
  std::vector<State> up =
      single_->model.draw_up({beside(values, values), Bernoulli::kLevels}, model_.depth() - 1, draws, context);
  up[0].bits() = std::move(values);
  State top[] = {up.back(), single_->model.top().make_state(Rbm::kHidden, rows.size())};
  single_->model.top().resample(Rbm::kHidden, top, draws.at(model_.depth()), first_chain, context);
  up.emplace_back(columns(top[Rbm::kHidden].bits(), 0, model_.sizes().back()), Bernoulli::kLevels);
  std::vector<State> out(2, State(rows.size(), 0, Bernoulli::kLevels));
  for (std::size_t k = 0; k < up.size(); ++k) {
    Bits& block = out[DeepBoltzmann::block_of(k)].bits();
    block = beside(block, up[k].bits());
  }
  return out;
}

void DbmLearner::begin_together(std::uint64_t epoch, const Context& context) {
  join(single_->model, model_, context);
  together_ = all_layers(context);
  LearnerState begin = together_->state();
  std::vector<std::uint32_t> rows(train_.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  const std::size_t odd = units_of(model_.hidden()), observed = model_.structure().observed;
  std::vector<double> counts(begin.offsets.size());
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtATime) {
    const std::size_t count = std::min(kRowsAtATime, rows.size() - first);
    const std::vector<State> drawn = drawn_up(std::span(rows).subspan(first, count), epoch, first, context);
    for (std::size_t r = 0; r < count; ++r) {
      if (begin.completed.chains() > 0) begin.completed.set_row(first + r, drawn[Rbm::kVisible], r);
      for_each_set(drawn[Rbm::kHidden].bits().row(r), [&](std::size_t j) { counts[j] += 1.0; });
      for_each_set(drawn[Rbm::kVisible].bits().row(r), [&](std::size_t i) {
        if (i >= observed) counts[odd + i - observed] += 1.0;
      });
    }
  }
  for (std::size_t k = 0; k < counts.size() && !options_.uncentred; ++k) {
    begin.offsets[k] = counts[k] / static_cast<double>(rows.size());
  }
  if (begin.chains.count() > 0) {
    const std::vector<std::uint32_t> order = permutation(rows.size(), key_.at(Purpose::kInitialChains));
    rows.resize(begin.chains.count());
    for (std::size_t c = 0; c < rows.size(); ++c) rows[c] = order[c % order.size()];
    begin.chains.layers = drawn_up(rows, epoch, kFirstDataChain, context);
  }
  together_->restore(std::move(begin));
  single_.reset();
}

void DbmLearner::learn(const UpdateStep& now, const Context& context) {
  const std::uint64_t first = learning_.layer_updates;
  if (now.update >= first) {
    const double rate = *options_.learning_rate * now.rate_factor *
                        schedule_factor(options_.schedule, now.update - first, *options_.updates - first);
    return together_->learn({now.update - first, now.epoch, rate, now.rows, now.rate_factor}, context);
  }
  single_->learner->learn(now, context);
  if (now.update + 1 == first) begin_together(now.epoch, context);
}

Measures DbmLearner::measure(const Context& context) const {
  return together_ ? together_->measure(context) : single_->learner->measure(context);
}

void DbmLearner::set_parameters(std::span<const float> values, const Context& context) {
  model_.update([&](Parameters& p) { std::ranges::copy(values, p.values().begin()); }, context);
}

LearnerState DbmLearner::SingleLayers::state() const {
  LearnerState out = learner->state();
  out.layers.assign(model.parameters().values().begin(), model.parameters().values().end());
  return out;
}

LearnerState DbmLearner::state() const { return together_ ? together_->state() : single_->state(); }

LearnerState DbmLearner::shape_at(std::uint64_t update) const {
  return update < learning_.layer_updates ? single_layers({})->state() : all_layers({})->state();
}

void DbmLearner::restore(LearnerState state) {
  single_.reset();
  together_.reset();
  if (state.layers.empty()) {
    together_ = all_layers({});
    return together_->restore(std::move(state));
  }
  single_ = single_layers({});
  Parameters parameters = single_->model.parameters();
  std::ranges::copy(state.layers, parameters.values().begin());
  single_->model.set_parameters(parameters);
  single_->learner->restore(std::move(state));
}

}  // namespace ergodic
