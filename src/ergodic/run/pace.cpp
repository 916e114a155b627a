#include "ergodic/run/pace.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "ergodic/core/error.hpp"
#include "ergodic/core/stopped.hpp"
#include "ergodic/data/batches.hpp"

namespace ergodic {
namespace {

constexpr double kTrialShare = 0.05, kLongestTrial = 3.0;
constexpr std::uint64_t kPlaces = 12, kBetweenPlaces = 1'000'000;  // one to four layers share them evenly
constexpr std::uint64_t kFirstUpdates = 2;                         // slow, as memory is touched for the first time
constexpr std::uint64_t kMostUpdates = 1'000'000'000'000;          // as --updates has it
constexpr double kRateFactor = 1e-9;                               // next to nothing

/// What training takes, in seconds.
struct Pace {
  double fixed = 0.0;  ///< once, whatever the number of updates: what layers begin with
  double update = 0.0, record = 0.0;
};

/// Learns here and there, without going on to anything.
class Trial {
 public:
  Trial(Learner& learner, const Dataset& train, const TrainOptions& options, Key key, const Clock& clock,
        const Context& context)
      : learner_(learner),
        options_(options),
        batches_(train.rows(), *options.batch, key, train.weights),
        clock_(clock),
        context_(context) {}

  Pace pace(double seconds) {
    const double first = time_of(0, kFirstUpdates), next = time_of(kFirstUpdates, 2 * kFirstUpdates);
    const double affordable = (seconds - first) / std::max(next, 1e-9) * kFirstUpdates;
    const auto updates = static_cast<std::uint64_t>(std::clamp(affordable, 1.0, double{kBetweenPlaces}));
    const std::uint64_t places = std::clamp<std::uint64_t>(updates / 2, 1, kPlaces), burst = (updates - 1) / places + 1;
    Pace out;
    for (std::uint64_t k = 0; k < places; ++k) {
      const std::uint64_t from = k * kPlaces / places * kBetweenPlaces;
      const double begin = time_of(from, from + 1);
      const double update = time_of(from + 1, from + 1 + burst) / static_cast<double>(burst);
      out.update += update / static_cast<double>(places);
      out.fixed += std::max(0.0, begin - update);
    }
    const double started = clock_();
    learner_.measure(Context{context_.threads});
    out.record = clock_() - started;
    return out;
  }

 private:
  double time_of(std::uint64_t from, std::uint64_t to) {
    const double started = clock_();
    const double rate = kRateFactor * *options_.learning_rate;
    for (std::uint64_t u = from; u < to; ++u) {
      if (context_.stop_requested()) throw Stopped();
      learner_.learn({u, batches_.epoch_of(u), rate, batches_.at(u), kRateFactor}, Context{context_.threads});
    }
    return clock_() - started;
  }

  Learner& learner_;
  const TrainOptions& options_;
  Minibatches batches_;
  const Clock& clock_;
  const Context& context_;
};

}  // namespace

std::uint64_t updates_within(double seconds, Machine& machine, const TrainingData& data, TrainOptions options, Key key,
                             const Context& context, const Clock& clock) {
  const TrainDefaults defaults = train_defaults(machine, data.train, options);
  const auto settled_for = [&](std::uint64_t updates) {
    options.updates = updates;
    options.epochs.reset();
    return settled(options, defaults, data.train.rows());
  };
  const TrainOptions all = settled_for(kPlaces * kBetweenPlaces);
  const Parameters before = machine.parameters();
  const Context silent{context.threads};  // what a learner notes is said by that of the run
  const std::unique_ptr<Learner> learner = machine.learner(data.train, data.held_out, all, key, silent);
  const Pace pace =
      Trial(*learner, data.train, all, key, clock, context).pace(std::min(kTrialShare * seconds, kLongestTrial));
  machine.set_parameters(before, context);

  const auto takes = [&](std::uint64_t updates) {
    const std::uint64_t records = 2 + (updates - 1) / *settled_for(updates).record_every;
    return pace.fixed + static_cast<double>(updates) * pace.update + static_cast<double>(records) * pace.record;
  };
  std::uint64_t fits = 1, too_many = kMostUpdates;
  while (too_many - fits > 1) {
    const std::uint64_t middle = fits + (too_many - fits) / 2;
    (takes(middle) > seconds ? too_many : fits) = middle;
  }
  return fits;
}

}  // namespace ergodic
