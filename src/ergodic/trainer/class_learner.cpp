#include "ergodic/trainer/class_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/data/moments.hpp"
#include "ergodic/trainer/monitor.hpp"

namespace ergodic {
namespace {

constexpr double kGenerativeWeight = 0.01;
constexpr double kHiddenOffset = 0.5;  // of {0,1} units of which nothing is known

/// The label of each row, by its units behind the values; -1 if anything of the row is missing.
std::vector<int> labels_in(const Dataset& data, std::size_t values) {
  std::vector<int> out(data.rows(), -1);
  for (std::size_t r = 0; r < data.rows(); ++r) {
    bool known = true;
    for (std::size_t i = 0; i < data.units() && !data.complete(); ++i) known = known && data.is_known(r, i);
    if (!known) continue;
    std::size_t unit = values;
    const auto on = [&] { return data.dynamic() ? data.grey()(r, unit) == kFullGrey : data.bits().get(r, unit); };
    while (unit < data.units() && !on()) ++unit;
    require(unit < data.units(), fmt::format("row {}: none of the units of its label is on", r + 1));
    out[r] = static_cast<int>(unit - values);
  }
  return out;
}

std::vector<std::uint32_t> rows_with_label(const std::vector<int>& labels) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t r = 0; r < labels.size(); ++r) {
    if (labels[r] >= 0) out.push_back(r);
  }
  return out;
}

/// The complete rows alone, with their labels.
Dataset complete_part(const Dataset& data, std::size_t values) {
  if (data.rows() == 0) return {};
  Dataset out = select(data, rows_with_label(labels_in(data, values)));
  out.labels = labels_in(out, values);
  return out;
}

/// The options of the generative part; penalties are those of the whole objective.
TrainOptions generative_options(TrainOptions options) {
  if (options.objective == Objective::kHybrid) options.decay = {};
  return options;
}

std::vector<double> weights_of(const Dataset& data, std::span<const std::uint32_t> rows) {
  std::vector<double> out;
  for (const std::uint32_t r : rows) {
    if (!data.weights.empty()) out.push_back(data.weights[r]);
  }
  return out;
}

}  // namespace

Matrix<float> class_probabilities(const Rbm& model, const Dataset& data, const Context& context) {
  ClassPosterior posterior(model);
  return class_probabilities([&](MatrixView<const float> inputs) { return posterior.probabilities(inputs, context); },
                             data, posterior.values(), posterior.classes(), context);
}

ClassLearner::ClassLearner(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options,
                           Key key, const Context& context)
    : model_(model), train_(train), options_(settled(options, {}, train.rows())), posterior_(model) {
  const bool generative = options.objective == Objective::kGenerative;
  require(!options.generative_weight || options.objective == Objective::kHybrid,
          "--generative-weight is the weight of log p(x, y) beside log p(y | x); take --objective hybrid, or leave it "
          "out");
  require(!options.adversarial || !generative,
          "--adversarial moves rows where p(y | x) is learned; take --objective discriminative or hybrid, or leave it "
          "out");
  if (!options_.generative_weight) options_.generative_weight = kGenerativeWeight;
  labels_ = labels_in(train, posterior_.values());
  complete_ = rows_with_label(labels_);
  require(generative || !complete_.empty(),
          "no row has a label and all of its values, which --objective discriminative and hybrid learn from; take "
          "--objective generative");
  watched_ = complete_part(watched_rows(train, key), posterior_.values());
  held_out_ = complete_part(held_out, posterior_.values());
  if (options.objective != Objective::kDiscriminative) {
    generative_ = std::make_unique<RbmLearner>(model, train, held_out, generative_options(options_), key, context);
  }
  if (generative) return;
  batches_.emplace(complete_.size(), std::min<std::size_t>(*options_.batch, complete_.size()), key,
                   weights_of(train, complete_));
  gradient_.resize(model.parameters().values().size());
  ascent_.resize(gradient_.size());
  velocity_.resize(gradient_.size());
  gaps_ = gaps_of(model, train);
  const double reach = options_.adversarial.value_or(kAdversarialDeviations);
  if (reach > 0.0) adversary_.emplace(select(train, complete_), posterior_.values(), reach);
  visible_offset_ = options.uncentred ? std::vector<double>(train.units()) : unit_means(train);
  hidden_offset_.assign(units_of(model.hidden()), options.uncentred ? 0.0 : kHiddenOffset);
}

void ClassLearner::learn(const UpdateStep& now, const Context& context) {
  if (!learns_classes()) return generative_->learn(now, context);
  // Both gradients are those of the machine before the update, and velocities add up as gradients do.
  find_gradient(now.update, context);
  if (generative_) {
    generative_->learn({now.update, now.epoch, *options_.generative_weight * now.rate, now.rows}, context);
  }
  ascend({now.update, now.rate}, context);
}

void ClassLearner::find_gradient(std::uint64_t update, const Context& context) {
  std::vector<std::uint32_t> rows;
  std::vector<int> labels;
  for (const std::uint32_t k : batches_->at(update)) {
    rows.push_back(complete_[k]);
    labels.push_back(labels_[complete_[k]]);
  }
  if (inputs_.rows() != rows.size()) inputs_ = slopes_ = Matrix<float>(rows.size(), posterior_.values());
  gather_inputs(train_, rows, inputs_);
  if (adversary_) {
    posterior_.probabilities(inputs_, context);
    posterior_.input_gradient(labels, slopes_, context);
    adversary_->move(slopes_, inputs_, context);
  }
  posterior_.probabilities(inputs_, context);
  posterior_.gradient(inputs_, labels, gradient_, context);
}

void ClassLearner::ascend(StepSize size, const Context& context) {
  std::ranges::copy(gradient_, ascent_.begin());
  const std::span<const double> visible = generative_ ? generative_->visible_offsets() : visible_offset_;
  const std::span<const double> hidden = generative_ ? generative_->hidden_offsets() : hidden_offset_;
  condition(model_, gaps_, visible, hidden, options_.decay, ascent_, context);
  const auto edit = [&](Parameters& p) { step(options_.sgd, size, ascent_, velocity_, p, context); };
  // Without chains nothing is sampled before the end, and what sampling needs is not renewed.
  generative_ ? model_.update(edit, context) : model_.set(edit);
}

ClassScores ClassLearner::scores_of(const Dataset& rows, const Context& context) const {
  return class_scores(class_probabilities(model_, rows, Context{context.threads}), rows.labels);
}

std::optional<HeldOutLoss> ClassLearner::held_out_loss(const Context& context) const {
  if (!learns_classes()) return generative_->held_out_loss(context);
  if (held_out_.rows() == 0) return std::nullopt;
  return loss_of(scores_of(held_out_, context));
}

Measures ClassLearner::measure(const Context& context) const {
  Measures out = generative_ ? generative_->measure(context) : vitals();
  const auto add = [&](const std::string& prefix, const Dataset& rows) {
    if (rows.rows() == 0) return;
    const ClassScores scores = scores_of(rows, context);
    out.emplace_back(prefix + "error", scores.error);
    out.emplace_back(prefix + "log_loss", scores.log_loss);
  };
  add("", watched_);
  add("held_out_", held_out_);
  return out;
}

Measures ClassLearner::vitals() const {
  return generative_ ? generative_->vitals() : Measures{{"weight_norm", weight_norm(model_.parameters())}};
}

std::span<const float> ClassLearner::parameters() const { return std::as_const(model_).parameters().values(); }

void ClassLearner::set_parameters(std::span<const float> values, const Context& context) {
  model_.update([&](Parameters& p) { std::ranges::copy(values, p.values().begin()); }, context);
}

LearnerState ClassLearner::state() const {
  LearnerState out = generative_ ? generative_->state() : LearnerState{};
  out.velocity.insert(out.velocity.end(), velocity_.begin(), velocity_.end());
  return out;
}

void ClassLearner::restore(LearnerState state) {
  const auto own = state.velocity.end() - static_cast<std::ptrdiff_t>(velocity_.size());
  velocity_.assign(own, state.velocity.end());
  state.velocity.erase(own, state.velocity.end());
  if (generative_) generative_->restore(std::move(state));
}

}  // namespace ergodic
