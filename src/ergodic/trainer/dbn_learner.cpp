#include "ergodic/trainer/dbn_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/trainer/monitor.hpp"
#include "ergodic/trainer/train_defaults.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kShownRows = 5000;  // whose features say what a stage learns from
constexpr std::size_t kMonitoredRows = 500, kTiedRows = 16;
constexpr std::uint64_t kMonitorStep = 1;  // the same numbers at each record
constexpr std::uint64_t kShownStep = std::uint64_t{1} << 40, kHeldOutStep = kShownStep + 1;  // beyond those of updates

std::vector<std::uint32_t> shown_rows(const Dataset& data, Key key) {
  std::vector<std::uint32_t> out = permutation(data.rows(), key.at(Purpose::kMonitor));
  out.resize(std::min(out.size(), kShownRows));
  return out;
}

/// Rows as the network has them.
State shown_to(const Dbn& model, State rows) {
  if (rows.units() == units_of(model.visible_layer())) return rows;
  return {beside(rows.bits(), rows.bits()), rows.levels()};
}

/// Makes the two copies of a layer the same again: the mean of both. A step is linear in the gradient, so that this is
/// a step by the mean of both gradients.
void tie(Rbm& rbm, std::size_t block, const Context& context) {
  const auto meet = [](float& a, float& b) { a = b = 0.5f * (a + b); };
  rbm.update(
      [&](Parameters& parameters) {
        const std::span<float> bias = parameters[block == Rbm::kVisible ? "visible_bias" : "hidden_bias"];
        const std::size_t half = bias.size() / 2;
        for (std::size_t i = 0; i < half; ++i) meet(bias[i], bias[half + i]);
        const MatrixView<float> weights(parameters["weights"].data(), rbm.weights().rows(), rbm.weights().cols());
        const std::size_t rows = block == Rbm::kVisible ? half : weights.rows();
        context.for_blocks(rows, kTiedRows, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const std::span<float> one = weights.row(i),
                                   other = block == Rbm::kVisible ? weights.row(half + i) : one.subspan(half);
            for (std::size_t j = 0; j < other.size(); ++j) meet(one[j], other[j]);
          }
        });
      },
      context);
}

/// The layers of a stage that are two copies.
void tie_twins(Dbn& model, std::size_t stage, const Context& context) {
  if (stage == 0) tie(model.edited_stage(stage), Rbm::kVisible, context);
  if (stage + 1 == model.depth()) tie(model.edited_stage(stage), Rbm::kHidden, context);
}

/// The rule of RBMs for a stage. The label beside the features has no say in it.
double default_rate(const Dbn& model, std::size_t stage, const Dataset& features, const std::string& method) {
  const Rbm& rbm = model.stage(stage);
  const Layer features_alone = Bernoulli{stage == 0 ? model.shape().values : model.shape().hidden[stage - 1]};
  return rbm_defaults({method, features, {features_alone, rbm.hidden()}, rbm.parameters().values().size()})
      .learning_rate;
}

void initialise_stage(Dbn& model, std::size_t stage, const Dataset& features, const DbnLearning& learning, Key key,
                      const Context& context) {
  Rbm& rbm = model.edited_stage(stage);
  const double scale = learning.weight_scale.value_or(first_weight_scale({rbm.visible(), rbm.hidden()}));
  initialise(rbm, features, scale, key_of_stage(key, stage), context);
  if (learning.twins) tie_twins(model, stage, context);
}

/// What one stage has in the state of all.
struct Part {
  std::size_t velocity = 0, offsets = 0, velocities = 0, offset_count = 0;
};

Part part_of(const Dbn& model, std::size_t stage) {
  Part out;
  out.offsets = 1;  // after the number of the stage
  for (std::size_t k = 0; k <= stage; ++k) {
    out.velocity += out.velocities;
    out.offsets += out.offset_count;
    out.velocities = model.stage(k).parameters().values().size();
    out.offset_count = units_of(model.stage(k).hidden());
  }
  return out;
}

std::ptrdiff_t at(std::size_t place) { return static_cast<std::ptrdiff_t>(place); }

}  // namespace

Key key_of_stage(Key key, std::size_t stage) {
  if (stage == 0) return key;
  const Words words = key.at(Purpose::kInitialWeights, stage, 1).words(0, 0);
  return {words[0] | (std::uint64_t{words[1]} << 32)};
}

Dataset features_of(const Dbn& model, std::size_t stage, const Dataset& data, std::span<const std::uint32_t> rows,
                    Key key, std::uint64_t step, const Context& context) {
  const State visible = shown_to(model, {std::get<Bits>(gather(data, rows, key, 0)), Bernoulli::kLevels});
  State top = model.draw_up(model.values_of(visible), stage, {key, Purpose::kDataHidden, step}, context).back();
  if (stage + 1 == model.depth()) top = model.joined_top(top, visible);
  Dataset out{fmt::format("features of {}", data.name), std::move(top.bits())};
  for (const std::uint32_t row : rows) {
    if (!data.weights.empty()) out.weights.push_back(data.weights[row]);
  }
  return out;
}

void initialise(Dbn& model, const Dataset& data, const DbnLearning& learning, Key key, const Context& context) {
  initialise_stage(model, 0, features_of(model, 0, data, shown_rows(data, key), key, kShownStep, context), learning,
                   key, context);
}

DbnLearner::DbnLearner(Dbn& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options,
                       const DbnLearning& learning, Key key, const Context& context)
    : model_(model),
      train_(train),
      held_out_(held_out),
      options_(settled(options, {}, train.rows())),
      learning_(learning),
      key_(key),
      first_default_(default_rate(
          model, 0, features_of(model, 0, train, shown_rows(train, key), key, kShownStep, context), options.method)) {
  require((learning.twins ? 2 : 1) * train.units() == units_of(model.visible_layer()),
          fmt::format("the network has {} visible units, the data {}", units_of(model.visible_layer()), train.units()));
  require(train.complete(), "a deep belief network learns from rows without missing values");
  require(*options_.updates >= model.depth() + learning.up_down_updates,
          fmt::format("--updates: {} are fewer than one for each of {} layers and {} of --up-down-updates",
                      *options_.updates, model.depth(), learning.up_down_updates));
  require(learning.up_down_updates == 0 || model.shape().untied, "wake-sleep training needs recognition weights");
  enter(0, false, context);
  require(learning.up_down_updates == 0 || learner_->chains(),
          fmt::format("--up-down-updates takes the chains of --method pcd for its dreams, and {} has none",
                      options_.method));
}

std::uint64_t DbnLearner::first_update(std::size_t stage) const {
  const std::uint64_t greedy = *options_.updates - learning_.up_down_updates;
  return stage > model_.depth() ? *options_.updates : stage * greedy / model_.depth();
}

std::size_t DbnLearner::stage_of(std::uint64_t update) const {
  std::size_t stage = 0;
  while (stage < model_.depth() && update >= first_update(stage + 1)) ++stage;
  return stage;
}

void DbnLearner::enter(std::size_t stage, bool begins, const Context& context) {
  std::optional<LearnerState> before;
  stage_ = stage;
  const std::size_t k = trained();
  if (begins && up_down()) before = learner_->state();
  shown_ = features_of(model_, k, train_, shown_rows(train_, key_), key_, kShownStep, context);
  shown_held_out_ = {};
  if (held_out_.rows() > 0) {
    shown_held_out_ = features_of(model_, k, held_out_, shown_rows(held_out_, key_), key_, kHeldOutStep, context);
  }
  if (begins && !up_down()) initialise_stage(model_, k, shown_, learning_, key_, context);
  rate_ = up_down() ? learning_.up_down_rate
                    : *options_.learning_rate * default_rate(model_, k, shown_, options_.method) / first_default_;
  TrainOptions own = options_;
  own.epochs.reset();
  own.updates = first_update(stage + 1) - first_update(stage);
  own.learning_rate = rate_;
  learner_ = std::make_unique<RbmLearner>(
      model_.edited_stage(k), shown_, shown_held_out_, own, key_of_stage(key_, stage), context,
      [this](const UpdateStep& now, State& visible, const Context& inner) { gather(now, visible, inner); });
  if (before) learner_->restore(std::move(*before));
}

void DbnLearner::gather(const UpdateStep& now, State& visible, const Context& context) {
  const std::size_t k = trained();
  State rows(now.rows.size(), train_.units(), Bernoulli::kLevels);
  ergodic::gather(train_, now.rows, key_, now.epoch, rows.bits(), context);
  rows = shown_to(model_, std::move(rows));
  const LayerDraws draws{key_, Purpose::kDataHidden, first_update(stage_) + now.update};
  layers_ = model_.draw_up(model_.values_of(rows), k, draws, context);
  visible = k + 1 == model_.depth() ? model_.joined_top(layers_.back(), rows) : layers_.back();
}

void DbnLearner::learn(const UpdateStep& now, const Context& context) {
  const std::size_t stage = stage_of(now.update);
  if (stage != stage_) enter(stage, true, context);
  const std::uint64_t first = first_update(stage), all = first_update(stage + 1) - first;
  const double rate = rate_ * now.rate_factor * schedule_factor(options_.schedule, now.update - first, all);
  model_.edited_stage(trained());
  learner_->learn({now.update - first, now.epoch, rate, now.rows, now.rate_factor}, context);
  if (learning_.twins) tie_twins(model_, trained(), context);
  if (up_down()) wake_and_sleep(now, rate, context);
}

void DbnLearner::wake_and_sleep(const UpdateStep& now, double rate, const Context& context) {
  const State& dreams = learner_->chains()->layers[Rbm::kVisible];
  const std::vector<State> asleep =
      model_.draw_down(model_.below_top(dreams), {key_, Purpose::kGibbs, now.update}, context);
  wake_sleep_step(model_, layers_, asleep, {rate, options_.decay.l2}, context);
}

/// What is said of the rows of a layer is not compared with what is said of those of another.
Measures DbnLearner::measure(const Context& context) const {
  constexpr std::string_view kOfAllLayers[] = {"weight_norm",     "dead",      "saturated",
                                               "effective_share", "fast_norm", "least_swapped"};
  Measures out;
  if (up_down()) {  // features change with the layers below
    const auto features = [&](const Dataset& data, std::uint64_t step) {
      if (data.rows() == 0) return State();
      const std::vector<std::uint32_t> rows = monitored_rows(data, kMonitoredRows, key_);
      return State(features_of(model_, trained(), data, rows, key_, step, context).bits(), Bernoulli::kLevels);
    };
    out = ergodic::measure(model_.top(), features(train_, kShownStep), features(held_out_, kHeldOutStep), key_,
                           kMonitorStep, context);
  } else {
    out = learner_->measure(context);
  }
  for (auto& [name, value] : out) {
    if (std::ranges::find(kOfAllLayers, name) != std::end(kOfAllLayers)) continue;
    name = fmt::format("layer{}_{}", trained() + 1, name);
  }
  return out;
}

/// Of the layer that learns; of all if all do.
Measures DbnLearner::vitals() const {
  double norm = 0.0;
  for (std::size_t k = up_down() ? 0 : trained(); k <= trained(); ++k) {
    norm = std::max(norm, weight_norm(model_.stage(k)));
  }
  return {{"weight_norm", norm}};
}

void DbnLearner::set_parameters(std::span<const float> values, const Context&) {
  Parameters all = std::as_const(model_).parameters();
  std::ranges::copy(values, all.values().begin());
  model_.set_parameters(all);
}

LearnerState DbnLearner::state() const {
  LearnerState own = learner_->state(), out;
  const Part last = part_of(model_, model_.depth() - 1), part = part_of(model_, trained());
  out.velocity.resize(last.velocity + last.velocities);
  out.offsets.resize(last.offsets + last.offset_count + units_of(model_.top().visible()));
  out.offsets[0] = static_cast<double>(stage_);
  std::ranges::copy(own.velocity, out.velocity.begin() + at(part.velocity));
  std::ranges::copy(own.offsets, out.offsets.begin() + at(part.offsets));
  // Those of the visible units follow from the layers below, until these change too.
  if (up_down())
    std::ranges::copy(learner_->visible_offsets(), out.offsets.begin() + at(last.offsets + last.offset_count));
  out.phase = std::move(own.phase);
  out.chains = {{}, own.chains.sweep, own.chains.first_chain};
  for (std::size_t k = 0; k < model_.depth(); ++k) {
    for (std::size_t l = 0; l < own.chains.layers.size(); ++l) {
      const std::size_t block = l % model_.stage(k).layers().size();
      out.chains.layers.push_back(k == trained() ? own.chains.layers[l]
                                                 : model_.stage(k).make_state(block, own.chains.count()));
    }
  }
  return out;
}

void DbnLearner::restore(LearnerState state) {
  const auto stage = static_cast<std::size_t>(state.offsets[0]);
  if (static_cast<double>(stage) != state.offsets[0] || stage > model_.depth()) {
    throw DataError(fmt::format("the checkpoint is of stage {}, and training has stages from 0 to {}", state.offsets[0],
                                model_.depth()));
  }
  enter(stage, false, {});
  const Part part = part_of(model_, trained());
  LearnerState own;
  own.velocity.assign(state.velocity.begin() + at(part.velocity),
                      state.velocity.begin() + at(part.velocity + part.velocities));
  own.offsets.assign(state.offsets.begin() + at(part.offsets),
                     state.offsets.begin() + at(part.offsets + part.offset_count));
  own.chains = {{}, state.chains.sweep, state.chains.first_chain};
  const std::size_t each = state.chains.layers.size() / model_.depth();
  const auto layers = state.chains.layers.begin() + at(trained() * each);
  own.chains.layers.assign(std::make_move_iterator(layers), std::make_move_iterator(layers + at(each)));
  own.phase = std::move(state.phase);
  learner_->restore(std::move(own));
  if (!up_down()) return;
  const std::span<double> offsets = learner_->visible_offsets();
  std::copy_n(state.offsets.end() - at(offsets.size()), offsets.size(), offsets.begin());
}

}  // namespace ergodic
