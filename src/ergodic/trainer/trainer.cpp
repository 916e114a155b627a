#include "ergodic/trainer/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/trainer/health.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kFewestUnwatched = 10;  // updates between two looks at the machine, however short an epoch is
constexpr std::size_t kMostRescues = 16;        // which make 0.015 of a rate of 1000, the largest that there is

constexpr char kNotJudged[] =
    "--keep best judges states by the likelihood or the pseudo-likelihood of held-out rows, and this run has neither: "
    "it takes held-out rows (--held-out) without missing values, and a machine whose hidden units can be summed over, "
    "with visible units that are not real unless there are at most 16 hidden ones; take --keep last";

/// The last updates, whose parameters are averaged: those of a stage that is given up have no part in the mean.
std::uint64_t averaged_updates(const TrainOptions& options, const Learner& learner) {
  const std::uint64_t all = *options.updates, last = all - std::min(all, learner.last_stage());
  return std::min(last, static_cast<std::uint64_t>(std::ceil(options.average * static_cast<double>(all))));
}

void require_none(const std::string& fault) {
  if (!fault.empty()) throw NumericError(fault);
}

}  // namespace

Trainer::Trainer(std::unique_ptr<Learner> learner, const Dataset& train, const TrainOptions& options, Key key)
    : learner_(std::move(learner)),
      options_(settled(options, {}, train.rows())),
      batches_(train.rows(), *options_.batch, key, train.weights),
      mean_(averaged_updates(options_, *learner_), updates_total(), learner_->parameters().size()) {
  require(*options_.batch <= train.rows(),
          fmt::format("a batch of {} is larger than the {} rows of training data", *options_.batch, train.rows()));
  const bool classes = learner_->learns_classes();
  if (options_.keep == Keep::kBest) {
    const std::optional<HeldOutLoss> loss = learner_->held_out_loss({});
    require(loss.has_value(), kNotJudged);
    if (!classes) judged_by_ = loss->monitor;
  }
  if (options_.keep.value_or(classes ? Keep::kBest : Keep::kLast) == Keep::kBest) best_.emplace(learner_->parameters());
  require(options_.patience == 0 || best_,
          "--patience counts states that were no better than the best; take --keep best with it, or leave it out");
  if (options_.rescue) keep_good_state();
}

void Trainer::restore(TrainingState state) {
  update_ = state.update;
  records_ = std::move(state.records);
  restore_learner(std::move(state.learner));
  rescues_ = std::move(state.rescues);
  good_ = std::move(state.good);
}

TrainingState Trainer::state() const { return {update_, records_, with_best(learner_->state()), rescues_, good_}; }

LearnerState Trainer::with_best(LearnerState state) const {
  if (best_) best_->put(state);
  state.average = mean_.values;
  return state;
}

void Trainer::restore_learner(LearnerState state) {
  if (best_) best_->take(state);
  mean_.values = std::move(state.average);
  learner_->restore(std::move(state));
}

std::optional<KeptRecord> Trainer::kept() const {
  if (judged_by_.empty() || !finished() || (average_ && average_->kept)) return std::nullopt;
  const auto is_best = [&](const Record& record) { return monitor_in(record, judged_by_) == -best_->loss(); };
  const auto found = std::ranges::find_if(records_, is_best);
  return found == records_.end() ? std::nullopt : std::optional(KeptRecord{judged_by_, *found});
}

double Trainer::rate_factor() const { return std::ldexp(1.0, -static_cast<int>(rescues_.size())); }

Record Trainer::vitals() const {
  return {update_, static_cast<double>(update_) / static_cast<double>(batches_.per_epoch()), learner_->vitals()};
}

std::string Trainer::fault() const {
  std::string reason = why_unsound(learner_->parameters());
  if (!reason.empty()) return reason;
  const Record now = vitals();
  return why_unsound(now, records_.empty() ? now : records_.front());
}

void Trainer::keep_good_state() {
  const std::span<const float> parameters = learner_->parameters();
  good_ = {update_, {parameters.begin(), parameters.end()}, with_best(learner_->state())};
}

void Trainer::go_back(const Context& context) {
  learner_->set_parameters(good_->parameters, context);
  restore_learner(good_->learner);
  update_ = good_->update;
  std::erase_if(records_, [this](const Record& record) { return record.update > update_; });
}

void Trainer::rescue(std::string_view reason, const Context& context) {
  const std::string what = fmt::format("training diverged after {} updates: {}", update_, reason);
  if (!good_) throw NumericError(fmt::format("{}; lower the learning rate (now {})", what, learning_rate()));
  if (rescues_.size() == kMostRescues) {
    throw NumericError(fmt::format("{}; {} rescues did not help, the last with a learning rate of {:.3g}", what,
                                   kMostRescues, learning_rate()));
  }
  rescues_.push_back({update_, good_->update});
  go_back(context);
  context.warn(fmt::format("{}; rescue {} goes back to update {} and on with a learning rate of {:.3g}", what,
                           rescues_.size(), update_, learning_rate()));
}

void Trainer::record(const Context& context) {
  const Timed timed(context.profile, ProfiledStage::kMeasure);
  const Context unprofiled{context.threads, context.observer};  // or what monitors sample would count twice
  Record record = vitals();
  record.values = learner_->measure(unprofiled);
  const Record& first = records_.empty() ? record : records_.front();
  require_none(why_unsound(record, first));
  require_none(why_unsound(learner_->parameters()));
  warn_if_unhealthy(record, records_, context);
  context.record(record);
  if (options_.rescue && healthy(record, first)) keep_good_state();
  records_.push_back(std::move(record));
}

/// The state before the first update; one that learns classes knows nothing of them yet.
void Trainer::begin(const Context& context) {
  if (best_ && !learner_->learns_classes()) judge(context);
  record(context);
}

/// Judges the machine by held-out rows where that is due. At the end of the run it goes back to the best state.
void Trainer::judge(const Context& context) {
  const std::uint64_t every = learner_->learns_classes() ? updates_per_epoch() : *options_.record_every;
  if (update_ % every == 0 || update_ == updates_total()) {
    const Timed timed(context.profile, ProfiledStage::kMeasure);
    best_->offer(learner_->parameters(), learner_->held_out_loss(Context{context.threads}));
  }
  if (finished()) learner_->set_parameters(best_->values(), context);
}

/// Leaves the better of the result so far and of the mean of the parameters in the machine.
void Trainer::choose(const Context& context) {
  if (mean_.taken(update_) == 0 || !why_unsound(mean_.values).empty()) return;
  const Context silent{context.threads};
  const std::span<const float> parameters = learner_->parameters();
  const std::vector<float> last(parameters.begin(), parameters.end());
  const Measures of_last = learner_->measure(silent);
  learner_->set_parameters(mean_.values, context);
  average_ = choice_between(of_last, learner_->measure(silent));
  if (!average_->kept) learner_->set_parameters(last, context);
}

/// One update, and a look at what has come of it where one is due.
void Trainer::advance(const Context& context) {
  const double rate = learning_rate() * schedule_factor(options_.schedule, update_, updates_total());
  learner_->learn({update_, batches_.epoch_of(update_), rate, batches_.at(update_), rate_factor()}, context);
  mean_.add(++update_, learner_->parameters(), context);
  if (best_) judge(context);
  if (finished()) choose(context);
  context.progress({update_, updates_total(), updates_per_epoch()});
  if (update_ % *options_.record_every == 0 || finished()) {
    record(context);
  } else if (update_ % std::max(updates_per_epoch(), kFewestUnwatched) == 0) {
    require_none(fault());
  }
  if (finished()) warn_if_overfitted(records_, context);
}

bool Trainer::run(const std::function<void()>& after_update, const Context& context, std::uint64_t updates) {
  if (update_ == 0 && records_.empty()) begin(context);
  for (std::uint64_t done = 0; !finished(); ++done) {
    const bool stopped = context.stop_requested();
    // What is saved now must be fit to go on from. It will diverge in the same place again, and is rescued there.
    if (stopped && good_ && !sound()) go_back(context);
    if (stopped || done == updates) return false;
    try {
      advance(context);
    } catch (const NumericError& divergence) {
      rescue(divergence.what(), context);
    }
    after_update();
  }
  return true;
}

}  // namespace ergodic
