#include "ergodic/trainer/train_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/trainer/adversary.hpp"
#include "ergodic/trainer/methods.hpp"
#include "ergodic/trainer/tempered_chains.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kMostRecords = 100;      // of a run, so that long runs on small data are not all monitors
constexpr std::uint64_t kMostUnrecorded = 1000;  // updates, so that runs of few epochs show how they went

std::vector<Choice> method_choices() {
  std::vector<Choice> out;
  for (const Method& method : methods()) out.push_back({std::string(method.name), std::string(method.help)});
  return out;
}

std::vector<std::string_view> persistent_methods() {
  std::vector<std::string_view> out;
  for (const Method& method : methods()) {
    if (method.persistent) out.push_back(method.name);
  }
  return out;
}

Spec<TrainOptions> make_spec() {
  Spec<TrainOptions> spec;
  spec.group(kLoopGroup)
      .add("method", &TrainOptions::method, "how the model's expectation in the gradient is estimated")
      .choices(method_choices())
      .add("steps", &TrainOptions::steps, "sweeps of the chains for each update")
      .range(1, 100000)
      .add("final-steps", &TrainOptions::final_steps,
           "sweeps for the last update, if they are to grow from --steps on as the machine gets harder to sample; for "
           "methods whose chains go on")
      .range(1, 100000)
      .automatic("as many as --steps")
      .advanced()
      .add("levels", &TrainOptions::levels, "machines on the ladder of --method tempering, with those at both ends")
      .range(2, 1000)
      .automatic(std::to_string(TemperedChains::kLevels))
      .advanced()
      .add("chains", &TrainOptions::chains, "persistent chains")
      .range(1, 1000000)
      .automatic("as many as the batch has rows, at least 100")
      .advanced()
      .add("batch", &TrainOptions::batch, "rows in a mini-batch; all rows if there are fewer")
      .range(1, 100000000)
      .add("updates", &TrainOptions::updates, "how long training lasts: steps of a mini-batch each")
      .range(1, 1e12)
      .add("epochs", &TrainOptions::epochs, "the same in passes through the data, instead of --updates")
      .range(1, 1000000000)
      .automatic("as many as --updates makes")
      .add("learning-rate", &TrainOptions::learning_rate, "learning rate at the start")
      .range(1e-9, 1000.0)
      .add("schedule", &TrainOptions::schedule, "how the learning rate falls")
      .advanced()
      .add("average", &TrainOptions::average,
           "average the parameters over this share of the updates, the last ones; at the end the mean is kept if "
           "held-out rows are likelier for it (training rows, if there are none), else the last parameters; 0: not")
      .range(0.0, 1.0)
      .add("rescue", &TrainOptions::rescue,
           "if training diverges, go back to the last good state, and on with half the learning rate; at most 16 times")
      .add("keep", &TrainOptions::keep, "which state of the machine is the result")
      .automatic("last; best where p of y given x is learned")
      .add("patience", &TrainOptions::patience,
           "end training when so many states in a row were no better than the best, of those that --keep best judges; "
           "0: never")
      .range(0, 1e9);
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
  spec.group(kOptimiserGroup).add("optimiser", &TrainOptions::optimiser, "how a step is made of gradients").advanced();
  spec.group(kHiddenUnitsGroup)
      .add(
          "l1-squared", [](auto& o) -> auto& { return o.hidden_penalty.l1_squared; },
          "penalty X/2N times the sum over hidden units of the square of the sum of the sizes of their weights, N "
          "being "
          "the visible units: hidden units with few weights; measured between {0,1} units")
      .range(0.0, 1000.0)
      .advanced()
      .add(
          "sparsity", [](auto& o) -> auto& { return o.hidden_penalty.sparsity; },
          "how strongly hidden units are pulled to --sparsity-target")
      .range(0.0, 1000.0)
      .advanced()
      .add(
          "sparsity-target", [](auto& o) -> auto& { return o.hidden_penalty.target; },
          "share of rows in which each hidden unit is to be on")
      .range(0.0, 1.0)
      .automatic("0.1")
      .advanced();
  spec.group(kRealUnitsGroup)
      .add("least-noise", &TrainOptions::least_noise,
           "lower bound of the noise that real visible units learn, as a share of the data's standard deviations: "
           "less noise can fit better, but chains mix worse")
      .range(0.001, 1.0)
      .advanced();
  spec.group(kClassesGroup)
      .add("objective", &TrainOptions::objective, "what is learned of rows x and their labels y")
      .add("generative-weight", &TrainOptions::generative_weight, "weight of log p(x, y) in the hybrid objective")
      .range(1e-9, 1e9)
      .automatic("0.01")
      .add("adversarial", &TrainOptions::adversarial,
           "adversarial training: move each input so far, in its standard deviations, to where the label is less "
           "probable; 0: not")
      .range(0.0, 1e6)
      .automatic("0.2 where p of y given x is learned");
  return spec;
}

}  // namespace

Optimiser optimiser_of(const TrainOptions& options) {
  if (options.optimiser == OptimiserKind::kSgd) return options.sgd;
  require(options.sgd.momentum == 0.0,
          "--momentum is for --optimiser sgd, and the others have their own; leave it out");
  if (options.optimiser == OptimiserKind::kAdam) return Adam{};
  return Spectral{};
}

TrainOptions settled(TrainOptions options, const TrainDefaults& defaults, std::size_t rows) {
  if (!options.batch) options.batch = std::min<std::uint64_t>(defaults.batch, rows);
  // Few rows can be learned from at once, but few chains say little of the machine.
  if (!options.chains) options.chains = std::max(*options.batch, defaults.batch);
  const std::uint64_t per_epoch = (rows + *options.batch - 1) / *options.batch;
  const std::uint64_t asked_for = options.epochs ? *options.epochs * per_epoch : defaults.updates;
  if (!options.updates) options.updates = asked_for;
  require(!options.epochs || *options.updates == asked_for,
          "--updates and --epochs both say how long training lasts; give one of them");
  if (!options.learning_rate) options.learning_rate = defaults.learning_rate;
  if (!options.steps) options.steps = defaults.steps;
  require(!options.final_steps || method_named(options.method).persistent,
          fmt::format("--final-steps is for chains that go on from update to update, and --method {} has none; take "
                      "one of {}, or leave it out",
                      options.method, fmt::join(persistent_methods(), ", ")));
  require(!options.final_steps || *options.final_steps >= *options.steps,
          fmt::format("--final-steps: expected at least the {} sweeps of --steps, found {}", *options.steps,
                      options.final_steps.value_or(0)));
  require(!options.levels || options.method == kTemperedChains.name,
          fmt::format("--levels is for --method {}, and the method is {}; leave it out", kTemperedChains.name,
                      options.method));
  if (!options.record_every) {
    options.record_every = std::max(std::min(per_epoch, kMostUnrecorded), *options.updates / kMostRecords);
  }
  return options;
}

const Spec<TrainOptions>& training_spec() {
  static const Spec<TrainOptions> spec = make_spec();
  return spec;
}

}  // namespace ergodic
