#include "ergodic/run/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/trainer/negative_phase.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kWatchedChains = 16;
constexpr std::uint64_t kMostWatchedSweeps = 400, kFewestWatchedSweeps = 40;
constexpr std::uint64_t kWatchedTerms = 6'000'000'000;  // of all sweeps: large machines are watched for a shorter time
constexpr std::uint64_t kFirstWatchedChain = std::uint64_t{3} << 30;  // beyond those of training

}  // namespace

TrainingData training_data(Dataset data, double held_out_share, Key key) {
  TrainingData out{std::move(data), {}};
  const auto held_out_rows = static_cast<std::size_t>(held_out_share * static_cast<double>(out.train.rows()));
  out.held_out = split_off(out.train, held_out_rows, key.at(Purpose::kSplit));
  require(out.train.effective_rows() > 0.0, "--weights: all rows that are learned from have the weight 0");
  return out;
}

TrainDefaults train_defaults(const Machine& machine, const Dataset& data, const TrainOptions& options) {
  if (!machine.kind().learns()) return {};
  TrainDefaults out =
      machine.kind().defaults.find({options.method, data, machine.layers(), machine.parameters().values().size(),
                                    options.objective, options.optimiser});
  const double updates = options.share_of_updates * static_cast<double>(out.updates);
  out.updates = std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(updates)), 1);
  return out;
}

Fit::Fit(Machine& machine, const TrainingData& data, const TrainOptions& options, Key key, const Context& context)
    : machine_(machine),
      key_(key),
      options_(settled(options, train_defaults(machine, data.train, options), data.train.rows())) {
  auto learner = machine.learner(data.train, data.held_out, options_, key, context);
  if (learner) trainer_.emplace(std::move(learner), data.train, options_, key);
}

const std::vector<Record>& Fit::records() const {
  static const std::vector<Record> none;
  return trainer_ ? trainer_->records() : none;
}

const std::vector<Rescue>& Fit::rescues() const {
  static const std::vector<Rescue> none;
  return trainer_ ? trainer_->rescues() : none;
}

bool Fit::run(const Hook& after_update, const Context& context, std::uint64_t updates) {
  if (!trainer_) return true;
  context.stage({"training", "updates"});
  return trainer_->run(
      [&] {
        if (after_update) after_update(*this);
      },
      context, updates);
}

TrainingState Fit::state() const { return trainer_ ? trainer_->state() : TrainingState{}; }

TrainingState Fit::shape_at(std::uint64_t update) const {
  return trainer_ ? trainer_->shape_at(update) : TrainingState{};
}

void Fit::restore(const Parameters& parameters, TrainingState state, const Context& context) {
  machine_.set_parameters(parameters, context);
  if (trainer_) trainer_->restore(std::move(state));
}

std::optional<MixingReport> Fit::mixing(const Context& context) const {
  if (!chains() || chains()->count() == 0) return std::nullopt;
  Chains watched;
  for (const State& layer : chains()->layers) {
    watched.layers.push_back(layer.rows(0, std::min(layer.chains(), kWatchedChains)));
  }
  watched.first_chain = kFirstWatchedChain;
  const std::uint64_t affordable = kWatchedTerms / (watched.count() * machine_.parameters().values().size());
  const std::uint64_t sweeps = std::clamp(affordable, kFewestWatchedSweeps, kMostWatchedSweeps);
  MixingWatch watch(machine_.watched_numbers_of_learner(), watched.count(), sweeps, machine_.bounded_times({}));
  const Context unobserved{context.threads};
  context.stage({"mixing", "sweeps"});
  while (watched.sweep < sweeps) {
    if (context.stop_requested()) return std::nullopt;
    trainer_->simulator()->sweep(watched, key_, unobserved);
    watch.look(watched, unobserved);
    context.progress({watched.sweep, sweeps});
  }
  MixingReport report = watch.report();
  if (report.verdict.mixing == Mixing::kNo) {
    context.warn(
        fmt::format("the chains of training have not mixed ({}), so that the gradient was biased; more --steps, more "
                    "--chains or a lower --learning-rate may help, see docs/mixing.md",
                    worst_of(report)));
  }
  return report;
}

FitResult fit(Machine& machine, const TrainingData& data, const TrainOptions& options, Key key, const Context& context,
              const Fit::Hook& after_update) {
  Fit fit(machine, data, options, key, context);
  FitResult out;
  out.stopped = !fit.run(after_update, context);
  out.updates = fit.updates_done();
  out.epochs = static_cast<double>(out.updates) / static_cast<double>(fit.updates_per_epoch());
  if (!fit.records().empty()) out.last = fit.records().back();
  return out;
}

}  // namespace ergodic
