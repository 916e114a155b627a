// `ergodic classify fit`: from labelled rows to a classifier in a file, by way of machines that need no labels.
#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/lock.hpp"
#include "ergodic/machine/classifier.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/labels.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/run/classify.hpp"
#include "ergodic/run/commands/classify_report.hpp"
#include "ergodic/run/commands/classify_request.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/store/checkpoint.hpp"

namespace ergodic {
namespace {

/// The request with the optimiser that it names.
FitRequest prepared(FitRequest request) {
  if (request.optimiser == OptimiserName::kAdam) {
    request.network.optimiser = Adam{};
  } else {
    request.network.optimiser = Sgd{request.momentum};
  }
  return request;
}

std::filesystem::path beside(const std::filesystem::path& out, const char* what) { return out.string() + what; }
std::filesystem::path random_file(const FitRequest& request) { return beside(request.out, ".random"); }
std::filesystem::path checkpoint_of(const std::filesystem::path& out) { return beside(out, ".checkpoint"); }
std::filesystem::path pretraining_checkpoint(const FitRequest& request) { return beside(request.out, ".pretraining"); }

void check(const FitRequest& request) {
  require(request.from.empty() || !request.random_start,
          "--from and --random-start contradict each other: give one of them");
  require(!request.random_start || !request.compare_random,
          "--random-start and --compare-random: the network begins with random weights already; leave one out");
  require(request.from.empty() || !request.hidden,
          "--from takes the hidden layers of a model file, and --hidden gives their sizes: leave out either");
  const Counts layers = request.layers();
  require(std::ranges::find(layers, 0u) == layers.end(), "--hidden: a layer of 0 units stands alone");
  require_distinct({{"--data", request.data.source},
                    {"--labels", request.data.labels},
                    {"--from", request.from},
                    {"--out", request.out},
                    {"--report", request.report}});
  require_writable(request.out);
  require_ending("--report", request.report, {".html", ".htm"});
  for (const auto& path :
       {checkpoint_of(request.out), pretraining_checkpoint(request), checkpoint_of(random_file(request))}) {
    require_writable(path);
    require(request.resume || !std::filesystem::exists(path),
            fmt::format("{} holds an unfinished run; go on with --resume, or remove it to start anew", path.string()));
  }
  if (request.compare_random) require_writable(random_file(request));
}

/// Everything that shapes the result, as text.
SettingTexts settings_of(const FitRequest& request) {
  SettingTexts out;
  for (const auto& [name, value] : classify_fit_spec().settings(request)) out[name] = text_of(value);
  return out;
}

/// Says when it is time for a checkpoint.
class CheckpointClock {
 public:
  explicit CheckpointClock(double every) : every_(every), last_(steady_seconds()) {}
  bool due() {
    if (steady_seconds() - last_ < every_) return false;
    last_ = steady_seconds();
    return true;
  }

 private:
  double every_, last_;
};

void remove_quietly(const std::filesystem::path& path) {
  std::error_code ignored;  // what it was for is complete; one that stays is named by the next run
  std::filesystem::remove(path, ignored);
}

/// What a stage has taken, and where it stopped if it did.
struct Stage {
  double seconds = 0.0;
  std::uint64_t updates = 0;
  std::filesystem::path stopped_at = {};  ///< its checkpoint; empty if it is finished
};

class Run {
 public:
  Run(const FitRequest& request, const TrainingData& data, const TrainingData& labelled, std::size_t classes)
      : request_(request),
        data_(data),
        labelled_(labelled),
        classes_(classes),
        activation_(settled_activation(request.activation, request.network.frozen, labelled.train.rows())),
        settings_(settings_of(request)) {
    settings_["content of the data"] = digest_of(data.train);
  }

  const std::vector<Record>& records() const { return records_; }  ///< of fine-tuning
  const Stage& pretraining() const { return pretraining_; }
  const Stage& fine_tuning() const { return fine_tuning_; }
  /// Where it stopped, if it did.
  std::filesystem::path stopped_at() const {
    return !pretraining_.stopped_at.empty() ? pretraining_.stopped_at : fine_tuning_.stopped_at;
  }

  /// The trained network; nothing if stopped.
  std::optional<Network> run(const Context& context) {
    const std::filesystem::path checkpoint = checkpoint_of(request_.out);
    const bool resumed = request_.resume && std::filesystem::exists(checkpoint);
    announce(context);
    std::optional<Network> network = first_network(resumed, context);
    if (!network || !fine_tuned(*network, checkpoint, context)) return std::nullopt;
    return network;
  }

  /// The same network from random weights; nothing if stopped.
  std::optional<Network> run_from_random(const Context& context) {
    Network network = random(network_layers(context));
    if (!fine_tuned(network, checkpoint_of(random_file(request_)), context)) return std::nullopt;
    return network;
  }

 private:
  std::size_t inputs() const { return data_.train.units(); }
  Network random(const Counts& hidden) const {
    return random_network(inputs(), hidden, classes_, activation_, Key{request_.seed});
  }

  /// Units of the hidden layers.
  Counts network_layers(const Context& context) const {
    if (request_.from.empty()) return request_.layers();
    const std::vector<std::size_t> sizes = from_file(context).sizes();
    return {sizes.begin() + 1, sizes.end() - 1};
  }
  Network from_file(const Context& context) const {
    return network_from(*load_model(request_.from).machine, data_.train, classes_, activation_, context);
  }

  /// How much memory all this takes.
  void announce(const Context& context) const {
    std::vector<std::size_t> layers{inputs()};
    for (const std::uint64_t units : network_layers(context)) layers.push_back(units);
    layers.push_back(classes_);
    const auto kept = std::visit([](const auto& optimiser) { return optimiser.kMemory; }, request_.network.optimiser);
    const ClassifierOptions given{request_.training, request_.network};
    const ClassifierOptions options =
        settled(given, activation_, layers.size() - 1, labelled_.train.rows(), data_.train.rows());
    announce_memory({layers, kept, rows_under_way(options), request_.pretrained(), &data_.train}, context);
  }

  /// The network before fine-tuning; nothing if stopped. That of a run that goes on needs no pre-training: its
  /// checkpoint has the parameters.
  std::optional<Network> first_network(bool resumed, const Context& context) {
    const bool nothing_to_pretrain = request_.pretrained() && request_.layers().empty();
    if (resumed || request_.random_start || nothing_to_pretrain) return random(network_layers(context));
    return request_.from.empty() ? pretrained(context) : from_file(context);
  }

  std::optional<Network> pretrained(const Context& context) {
    const Key key{request_.seed};
    TrainingData rows = data_;
    if (request_.model != "class-rbm") rows.train.labels.clear(), rows.held_out.labels.clear();
    const auto machine = machine_to_pretrain(request_.model, request_.layers(), rows, key, context);
    rows = {machine->rows_from(std::move(rows.train)), machine->rows_from(std::move(rows.held_out))};
    const TrainOptions options =
        pretraining_options(*machine, rows.train, request_.pretrain_updates, request_.pretrain_rate);
    Fit fit(*machine, rows, options, key, context);
    const std::filesystem::path checkpoint = pretraining_checkpoint(request_);
    if (request_.resume && std::filesystem::exists(checkpoint)) {
      const auto shape_at = [&](std::uint64_t update) { return fit.shape_at(update); };
      Checkpoint saved = load_checkpoint(checkpoint, machine->parameters(), shape_at, settings_);
      fit.restore(saved.parameters, std::move(saved.state), context);
    }
    const auto save = [&] { save_checkpoint(checkpoint, machine->parameters(), fit.state(), settings_); };
    const double started = steady_seconds();
    CheckpointClock clock(request_.checkpoint_every);
    const bool finished = fit.run(
        [&](const Fit&) {
          if (clock.due() && fit.sound()) save();
        },
        context);
    pretraining_ = {steady_seconds() - started, fit.updates_done(), {}};
    if (!finished) {
      save();
      pretraining_.stopped_at = checkpoint;
      return std::nullopt;
    }
    return network_from(*machine, data_.train, classes_, activation_, context);
  }

  /// Fine-tunes the network, with checkpoints. Whether it is finished.
  bool fine_tuned(Network& network, const std::filesystem::path& checkpoint, const Context& context) {
    ClassifierFit fit(network, labelled_, {request_.training, request_.network}, Key{request_.seed}, &data_.train);
    if (request_.resume && std::filesystem::exists(checkpoint)) {
      const auto shape_at = [&](std::uint64_t update) { return fit.trainer().shape_at(update); };
      Checkpoint saved = load_checkpoint(checkpoint, network.parameters(), shape_at, settings_);
      fit.restore(saved.parameters, std::move(saved.state));
    }
    const auto save = [&] { save_checkpoint(checkpoint, network.parameters(), fit.state(), settings_); };
    if (std::filesystem::exists(pretraining_checkpoint(request_))) {
      save();  // what pre-training has found is in it from now on
      remove_quietly(pretraining_checkpoint(request_));
    }
    const double started = steady_seconds();
    CheckpointClock clock(request_.checkpoint_every);
    const bool finished = fit.run(
        [&] {
          if (clock.due() && fit.trainer().sound()) save();
        },
        context);
    fine_tuning_ = {steady_seconds() - started, fit.trainer().updates_done(), {}};
    records_ = fit.trainer().records();
    if (!finished) {
      save();
      fine_tuning_.stopped_at = checkpoint;
    }
    return finished;
  }

  const FitRequest& request_;
  const TrainingData& data_;      // all rows
  const TrainingData& labelled_;  // those whose labels are learned from
  std::size_t classes_;
  Activation activation_;
  SettingTexts settings_;
  Stage pretraining_, fine_tuning_;
  std::vector<Record> records_;
};

Outcome stopped_outcome(const Run& run, bool json) {
  const std::string checkpoint = run.stopped_at().string();
  return {json ? printed({{"stopped", true}, {"checkpoint", checkpoint}}) : "",
          fmt::format("stopped; the same command with --resume goes on from {}\n", checkpoint), true};
}

/// The error of a network on rows that it did not learn from; nothing if there are none.
std::optional<double> error_on(const Network& network, const Dataset& rows, const Context& context) {
  if (rows.rows() == 0) return std::nullopt;
  return class_scores(class_probabilities(network, rows, Context{context.threads}), rows.labels).error;
}

Outcome finished_outcome(const FitRequest& request, const Run& run, const Dataset& held_out,
                         std::optional<double> error, std::optional<double> random_error, bool json) {
  const std::string name = request.out.string();
  Json out{{"classifier", name},
           {"stopped", false},
           {"updates", run.fine_tuning().updates},
           {"pretraining_seconds", run.pretraining().seconds},
           {"seconds", run.fine_tuning().seconds}};
  std::string text =
      fmt::format("trained: {} updates in {:.1f} s", run.fine_tuning().updates, run.fine_tuning().seconds);
  if (run.pretraining().updates > 0) text += fmt::format(", after {:.1f} s of pre-training", run.pretraining().seconds);
  text += fmt::format("; the classifier is in {}\n", name);
  if (error) {
    out["held_out_error"] = *error;
    text += fmt::format("error on {} held-out rows: {:.2f} %", held_out.rows(), 100.0 * *error);
    if (random_error) {
      out["random_held_out_error"] = *random_error;
      text += fmt::format("; of the same network from random weights ({}) {:.2f} %", random_file(request).string(),
                          100.0 * *random_error);
    }
    text += "\n";
  }
  return {json ? printed(out) : "", text, false};
}

Outcome run(const FitRequest& given, bool json, const Context& context) {
  const FitRequest request = prepared(given);
  check(request);
  const FileLock lock(request.out);
  const Key key{request.seed};
  Dataset all = load_parts(request.data, context).train;
  require_labels(all);
  const std::size_t classes = label_classes(all);
  Notes notes = notes_of_data(all);
  notes["training"] = Json(settings_of(request)).dump();
  const std::vector<std::string> class_names = all.class_names;
  const TrainingData data = training_data(std::move(all), request.held_out, key);
  TrainingData few;  // rows whose labels are learned from, if not all are
  if (request.labels_per_class) few.train = rows_per_class(data.train, *request.labels_per_class, key);

  const TrainingData& labelled = request.labels_per_class ? few : data;
  Run run(request, data, labelled, classes);
  std::optional<double> random_error;
  if (request.compare_random) {
    const std::filesystem::path file = random_file(request);
    const bool done = request.resume && std::filesystem::exists(file) && !std::filesystem::exists(checkpoint_of(file));
    const std::optional<Network> random = done ? load_classifier(file).network : run.run_from_random(context);
    if (!random) return stopped_outcome(run, json);
    save_classifier(file, {*random, class_names, notes});
    remove_quietly(checkpoint_of(file));
    random_error = error_on(*random, data.held_out, context);
  }
  const std::optional<Network> network = run.run(context);
  if (!network) return stopped_outcome(run, json);
  const Classifier classifier{*network, class_names, notes};
  save_classifier(request.out, classifier);
  remove_quietly(checkpoint_of(request.out));
  if (!request.report.empty()) {
    write_classifier_report(request.report,
                            {classifier, data, labelled.train.rows(), run.records(), run.fine_tuning().updates,
                             run.pretraining().seconds, run.fine_tuning().seconds, settings_of(request)},
                            context);
  }
  return finished_outcome(request, run, data.held_out, error_on(*network, data.held_out, context), random_error, json);
}

}  // namespace

Command classify_fit_command() {
  return command_of("classify fit", "train a classifier on labelled rows, pre-trained without labels",
                    "ergodic classify fit --data mnist --hidden 500 --out digits.classifier", classify_fit_spec(), run);
}

}  // namespace ergodic
