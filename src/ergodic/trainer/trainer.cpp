#include "ergodic/trainer/trainer.hpp"

#include <fmt/format.h>

#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/trainer/health.hpp"

namespace ergodic {
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
  require_sound(record, records_.empty() ? record : records_.front(), *options_.learning_rate);
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
    if (finished()) learner_->finish(context);
    context.progress({update_, updates_total(), updates_per_epoch()});
    if (update_ % *options_.record_every == 0 || finished()) record(context);
    if (finished()) warn_if_overfitted(records_, context);
    after_update();
  }
  return true;
}

}  // namespace ergodic
