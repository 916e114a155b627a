// `ergodic train`: from options to a trained machine in a file, with checkpoints on the way.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/lock.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/machine/snapshots.hpp"
#include "ergodic/report/fanout.hpp"
#include "ergodic/report/log.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/commands/text.hpp"
#include "ergodic/run/commands/train_request.hpp"
#include "ergodic/run/commands/train_result.hpp"
#include "ergodic/run/commands/training_report.hpp"
#include "ergodic/run/fit.hpp"
#include "ergodic/run/pace.hpp"
#include "ergodic/trainer/health.hpp"

namespace ergodic {
namespace {

constexpr double kLikelihoodShare = 0.1;  // of the time of training

std::filesystem::path checkpoint_beside(const std::filesystem::path& out) { return out.string() + ".checkpoint"; }

/// Everything that can be known to go wrong with the files before the work begins.
void check_outputs(const MachineKind& kind, const TrainRequest& request) {
  const std::filesystem::path checkpoint = kind.learns() ? checkpoint_beside(request.out) : "";
  for (const auto& path : {request.out, checkpoint, request.log, request.report}) require_writable(path);
  std::error_code unreadable;  // what cannot be looked at is as good as absent here
  const auto exists = [&](const std::filesystem::path& path) { return std::filesystem::exists(path, unreadable); };
  std::vector<std::pair<std::string, std::filesystem::path>> files{
      {"--data", exists(request.data.source) ? request.data.source : ""},
      {"--labels", request.data.labels},
      {"--weights", request.data.weights},
      {"--out", request.out},
      {"the checkpoint of --out", checkpoint},
      {"--log", request.log},
      {"--report", request.report}};
  for (const Option& option : kind.options()) {
    const auto given = request.machine.find(option.name);
    if (option.role != PathRole::kInput || given == request.machine.end()) continue;
    const std::string text = text_of(given->second);
    if (exists(text)) files.emplace_back(option.written(), text);
  }
  require_distinct(files);
  require_ending("--report", request.report, {".html", ".htm"});
}

/// The number of updates that --time comes to: as the checkpoint has it, or by a trial.
std::uint64_t updates_in(double seconds, const TrainRequest& request, Machine& machine, const TrainingData& data,
                         const Context& context) {
  const std::filesystem::path checkpoint = checkpoint_beside(request.out);
  if (request.resume && std::filesystem::exists(checkpoint)) {
    const SettingTexts saved = outline_of_checkpoint(checkpoint).settings;
    const auto updates = saved.find("updates");
    const auto count = updates == saved.end() ? std::nullopt : whole_number_in(updates->second);
    if (!count)
      throw DataError(fmt::format("{}: expected a number of updates among the settings", checkpoint.string()));
    return *count;
  }
  context.stage({"trying how fast updates are", ""});
  const std::uint64_t out = updates_within(seconds, machine, data, request.training, Key{request.seed}, context);
  context.note(fmt::format("{:.4g} s are about {} updates here", seconds, out));
  return out;
}

/// Whether there is a run to go on with, as asked for, and none that would be lost.
void check_checkpoint(const TrainRequest& request) {
  const std::filesystem::path checkpoint = checkpoint_beside(request.out);
  std::error_code unreadable;  // what cannot be looked at is as good as absent here
  const auto exists = [&](const std::filesystem::path& path) { return std::filesystem::exists(path, unreadable); };
  require(
      request.resume || !exists(checkpoint),
      fmt::format("{} holds an unfinished run; go on with --resume, or remove it to start anew", checkpoint.string()));
  require(!request.resume || exists(checkpoint) || !exists(request.out),
          fmt::format("nothing to resume: {} is finished and there is no checkpoint beside it", request.out.string()));
}

/// What the log says of a rescue that has just been made.
Record record_of_rescue(const Fit& fit) {
  const double epoch = static_cast<double>(fit.updates_done()) / static_cast<double>(fit.updates_per_epoch());
  return {fit.updates_done(),
          epoch,
          {{"rescues", static_cast<double>(fit.rescues().size())},
           {"diverged_after", static_cast<double>(fit.rescues().back().diverged_after)},
           {"learning_rate", fit.learning_rate()}}};
}

/// A run of training with all that the command adds to a Fit: checkpoints, snapshots, the log, the clock.
class Run {
 public:
  Run(TrainRequest request, const MachineKind& kind, Machine& machine, const TrainingData& data, const Context& context)
      : request_(std::move(request)),
        kind_(kind),
        data_(data),
        fit_(machine, data, request_.training, Key{request_.seed}, context),
        checkpoint_(checkpoint_beside(request_.out)) {
    request_.training = fit_.options();
    settings_ = settings_of(kind, request_);
    settings_["content of the data"] = digest_of(data.train);
    resumed_ = request_.resume && std::filesystem::exists(checkpoint_);
    if (resumed_) {
      const auto shape_at = [&](std::uint64_t update) { return fit_.shape_at(update); };
      Checkpoint saved = load_checkpoint(checkpoint_, machine.parameters(), shape_at, settings_);
      fit_.restore(saved.parameters, std::move(saved.state), context);
    }
  }

  TrainResult run(const Context& outer) {
    prepare_snapshots(request_.trajectory, resumed_);
    // Only now is the request known to be sound: the log of an earlier run may be replaced.
    std::vector<Observer*> listeners;
    if (outer.observer) listeners.push_back(outer.observer);
    std::optional<JsonLog> log;
    if (!request_.log.empty()) {
      const LogPlace here{fit_.rescues().size(), fit_.updates_done()};
      log.emplace(request_.log, resumed_ ? std::optional(here) : std::nullopt);
      listeners.push_back(&*log);
    }
    Fanout fanout(listeners);
    Profile profile;
    const Context context{outer.threads, &fanout, request_.profile ? &profile : nullptr};
    TrainResult result = timed_run(log ? &*log : nullptr, context);
    if (request_.profile) result.profile = shares_of(profile);
    if (!fit_.finished()) {
      save();
      result.checkpoint = checkpoint_;
      return result;
    }
    save_model(request_.out, fit_.machine(), notes());
    result.model = request_.out;
    try {
      finish(result, context);
    } catch (...) {
      context.warn(
          fmt::format("the machine is trained and complete in {}; what failed came after it", request_.out.string()));
      throw;
    }
    return result;
  }

 private:
  /// What is told of a machine that is trained and saved.
  void finish(TrainResult& result, const Context& context) {
    result.kept = fit_.kept();
    result.likelihood = likelihood(result, context);
    if (!without_likelihood()) {
      result.independent = independent_likelihood(fit_.machine(), data_.train, data_.held_out, Key{request_.seed});
    }
    result.improvement = improvement_in(fit_.records());
    result.mixing = fit_.mixing(context);
    if (!request_.report.empty()) write_report(result, context);
    std::error_code failure;
    std::filesystem::remove(checkpoint_, failure);
    if (failure) {
      throw IoError(fmt::format("cannot remove {}: {}; it is of no more use, remove it before the next run",
                                checkpoint_.string(), failure.message()));
    }
  }

  /// Trains, saving every so many seconds, and measures how fast it went.
  TrainResult timed_run(JsonLog* log, const Context& context) {
    const std::vector<std::uint64_t> kept =
        request_.trajectory.empty() ? std::vector<std::uint64_t>() : snapshot_updates(fit_.updates_total());
    const double started = steady_seconds();
    const std::uint64_t first_update = fit_.updates_done();
    double last_saved = started;
    std::size_t rescues = fit_.rescues().size();
    fit_.run(
        [&](const Fit& fit) {
          if (log && fit.rescues().size() > rescues) log->record(record_of_rescue(fit));
          rescues = fit.rescues().size();
          if (std::ranges::binary_search(kept, fit.updates_done())) {
            save_model(snapshot_file(request_.trajectory, fit.updates_done()), fit.machine(), notes());
          }
          if (steady_seconds() - last_saved < request_.checkpoint_every || !fit.sound()) return;
          save();
          last_saved = steady_seconds();
        },
        context);
    const auto per_epoch = static_cast<double>(fit_.updates_per_epoch());
    TrainResult result;
    result.updates = fit_.updates_done();
    result.updates_asked_for = fit_.updates_total();
    result.epochs = static_cast<double>(result.updates) / per_epoch;
    result.seconds = steady_seconds() - started;
    const double epochs_here = static_cast<double>(result.updates - first_update) / per_epoch;
    result.samples_per_second = epochs_here * static_cast<double>(data_.train.rows()) / std::max(result.seconds, 1e-9);
    if (!fit_.records().empty()) result.last = fit_.records().back();
    if (request_.training.rescue) result.rescues = fit_.rescues();
    result.average = fit_.average();
    result.learning_rate = fit_.learning_rate();
    return result;
  }

  void save() const { save_checkpoint(checkpoint_, fit_.machine().parameters(), fit_.state(), settings_); }

  Notes notes() const {
    Notes out = notes_of_data(data_.train);
    out["updates"] = std::to_string(fit_.updates_done());
    out["training"] = nlohmann::json(settings_of(kind_, request_)).dump();
    return out;
  }

  /// Whether there is none worth the time: a machine that has learned p(y | x) alone knows nothing of p(x).
  bool without_likelihood() const {
    return request_.no_likelihood || request_.training.objective == Objective::kDiscriminative;
  }

  /// By annealing for a tenth of the time that training took, unless the monitors have it exactly.
  std::optional<FinalLikelihood> likelihood(const TrainResult& result, const Context& context) const {
    const auto exact = [](const auto& monitor) { return monitor.first == "log_likelihood"; };
    if (without_likelihood() || std::ranges::any_of(result.last.values, exact)) return std::nullopt;
    return final_likelihood(fit_.machine(), data_.train, data_.held_out, kLikelihoodShare * result.seconds,
                            Key{request_.seed}, context);
  }

  void write_report(const TrainResult& result, const Context& context) const {
    const Machine& machine = fit_.machine();
    const ReportContent content = training_report(
        {std::string(kind_.title), request_.data.source, units_text(machine.visible()),
         machine.parameters().values().size(), result.updates, result.seconds, result.samples_per_second,
         fit_.records(), result.likelihood, result.independent, result.mixing, settings_of(kind_, request_),
         machine.pictures(data_.train, Key{request_.seed}, context)});
    const std::string page = html_report(content);
    write_file(request_.report, std::as_bytes(std::span(page)));
  }

  TrainRequest request_;
  const MachineKind& kind_;
  const TrainingData& data_;
  Fit fit_;
  std::filesystem::path checkpoint_;
  SettingTexts settings_;
  bool resumed_ = false;
};

/// A machine that is complete when it is made.
Outcome keep(const TrainRequest& request, const Machine* machine, const Dataset& data, bool json) {
  const bool stopped = machine == nullptr;
  Json out{{"model", stopped ? Json() : Json(request.out.string())}, {"stopped", stopped}};
  if (stopped) return {json ? printed(out) : "", "stopped; nothing written\n", true};
  save_model(request.out, *machine, notes_of_data(data));
  add_facts(out, machine->making_facts());
  return {json ? printed(out) : "",
          machine->making_text() + fmt::format("the network is in {}\n", request.out.string()), false};
}

Outcome run(TrainRequest request, bool json, const Context& context) {
  const MachineKind& kind = kind_named(request.model);
  const Key key{request.seed};
  check_outputs(kind, request);
  const FileLock lock(request.out);
  const std::optional<double> seconds = seconds_of(request);
  if (kind.learns()) check_checkpoint(request);
  DataOptions options = request.data;
  options.kind = kind.values(request.machine);
  TrainingData data = training_data(load_parts(options, context).train, kind.learns() ? request.held_out : 0.0, key);
  const std::unique_ptr<Machine> machine = kind.make(request.machine, data.train, key, context);
  if (!kind.learns()) return keep(request, machine.get(), data.train, json);
  data = {machine->rows_from(std::move(data.train)), machine->rows_from(std::move(data.held_out))};
  if (seconds) request.training.updates = updates_in(*seconds, request, *machine, data, context);
  const TrainResult result = Run(request, kind, *machine, data, context).run(context);
  return {json ? json_text_of(result) : "", text_of(result), result.model.empty(),
          result.mixing ? details_of(*result.mixing) : ""};
}

}  // namespace

Command train_command() {
  return {"train", "train a machine on data", "ergodic train --data mnist --out digits.safetensors",
          [](std::string_view kind) {
            return kind.empty() ? train_options_of_all_kinds() : train_spec(kind_named(kind)).options();
          },
          [](const Settings& settings, bool json, const Context& context) {
            const auto model = settings.find("model");
            const std::string name =
                model == settings.end() ? std::string(machine_kinds()[0]->name) : text_of(model->second);
            return run(train_request(kind_named(name), settings), json, context);
          }};
}

}  // namespace ergodic
