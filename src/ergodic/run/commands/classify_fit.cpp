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
  spec.include(complete_data_spec(), &FitRequest::data);
  spec.group("Data")
      .add("held-out", &FitRequest::held_out, "share of the labelled rows by which the best state is chosen")
      .range(0.0, 0.9)
      .add("labels-per-class", &FitRequest::labels_per_class,
           "learn from the labels of so many rows of each class; all rows serve pre-training")
      .range(1, 1e9)
      .automatic("all");
  spec.group("Network")
      .add("hidden", &FitRequest::hidden, "units of each hidden layer, the lowest first")
      .range(1, 1000000)
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

/// The network before fine-tuning; nothing if stopped.
std::optional<Network> first_network(const FitRequest& request, const TrainingData& data, std::size_t classes,
                                     const Context& context) {
  const Key key{request.seed};
  const std::size_t inputs = data.train.units();
  if (!request.from.empty()) return network_from(*load_model(request.from).machine, inputs, classes);
  if (request.random_start) return random_network(inputs, request.hidden, classes, request.activation, key);
  TrainOptions options;
  options.updates = request.pretrain_updates;
  return pretrained_network(data, request.hidden, classes, options, key, context);
}

void check(const FitRequest& request) {
  require(request.from.empty() || !request.random_start,
          "--from and --random-start contradict each other: give one of them");
  require(request.activation == Activation::kSigmoid || request.random_start,
          "--activation relu is for --random-start: pre-trained hidden units are sigmoids");
  require_writable(request.out);
  const std::filesystem::path checkpoint = request.out.string() + ".checkpoint";
  require(
      request.resume || !std::filesystem::exists(checkpoint),
      fmt::format("{} holds an unfinished run; go on with --resume, or remove it to start anew", checkpoint.string()));
}

/// The rows whose labels are learned from, and those by which the best state is chosen.
TrainingData labelled(const FitRequest& request, const TrainingData& data) {
  if (!request.labels_per_class) return data;
  return {rows_per_class(data.train, *request.labels_per_class, Key{request.seed}), {}};
}

Outcome run(FitRequest request, bool json, const Context& context) {
  check(request);
  const FileLock lock(request.out);
  const Key key{request.seed};
  Dataset all = load_parts(request.data, context).train;
  require_labels(all);
  const std::size_t classes = all.classes();
  Classifier classifier{Network({1, 2}, Activation::kSigmoid), all.class_names, notes_of_data(all)};
  const TrainingData data = training_data(std::move(all), request.held_out, key);
  const TrainingData rows = labelled(request, data);
  if (request.optimiser == OptimiserName::kAdam) {
    request.network.optimiser = Adam{};
  } else {
    request.network.optimiser = Sgd{request.momentum};
  }
  SettingTexts settings;
  for (const auto& [name, value] : make_spec().settings(request)) settings[name] = text_of(value);
  classifier.notes["training"] = Json(settings).dump();
  settings["content of the data"] = digest_of(data.train);

  const std::filesystem::path checkpoint = request.out.string() + ".checkpoint";
  const bool resumed = request.resume && std::filesystem::exists(checkpoint);
  const double started = steady_seconds();
  std::optional<Network> network;
  if (resumed) {
    // The parameters are in the checkpoint; only the shape is needed here.
    FitRequest shape = request;
    shape.random_start = request.from.empty();
    network = first_network(shape, data, classes, context);
  } else {
    network = first_network(request, data, classes, context);
  }
  if (!network) return {"", "stopped while pre-training; nothing written\n", true};
  const double pretrained = steady_seconds();
  ClassifierFit fit(*network, rows, {request.training, request.network}, key);
  if (resumed) {
    Checkpoint saved = load_checkpoint(checkpoint, {network->parameters(), fit.state()}, settings);
    fit.restore(saved.parameters, std::move(saved.state));
  }
  double last_saved = steady_seconds();
  const auto save = [&] { save_checkpoint(checkpoint, network->parameters(), fit.state(), settings); };
  const bool finished = fit.run(
      [&] {
        if (steady_seconds() - last_saved < request.checkpoint_every) return;
        save();
        last_saved = steady_seconds();
      },
      context);
  if (!finished) {
    save();
    return {json ? printed({{"stopped", true}, {"checkpoint", checkpoint.string()}}) : "",
            fmt::format("stopped after {} updates; the same command with --resume goes on from {}\n",
                        fit.trainer().updates_done(), checkpoint.string()),
            true};
  }
  const double tuned = steady_seconds();
  classifier.network = *network;
  save_classifier(request.out, classifier);
  std::error_code ignored;
  std::filesystem::remove(checkpoint, ignored);
  Json out{{"classifier", request.out.string()},
           {"stopped", false},
           {"updates", fit.trainer().updates_done()},
           {"pretraining_seconds", pretrained - started},
           {"seconds", tuned - pretrained}};
  std::string text = fmt::format("trained: {} updates in {:.1f} s", fit.trainer().updates_done(), tuned - pretrained);
  if (request.pretrained() && !resumed) text += fmt::format(", after {:.1f} s of pre-training", pretrained - started);
  text += fmt::format("; the classifier is in {}\n", request.out.string());
  if (rows.held_out.rows() > 0) {
    const ClassifierReport report =
        judge(class_probabilities(*network, rows.held_out, Context{context.threads}), rows.held_out.labels);
    out["held_out_error"] = report.scores.error;
    text += fmt::format("error on {} held-out rows: {:.2f} %\n", report.rows, 100.0 * report.scores.error);
  }
  return {json ? printed(out) : "", text, false};
}

}  // namespace

Command classify_fit_command() {
  return command_of("classify fit", "train a classifier on labelled rows, pre-trained without labels",
                    "ergodic classify fit --data mnist --hidden 500 --out digits.classifier", make_spec(), run);
}

}  // namespace ergodic
