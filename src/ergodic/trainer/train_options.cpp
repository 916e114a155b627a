#include "ergodic/trainer/train_options.hpp"

#include <algorithm>

#include "ergodic/trainer/methods.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kMostRecords = 100;  // of a run, so that long runs on small data are not all monitors

std::vector<Choice> method_choices() {
  std::vector<Choice> out;
  for (const Method& method : methods()) out.push_back({std::string(method.name), std::string(method.help)});
  return out;
}

Spec<TrainOptions> make_spec() {
  Spec<TrainOptions> spec;
  spec.group(kLoopGroup)
      .add("method", &TrainOptions::method, "how the model's expectation in the gradient is estimated")
      .choices(method_choices())
      .add("steps", &TrainOptions::steps, "sweeps of the chains for each update")
      .range(1, 100000)
      .add("chains", &TrainOptions::chains, "persistent chains")
      .range(1, 1000000)
      .automatic("as many as the batch has rows")
      .advanced()
      .add("batch", &TrainOptions::batch, "rows in a mini-batch; all rows if there are fewer")
      .range(1, 100000000)
      .add("epochs", &TrainOptions::epochs, "passes through the data")
      .range(1, 1000000000)
      .add("learning-rate", &TrainOptions::learning_rate, "learning rate at the start")
      .range(1e-9, 1000.0)
      .add("schedule", &TrainOptions::schedule, "how the learning rate falls")
      .advanced();
  spec.group(kGradientGroup)
      .add(
          "momentum", [](auto& o) -> auto& { return o.sgd.momentum; }, "momentum coefficient")
      .range(0.0, 0.9999)
      .add(
          "l1", [](auto& o) -> auto& { return o.decay.l1; },
          "L1 weight decay: pulls each weight towards zero by a constant; measured between {0,1} units")
      .range(0.0, 1000.0)
      .advanced()
      .add(
          "l2", [](auto& o) -> auto& { return o.decay.l2; }, "L2 weight decay: pulls each weight in proportion to it")
      .range(0.0, 1000.0)
      .advanced()
      .add("uncentred", &TrainOptions::uncentred, "use the plain gradient instead of the centred one")
      .advanced();
  spec.group(kRealUnitsGroup)
      .add("least-noise", &TrainOptions::least_noise,
           "lower bound of the noise that real visible units learn, as a share of the data's standard deviations: "
           "less noise can fit better, but chains mix worse")
      .range(0.001, 1.0)
      .advanced();
  return spec;
}

}  // namespace

TrainOptions settled(TrainOptions options, const TrainDefaults& defaults, std::size_t rows) {
  if (!options.batch) options.batch = std::min<std::uint64_t>(defaults.batch, rows);
  if (!options.chains) options.chains = options.batch;
  if (!options.epochs) options.epochs = defaults.epochs;
  if (!options.learning_rate) options.learning_rate = defaults.learning_rate;
  if (!options.record_every) options.record_every = std::max<std::uint64_t>(1, *options.epochs / kMostRecords);
  return options;
}

const Spec<TrainOptions>& training_spec() {
  static const Spec<TrainOptions> spec = make_spec();
  return spec;
}

}  // namespace ergodic
