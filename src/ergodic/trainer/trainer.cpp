#include "ergodic/trainer/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// Says so when a monitor passes the point from which on a machine rarely recovers; once, not at every record.
void warn_if_unhealthy(const Record& now, const Record& before, const Context& context) {
  struct Limit {
    std::string_view monitor;
    double least, most;
    const char* meaning;

    bool passed_by(const Record& record) const {
      return std::ranges::any_of(
          record.values, [&](const auto& m) { return m.first == monitor && (m.second < least || m.second > most); });
    }
  };
  constexpr Limit kLimits[] = {
      {"dead", 0.0, 0.5,
       "more than half of the hidden units are never on; try a lower learning rate or fewer hidden units"},
      {"saturated", 0.0, 0.5, "more than half of the hidden units are always on; try a lower learning rate"},
      {"weight_norm", 0.0, 10.0,
       "the weights have grown very large; training may be diverging: try a lower learning rate"},
      {"effective_share", 0.1, 1.0, "the population cannot follow such steps; try a lower learning rate"}};
  for (const Limit& limit : kLimits) {
    if (limit.passed_by(now) && !limit.passed_by(before)) {
      context.warn(fmt::format("epoch {:.2f}: {}", now.epoch, limit.meaning));
    }
  }
}

}  // namespace

Trainer::Trainer(std::unique_ptr<Learner> learner, const Dataset& train, const TrainOptions& options, Key key)
    : learner_(std::move(learner)),
      options_(settled(options, {}, train.rows())),
      batches_(train.rows(), *options_.batch, key, train.weights) {
  require(*options_.batch <= train.rows(),
          fmt::format("a batch of {} is larger than the {} rows of training data", *options_.batch, train.rows()));
}

void Trainer::restore(TrainingState state) {
  update_ = state.update;
  records_ = std::move(state.records);
  learner_->restore(std::move(state.learner));
}

TrainingState Trainer::state() const { return {update_, records_, learner_->state()}; }

void Trainer::record(const Context& context) {
  const Timed timed(context.profile, ProfiledStage::kMeasure);
  const Context unprofiled{context.threads, context.observer};  // or what monitors sample would count twice
  const double epoch = static_cast<double>(update_) / static_cast<double>(batches_.per_epoch());
  Record record{update_, epoch, learner_->measure(unprofiled)};
  for (const auto& [name, value] : record.values) {
    if (!std::isfinite(value)) {
      throw NumericError(fmt::format("training diverged: {} is {} after {} updates; lower the learning rate (now {})",
                                     name, value, update_, *options_.learning_rate));
    }
  }
  warn_if_unhealthy(record, records_.empty() ? Record{} : records_.back(), context);
  context.record(record);
  records_.push_back(std::move(record));
}

bool Trainer::run(const std::function<void()>& after_update, const Context& context, std::uint64_t updates) {
  if (update_ == 0 && records_.empty()) record(context);
  for (std::uint64_t done = 0; !finished(); ++done) {
    if (done == updates || context.stop_requested()) return false;
    const double rate = *options_.learning_rate * schedule_factor(options_.schedule, update_, updates_total());
    learner_->learn({update_, batches_.epoch_of(update_), rate, batches_.at(update_)}, context);
    ++update_;
    context.progress({update_, updates_total(), updates_per_epoch()});
    if (update_ % *options_.record_every == 0 || update_ == updates_total()) record(context);
    after_update();
  }
  return true;
}

}  // namespace ergodic
