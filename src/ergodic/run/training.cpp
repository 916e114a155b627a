#include "ergodic/run/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "ergodic/format/file.hpp"
#include "ergodic/format/sha256.hpp"
#include "ergodic/report/fanout.hpp"
#include "ergodic/report/log.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/output.hpp"
#include "ergodic/run/trajectory.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kStandardBatch = 100, kNeuralBatch = 250;
constexpr std::uint64_t kStandardEpochs = 20;
constexpr double kStandardRate = 0.05;
constexpr std::size_t kWatchedChains = 16;
constexpr std::uint64_t kMostWatchedSweeps = 400, kFewestWatchedSweeps = 40;
constexpr std::uint64_t kWatchedTerms = 6'000'000'000;  // of all sweeps: large machines are watched for a shorter time
constexpr std::uint64_t kFirstWatchedChain = std::uint64_t{3} << 30;  // beyond those of training
constexpr double kLikelihoodShare = 0.1;                              // of the time of training
constexpr std::uint64_t kMaxRecords = 100;  // of a run, so that long runs on small data are not all monitors

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string digest_of_data(const Dataset& data) {
  Sha256 digest;
  digest.add(data.bytes());
  digest.add(std::as_bytes(std::span(data.weights)));
  digest.add(std::as_bytes(data.known.words()));
  return digest.hex();
}

/// Fills in what the request leaves to the data.
void settle(TrainRequest& request, std::size_t rows) {
  const std::uint64_t batch = request.model == ModelKind::kNeural ? kNeuralBatch : kStandardBatch;
  if (request.batch == 0) request.batch = std::min<std::uint64_t>(batch, rows);
  if (request.chains == 0) request.chains = request.batch;
  if (request.epochs == 0) request.epochs = kStandardEpochs;
  if (request.learning_rate == 0.0) request.learning_rate = kStandardRate;
}

/// What --visible-type asks for, before the data says how many.
DataOptions data_options(const TrainRequest& request) {
  DataOptions out = request.data;
  out.kind = kind_for(make_layer(name_of(request.visible_type), 2, 2));
  return out;
}

std::filesystem::path checkpoint_beside(const std::filesystem::path& out) { return out.string() + ".checkpoint"; }

/// Everything that can be known to go wrong with the files before the work begins.
void check_outputs(const TrainRequest& request, const std::filesystem::path& checkpoint) {
  for (const auto& path : {request.out, checkpoint, request.log, request.report}) require_writable(path);
  std::error_code unreadable;  // what cannot be looked at is as good as absent here
  const auto exists = [&](const std::filesystem::path& path) { return std::filesystem::exists(path, unreadable); };
  require_distinct({{"--data", exists(request.data.source) ? request.data.source : ""},
                    {"--labels", request.data.labels},
                    {"--graph", request.model == ModelKind::kBoltzmann && exists(request.graph) ? request.graph : ""},
                    {"--out", request.out},
                    {"the checkpoint of --out", checkpoint},
                    {"--log", request.log},
                    {"--report", request.report}});
  require(
      request.resume || !exists(checkpoint),
      fmt::format("{} holds an unfinished run; go on with --resume, or remove it to start anew", checkpoint.string()));
  require(!request.resume || exists(checkpoint) || !exists(request.out),
          fmt::format("nothing to resume: {} is finished and there is no checkpoint beside it", request.out.string()));
}

/// Trains, saving every so many seconds, calls after_update() after each update, and measures how fast it went.
TrainResult timed_run(Trainer& trainer, std::size_t rows, double save_every, const std::function<void()>& save,
                      const std::function<void()>& after_update, const Context& context) {
  const double started = seconds_now();
  const std::uint64_t first_update = trainer.updates_done();
  double last_saved = started;
  trainer.run(
      [&] {
        after_update();
        if (seconds_now() - last_saved < save_every) return;
        save();
        last_saved = seconds_now();
      },
      context);
  const auto per_epoch = static_cast<double>(trainer.updates_per_epoch());
  TrainResult result;
  result.updates = trainer.updates_done();
  result.epochs = static_cast<double>(result.updates) / per_epoch;
  result.seconds = seconds_now() - started;
  const double epochs_here = static_cast<double>(result.updates - first_update) / per_epoch;
  result.samples_per_second = epochs_here * static_cast<double>(rows) / std::max(result.seconds, 1e-9);
  if (!trainer.records().empty()) result.last = trainer.records().back();
  return result;
}

std::vector<StageShare> shares_of(const Profile& profile) {
  std::vector<StageShare> out;
  double total = 0.0;
  for (std::size_t s = 0; s < kStageNames.size(); ++s) total += profile.spent(static_cast<Stage>(s)).seconds;
  const double frequency = cycles_per_second();
  for (std::size_t s = 0; s < kStageNames.size(); ++s) {
    const auto [seconds, macs] = profile.spent(static_cast<Stage>(s));
    const double time = std::max(seconds, 1e-12);
    out.push_back({std::string(kStageNames[s]), seconds, seconds / std::max(total, 1e-12), macs / (time * frequency)});
  }
  return out;
}

std::map<std::string, std::string> notes_of(const TrainRequest& request, const Dataset& data, std::uint64_t updates) {
  std::map<std::string, std::string> notes = notes_of_data(data);
  notes["updates"] = std::to_string(updates);
  TrainRequest copy = request;
  nlohmann::json options;
  for (const auto& [name, value] : copy.spec().settings()) options[name] = value;
  notes["training"] = options.dump();
  return notes;
}

void write_report(const TrainRequest& request, const Trainee& trainee, const TrainResult& result,
                  const std::vector<Record>& records, const Context& context) {
  ReportContent content;
  content.title = fmt::format("A {} of {}", trainee.name, request.data.source);
  content.summary = trainee.summary;
  content.summary.insert(content.summary.begin(), {"data", request.data.source});
  content.summary.emplace_back("updates", std::to_string(result.updates));
  content.summary.emplace_back("training time", fmt::format("{:.1f} s", result.seconds));
  content.summary.emplace_back("samples per second", fmt::format("{:.0f}", result.samples_per_second));
  for (const auto& [name, value] : result.last.values) content.summary.emplace_back(name, fmt::format("{:.5g}", value));
  if (result.likelihood) {
    const Estimate& found = result.likelihood->log_likelihood;
    content.summary.emplace_back("log-likelihood", fmt::format("{:.2f} nats a row, between {:.2f} and {:.2f}",
                                                               found.value, found.lower, found.upper));
  }
  content.charts = charts_from(records);
  content.pictures = trainee.pictures(context);
  const std::string page = html_report(content);
  write_file(request.report, std::as_bytes(std::span(page)));
}

/// By annealing for a tenth of the time that training took, unless the monitors have it exactly.
std::optional<FinalLikelihood> likelihood_of(const TrainRequest& request, const TrainingData& data,
                                             const Annealable& machine, const TrainResult& result,
                                             const Context& context) {
  const auto exact = [](const auto& monitor) { return monitor.first == "log_likelihood"; };
  if (request.no_likelihood || std::ranges::any_of(result.last.values, exact)) return std::nullopt;
  return final_likelihood(machine, data.train, data.held_out, kLikelihoodShare * result.seconds, Key{request.seed},
                          context);
}

/// Whether the chains that training ended with mix: they go on for a while, and the machine stays as it is.
std::optional<MixingReport> mixing_of(const Trainee& trainee, const Chains& last, Key key, const Context& context) {
  if (last.count() == 0) return std::nullopt;
  Chains chains;
  for (const State& layer : last.layers) chains.layers.push_back(layer.rows(0, std::min(last.count(), kWatchedChains)));
  chains.first_chain = kFirstWatchedChain;
  const std::uint64_t affordable = kWatchedTerms / (chains.count() * trainee.parameters().values().size());
  const std::uint64_t sweeps = std::clamp(affordable, kFewestWatchedSweeps, kMostWatchedSweeps);
  MixingWatch watch(trainee.watched, chains.count(), sweeps, trainee.bounded);
  const Context unobserved{context.threads};
  while (chains.sweep < sweeps) {
    if (context.stop_requested()) return std::nullopt;
    trainee.sweep(chains, key, unobserved);
    watch.look(chains, unobserved);
  }
  MixingReport report = watch.report();
  if (report.verdict.mixing == Mixing::kNo) {
    context.warn(
        fmt::format("the chains of training have not mixed: {}; more --steps, more --chains or a lower "
                    "--learning-rate may help",
                    report.verdict.reason));
  }
  return report;
}

}  // namespace

std::string text_of(const Layer& layer) { return fmt::format("{} {}", units_of(layer), name_of(layer)); }

Layer visible_layer(const TrainRequest& request, const Dataset& data) {
  const Layer out = make_layer(name_of(request.visible_type), data.units(), data.letters);
  require_kind(out, data);
  return out;
}

TrainOptions options_of(const TrainRequest& request) {
  TrainOptions options;
  options.method = request.method;
  options.steps = request.steps;
  options.chains = request.chains;
  options.batch = request.batch;
  options.epochs = request.epochs;
  options.learning_rate = request.learning_rate;
  options.schedule = request.schedule;
  options.sgd = {request.momentum};
  options.decay = {request.l1, request.l2};
  options.centred = !request.uncentred;
  options.least_noise = request.least_noise;
  options.record_every = std::max<std::uint64_t>(1, request.epochs / kMaxRecords);
  return options;
}

TrainingData prepare(TrainRequest& request) {
  check_outputs(request, checkpoint_beside(request.out));
  const Key key{request.seed};
  TrainingData out;
  out.train = load_data(data_options(request)).train;
  const auto held_out_rows = static_cast<std::size_t>(request.held_out_share * static_cast<double>(out.train.rows()));
  out.held_out = split_off(out.train, held_out_rows, key.at(Purpose::kSplit));
  settle(request, out.train.rows());
  out.settings = request.spec().settings();
  out.settings["content of the data"] = digest_of_data(out.train);
  return out;
}

TrainResult run_training(const TrainRequest& request, const TrainingData& data, Trainee trainee, const Context& outer) {
  const std::filesystem::path checkpoint = checkpoint_beside(request.out);
  Trainer trainer(std::move(trainee.learner), data.train, options_of(request), Key{request.seed});
  const bool resumed = request.resume && std::filesystem::exists(checkpoint);
  if (resumed) {
    Checkpoint saved = load_checkpoint(checkpoint, {trainee.parameters(), trainer.state()}, data.settings);
    trainee.set_parameters(saved.parameters);
    trainer.restore(std::move(saved.state));
  }

  prepare_trajectory(request.trajectory, resumed);
  // Only now is the request known to be sound: the log of an earlier run may be replaced.
  std::vector<Observer*> listeners;
  if (outer.observer) listeners.push_back(outer.observer);
  std::optional<JsonLog> log;
  if (!request.log.empty()) {
    log.emplace(request.log, resumed ? std::optional(trainer.updates_done()) : std::nullopt);
    listeners.push_back(&*log);
  }
  Fanout fanout(listeners);
  Profile profile;
  const Context context{outer.threads, &fanout, request.profile ? &profile : nullptr};

  const auto save = [&] { save_checkpoint(checkpoint, trainee.parameters(), trainer.state(), data.settings); };
  const std::vector<std::uint64_t> kept =
      request.trajectory.empty() ? std::vector<std::uint64_t>() : kept_updates(trainer.updates_total());
  const auto keep = [&] {
    const std::uint64_t update = trainer.updates_done();
    if (!std::ranges::binary_search(kept, update)) return;
    trainee.save(station_file(request.trajectory, update), notes_of(request, data.train, update));
  };
  TrainResult result = timed_run(trainer, data.train.rows(), request.checkpoint_every, save, keep, context);
  if (request.profile) result.profile = shares_of(profile);
  if (trainer.updates_done() < trainer.updates_total()) {
    save();
    result.checkpoint = checkpoint;
    return result;
  }
  trainee.save(request.out, notes_of(request, data.train, result.updates));
  result.model = request.out;
  result.likelihood = likelihood_of(request, data, trainee.annealable, result, context);
  if (!request.report.empty()) write_report(request, trainee, result, trainer.records(), context);
  std::filesystem::remove(checkpoint);
  result.mixing = mixing_of(trainee, trainer.state().learner.chains, Key{request.seed}, context);
  return result;
}

}  // namespace ergodic
