// `ergodic classify fit`: from labelled rows to a classifier in a file, by way of machines that need no labels.
#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/lock.hpp"
#include "ergodic/machine/classifier.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/run/classify.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/store/checkpoint.hpp"

namespace ergodic {

template <>
struct Names<Activation> {
  static constexpr std::array<Named<Activation>, 2> kAll{
      {{Activation::kSigmoid, "sigmoid", "the hidden units of an RBM"}, {Activation::kRelu, "relu", "max(0, field)"}}};
};

enum class OptimiserName { kSgd, kAdam };
template <>
struct Names<OptimiserName> {
  static constexpr std::array<Named<OptimiserName>, 2> kAll{
      {{OptimiserName::kSgd, "sgd", "stochastic gradient descent with momentum"},
       {OptimiserName::kAdam, "adam", "steps in units of the gradient's own size"}}};
};

namespace {

struct FitRequest {
  FitRequest() { data.binarise = Binarise::kDynamic; }

  DataOptions data;
  double held_out = 0.05;
  std::optional<std::uint64_t> labels_per_class;
  Counts hidden{500};
  Activation activation = Activation::kSigmoid;
  std::filesystem::path from;
  bool random_start = false;
  std::optional<std::uint64_t> pretrain_updates;
  TrainOptions training;
  OptimiserName optimiser = OptimiserName::kSgd;
  double momentum = 0.9;
  NetworkLearning network;
  std::uint64_t seed = 1;
  std::filesystem::path out;
  double checkpoint_every = 60.0;
  bool resume = false;

  bool pretrained() const { return !random_start && from.empty(); }
};

void add_training(Spec<FitRequest>& spec) {
  spec.group("Fine-tuning")
      .add(
          "epochs", [](auto& r) -> auto& { return r.training.epochs; }, "passes through the labelled rows")
      .range(1, 1e9)
      .automatic("30, but at least 3000 updates")
      .add(
          "batch", [](auto& r) -> auto& { return r.training.batch; }, "rows of a mini-batch")
      .range(1, 1e9)
      .automatic("100")
      .add(
          "learning-rate", [](auto& r) -> auto& { return r.training.learning_rate; }, "learning rate at the start")
      .range(1e-9, 1000.0)
      .automatic("0.1; adam 0.001")
      .add(
          "schedule", [](auto& r) -> auto& { return r.training.schedule; }, "how the learning rate falls")
      .advanced()
      .add("optimiser", &FitRequest::optimiser, "how steps are made of gradients")
      .add("momentum", &FitRequest::momentum, "momentum coefficient of sgd")
      .range(0.0, 0.9999)
      .advanced()
      .add(
          "dropout", [](auto& r) -> auto& { return r.network.dropout.hidden; },
          "share of hidden units left out at random")
      .range(0.0, 0.95)
      .add(
          "input-dropout", [](auto& r) -> auto& { return r.network.dropout.inputs; },
          "share of inputs left out at random")
      .range(0.0, 0.95)
      .add(
          "max-norm", [](auto& r) -> auto& { return r.network.max_norm; },
          "largest norm of the weights that lead to a unit; 0: no limit")
      .range(0.0, 1e6)
      .add(
          "l2", [](auto& r) -> auto& { return r.network.l2; }, "L2 penalty on the weights")
      .range(0.0, 1e6);
}

Spec<FitRequest> make_spec() {
  Spec<FitRequest> spec;
  spec.include(data_spec(), &FitRequest::data);
  spec.group("Data")
      .add("held-out", &FitRequest::held_out, "share of the labelled rows by which the best state is chosen")
      .range(0.0, 0.9)
      .add("labels-per-class", &FitRequest::labels_per_class,
           "learn from the labels of so many rows of each class; all rows serve pre-training")
      .range(1, 1e9)
      .automatic("all");
  spec.group("Network")
      .add("hidden", &FitRequest::hidden,
           "units of each hidden layer, the lowest first; 0: none, which is logistic regression")
      .range(0, 1000000)
      .add("activation", &FitRequest::activation, "of hidden units, with --random-start")
      .add("from", &FitRequest::from, "begin with the hidden layer of this model file instead of pre-training")
      .role(PathRole::kInput)
      .add("random-start", &FitRequest::random_start, "begin with random weights instead of pre-training")
      .add("pretrain-updates", &FitRequest::pretrain_updates, "updates of the RBM of each layer")
      .range(1, 1e12)
      .automatic("as `ergodic train` has them");
  add_training(spec);
  add_seed(spec, &FitRequest::seed);
  spec.group("Output")
      .add("out", &FitRequest::out, "where the classifier goes")
      .role(PathRole::kOutput)
      .required()
      .not_part_of_result()
      .add("checkpoint-every", &FitRequest::checkpoint_every, "seconds between two checkpoints (beside --out)")
      .range(0.0, 1e9)
      .advanced()
      .not_part_of_result()
      .add("resume", &FitRequest::resume, "go on from the checkpoint beside --out; without one, start")
      .not_part_of_result();
  return spec;
}

/// The request with the optimiser that it names, and the layers that there are.
FitRequest settled(FitRequest request) {
  if (request.hidden == Counts{0}) request.hidden.clear();
  if (request.optimiser == OptimiserName::kAdam) {
    request.network.optimiser = Adam{};
  } else {
    request.network.optimiser = Sgd{request.momentum};
  }
  return request;
}

std::filesystem::path checkpoint_beside(const std::filesystem::path& out) { return out.string() + ".checkpoint"; }

void check(const FitRequest& request) {
  require(request.from.empty() || !request.random_start,
          "--from and --random-start contradict each other: give one of them");
  require(request.activation == Activation::kSigmoid || request.random_start,
          "--activation relu is for --random-start: pre-trained hidden units are sigmoids");
  require(std::ranges::find(request.hidden, 0u) == request.hidden.end(), "--hidden: a layer of 0 units stands alone");
  const std::filesystem::path checkpoint = checkpoint_beside(request.out);
  for (const auto& path : {request.out, checkpoint}) require_writable(path);
  require(
      request.resume || !std::filesystem::exists(checkpoint),
      fmt::format("{} holds an unfinished run; go on with --resume, or remove it to start anew", checkpoint.string()));
}

/// The network before fine-tuning; nothing if stopped. That of a run that goes on needs no pre-training: its checkpoint
/// has the parameters.
std::optional<Network> first_network(const FitRequest& request, const TrainingData& data, std::size_t classes,
                                     bool resumed, const Context& context) {
  const Key key{request.seed};
  const std::size_t inputs = data.train.units();
  if (!request.from.empty()) return network_from(*load_model(request.from).machine, inputs, classes);
  if (request.random_start || resumed) {
    return random_network(inputs, request.hidden, classes, request.activation, key);
  }
  TrainOptions options;
  options.updates = request.pretrain_updates;
  return pretrained_network(data, request.hidden, classes, options, key, context);
}

/// Everything that shapes the result, as text.
SettingTexts settings_of(const FitRequest& request) {
  SettingTexts out;
  for (const auto& [name, value] : make_spec().settings(request)) out[name] = text_of(value);
  return out;
}

/// A run of `classify fit`: what has become of it so far.
struct Run {
  const FitRequest& request;
  const TrainingData& labelled;
  std::filesystem::path checkpoint;
  SettingTexts settings;
  bool resumed = false;
  double pretraining_seconds = 0.0, seconds = 0.0;
  std::uint64_t updates = 0;
};

/// Fine-tunes the network, with checkpoints. Whether it is finished.
bool fine_tune(Run& run, Network& network, const Context& context) {
  ClassifierFit fit(network, run.labelled, {run.request.training, run.request.network}, Key{run.request.seed});
  if (run.resumed) {
    Checkpoint saved = load_checkpoint(run.checkpoint, {network.parameters(), fit.state()}, run.settings);
    fit.restore(saved.parameters, std::move(saved.state));
  }
  const auto save = [&] { save_checkpoint(run.checkpoint, network.parameters(), fit.state(), run.settings); };
  const double started = steady_seconds();
  double last_saved = started;
  const bool finished = fit.run(
      [&] {
        if (steady_seconds() - last_saved < run.request.checkpoint_every) return;
        save();
        last_saved = steady_seconds();
      },
      context);
  if (!finished) save();
  run.seconds = steady_seconds() - started;
  run.updates = fit.trainer().updates_done();
  return finished;
}

Outcome stopped_outcome(const Run& run, bool json) {
  return {json ? printed({{"stopped", true}, {"checkpoint", run.checkpoint.string()}}) : "",
          fmt::format("stopped after {} updates; the same command with --resume goes on from {}\n", run.updates,
                      run.checkpoint.string()),
          true};
}

Outcome finished_outcome(const Run& run, const Network& network, bool json, const Context& context) {
  const std::string name = run.request.out.string();
  Json out{{"classifier", name},
           {"stopped", false},
           {"updates", run.updates},
           {"pretraining_seconds", run.pretraining_seconds},
           {"seconds", run.seconds}};
  std::string text = fmt::format("trained: {} updates in {:.1f} s", run.updates, run.seconds);
  if (run.request.pretrained() && !run.resumed) {
    text += fmt::format(", after {:.1f} s of pre-training", run.pretraining_seconds);
  }
  text += fmt::format("; the classifier is in {}\n", name);
  if (const Dataset& rows = run.labelled.held_out; rows.rows() > 0) {
    const double error = class_scores(class_probabilities(network, rows, Context{context.threads}), rows.labels).error;
    out["held_out_error"] = error;
    text += fmt::format("error on {} held-out rows: {:.2f} %\n", rows.rows(), 100.0 * error);
  }
  return {json ? printed(out) : "", text, false};
}

Outcome run(const FitRequest& given, bool json, const Context& context) {
  const FitRequest request = settled(given);
  check(request);
  const FileLock lock(request.out);
  const Key key{request.seed};
  Dataset all = load_parts(request.data, context).train;
  require_labels(all);
  const std::size_t classes = all.classes();
  Notes notes = notes_of_data(all);
  const std::vector<std::string> class_names = all.class_names;
  const TrainingData data = training_data(std::move(all), request.held_out, key);
  TrainingData few;  // rows whose labels are learned from, if not all are
  if (request.labels_per_class) few.train = rows_per_class(data.train, *request.labels_per_class, key);

  Run run{request, request.labels_per_class ? few : data, checkpoint_beside(request.out), settings_of(request)};
  notes["training"] = Json(run.settings).dump();
  run.settings["content of the data"] = digest_of(data.train);
  run.resumed = request.resume && std::filesystem::exists(run.checkpoint);
  const double started = steady_seconds();
  std::optional<Network> network = first_network(request, data, classes, run.resumed, context);
  if (!network) return {"", "stopped while pre-training; nothing written\n", true};
  run.pretraining_seconds = steady_seconds() - started;
  if (!fine_tune(run, *network, context)) return stopped_outcome(run, json);
  save_classifier(request.out, {*network, class_names, notes});
  std::error_code ignored;  // the classifier is complete; a checkpoint that stays is named by the next run
  std::filesystem::remove(run.checkpoint, ignored);
  return finished_outcome(run, *network, json, context);
}

}  // namespace

Command classify_fit_command() {
  return command_of("classify fit", "train a classifier on labelled rows, pre-trained without labels",
                    "ergodic classify fit --data mnist --hidden 500 --out digits.classifier", make_spec(), run);
}

}  // namespace ergodic
