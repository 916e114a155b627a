#include "ergodic/run/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "ergodic/format/file.hpp"
#include "ergodic/format/sha256.hpp"
#include "ergodic/report/fanout.hpp"
#include "ergodic/report/html.hpp"
#include "ergodic/report/log.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/memory.hpp"
#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/store/checkpoint.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kStandardBatch = 100;
constexpr std::uint64_t kMaxRecords = 100;  // of a run, so that long runs on small data are not all monitors

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string digest_of_data(const Dataset& data) {
  Sha256 digest;
  digest.add(std::as_bytes(data.bits.words()));
  digest.add(std::as_bytes(data.grey.elements()));
  digest.add(std::as_bytes(data.real.elements()));
  digest.add(std::as_bytes(std::span(data.weights)));
  digest.add(std::as_bytes(data.known.words()));
  return digest.hex();
}

/// Fills in what the request leaves to the data.
void settle(TrainRequest& request, std::size_t rows) {
  if (request.batch == 0) request.batch = std::min<std::uint64_t>(kStandardBatch, rows);
  if (request.chains == 0) request.chains = request.batch;
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

std::string_view text_of(UnitType type) {
  const auto& all = Names<UnitType>::kAll;
  return std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == type; })->second;
}

Layer hidden_layer(const TrainRequest& request) {
  const std::size_t letters = request.hidden_type == UnitType::kPotts ? request.hidden_letters : 0;
  return make_layer(text_of(request.hidden_type), request.hidden * std::max<std::size_t>(letters, 1), letters);
}

/// What --visible-type asks for, before the data says how many.
DataOptions data_options(const TrainRequest& request) {
  DataOptions out = request.data;
  out.kind = kind_for(make_layer(text_of(request.visible_type), 2, 2));
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

/// Trains, saving every so many seconds, and measures how fast it went.
TrainResult timed_run(Trainer& trainer, std::size_t rows, double save_every, const std::function<void()>& save,
                      const Context& context) {
  const double started = seconds_now();
  const std::uint64_t first_update = trainer.updates_done();
  double last_saved = started;
  trainer.run(
      [&] {
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

std::vector<std::pair<std::string, std::string>> summary_of(const TrainRequest& request, const Rbm& model,
                                                            const TrainResult& result) {
  const auto units = [](const Layer& layer) { return fmt::format("{} {}", units_of(layer), name_of(layer)); };
  return {{"data", request.data.source},
          {"visible units", units(model.visible())},
          {"hidden units", units(model.hidden())},
          {"updates", std::to_string(result.updates)},
          {"training time", fmt::format("{:.1f} s", result.seconds)},
          {"samples per second", fmt::format("{:.0f}", result.samples_per_second)}};
}

constexpr std::size_t kPicturedSamples = 100;
constexpr std::size_t kPicturedPairs = 40;
constexpr std::uint64_t kPictureSweeps = 300;

void write_report(const TrainRequest& request, const Rbm& model, const Dataset& data, const TrainResult& result,
                  const std::vector<Record>& records, const Context& context) {
  const Key key{request.seed};
  Chains chains = far_start(model, kPicturedSamples, key, context);
  for (std::uint64_t s = 0; s < kPictureSweeps; ++s) step(Gibbs{}, model, chains, key, context);
  const State shown = first_rows(model.visible(), data, kPicturedPairs, key);
  ReportContent content;
  content.title = fmt::format("A restricted Boltzmann machine of {}", request.data.source);
  content.summary = summary_of(request, model, result);
  for (const auto& [name, value] : result.last.values) content.summary.emplace_back(name, fmt::format("{:.5g}", value));
  content.charts = charts_from(records);
  content.pictures = {
      {fmt::format("Samples: {} chains after {} sweeps, expected values", kPicturedSamples, kPictureSweeps),
       picture_of_rows(drawable(plain_means(model, chains.layers[Rbm::kHidden], context), model.visible()),
                       data.shape)},
      {"Data, each beside its reconstruction",
       picture_of_pairs(model.visible(), shown, reconstructions(model, shown, key, context), data.shape)},
      {"Filters: the hundred strongest hidden units", picture_of_filters(model, data.shape, 100)}};
  const std::string page = html_report(content);
  write_file(request.report, std::as_bytes(std::span(page)));
}

}  // namespace

Spec TrainRequest::spec() {
  Spec spec;
  add_data_options(spec, data);
  spec.number("held-out", held_out_share, 0.0, 0.9, "share of the training rows kept apart for the monitors");
  spec.group("Model")
      .choice("model", model, "the kind of machine")
      .count("hidden", hidden, 1, 1000000, "hidden units; training takes about 36 bytes for each weight")
      .choice("visible-type", visible_type,
              "visible units: {0,1}, -1/+1, letters, real with normal noise, or real and not negative")
      .choice("hidden-type", hidden_type, "hidden units, the same types")
      .count("hidden-letters", hidden_letters, 2, 1000, "letters of each hidden unit, if --hidden-type is potts");
  add_hopfield_options(spec, hopfield);
  spec.group("Training")
      .choice("method", method,
              "the model's side of the gradient: persistent chains, chains from the data, or exact (small machines)")
      .count("steps", steps, 1, 100000, "Gibbs sweeps for each update")
      .count("chains", chains, 0, 1000000, "persistent chains (0: as many as the batch has rows)")
      .count("batch", batch, 0, 100000000, "rows in a mini-batch (0: 100, or all rows if there are fewer)")
      .count("epochs", epochs, 1, 1000000000, "passes through the data")
      .number("learning-rate", learning_rate, 1e-9, 1000.0, "the rate at the start")
      .choice("schedule", schedule, "how the rate falls: to zero on a line or a cosine, or not at all")
      .number("momentum", momentum, 0.0, 0.9999, "share of the last step that is repeated")
      .number("l1", l1, 0.0, 1000.0, "weight decay towards zero by a constant, as between {0,1} units")
      .number("l2", l2, 0.0, 1000.0, "weight decay in proportion to the weight")
      .flag("uncentred", uncentred, "use the plain gradient instead of the centred one")
      .number("least-noise", least_noise, 0.001, 1.0,
              "bound of the noise that real visible units learn, as a share of the data's standard deviations: less "
              "noise can fit better, but chains mix worse")
      .number("weight-scale", weight_scale, 0.0, 100.0,
              "standard deviation of the first weights, as between {0,1} units")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names all random numbers of the run");
  spec.group("Output")
      .path("out", out, "where the trained machine goes")
      .required()
      .incidental()
      .path("log", log, "a JSON line for each record")
      .incidental()
      .path("report", report, "an HTML page with curves, samples and filters")
      .incidental()
      .number("checkpoint-every", checkpoint_every, 0.0, 1e9, "seconds between two checkpoints (beside --out)")
      .incidental()
      .flag("profile", profile, "say at the end where the time went")
      .incidental()
      .flag("resume", resume, "go on from the checkpoint beside --out; without one, start")
      .incidental();
  return spec;
}

TrainResult train(TrainRequest request, const Context& outer) {
  if (request.model == ModelKind::kHopfield) return train_hopfield(request, outer);
  const std::filesystem::path checkpoint = checkpoint_beside(request.out);
  check_outputs(request, checkpoint);

  const Key key{request.seed};
  Dataset data = load_data(data_options(request)).train;
  require_complete(data);
  const auto held_out_rows = static_cast<std::size_t>(request.held_out_share * static_cast<double>(data.rows()));
  const Dataset held_out = split_off(data, held_out_rows, key.at(Purpose::kSplit));
  settle(request, data.rows());
  Settings settings = request.spec().settings();
  settings["content of the data"] = digest_of_data(data);

  const Layer visible = make_layer(text_of(request.visible_type), data.units(), data.letters);
  require_kind(visible, data);
  announce_memory({visible, hidden_layer(request), request.chains, request.batch, &data}, outer);
  Rbm model(visible, hidden_layer(request));
  std::optional<TrainingState> saved;
  if (request.resume && std::filesystem::exists(checkpoint)) saved = load_checkpoint(checkpoint, model, settings);
  if (!saved) initialise(model, data, request.weight_scale, key, outer);
  Trainer trainer(model, data, held_out, options_of(request), key, outer);
  if (saved) trainer.restore(std::move(*saved));

  // Only now is the request known to be sound: the log of an earlier run may be replaced.
  std::vector<Observer*> listeners;
  if (outer.observer) listeners.push_back(outer.observer);
  std::optional<JsonLog> log;
  if (!request.log.empty()) {
    log.emplace(request.log, saved ? std::optional(trainer.updates_done()) : std::nullopt);
    listeners.push_back(&*log);
  }
  Fanout fanout(listeners);
  Profile profile;
  const Context context{outer.threads, &fanout, request.profile ? &profile : nullptr};

  const auto save = [&] { save_checkpoint(checkpoint, model, trainer.state(), settings); };
  TrainResult result = timed_run(trainer, data.rows(), request.checkpoint_every, save, context);
  if (request.profile) result.profile = shares_of(profile);
  if (trainer.updates_done() < trainer.updates_total()) {
    save();
    result.checkpoint = checkpoint;
    return result;
  }
  save_model(request.out, model, notes_of(request, data, result.updates));
  result.model = request.out;
  if (!request.report.empty()) write_report(request, model, data, result, trainer.records(), context);
  std::filesystem::remove(checkpoint);
  return result;
}

std::string to_json(const TrainResult& result) {
  if (result.memory) return to_json(*result.memory);
  nlohmann::ordered_json out;
  out["model"] = result.model.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(result.model.string());
  out["stopped"] = result.model.empty();
  if (result.model.empty()) out["checkpoint"] = result.checkpoint.string();
  out["updates"] = result.updates;
  out["epochs"] = result.epochs;
  out["seconds"] = result.seconds;
  out["samples_per_second"] = result.samples_per_second;
  nlohmann::ordered_json monitors;
  for (const auto& [name, value] : result.last.values) monitors[name] = value;
  out["monitors"] = std::move(monitors);
  for (const auto& [stage, seconds, share, macs_per_cycle] : result.profile) {
    out["profile"][stage] = {{"seconds", seconds}, {"share", share}, {"macs_per_cycle", macs_per_cycle}};
  }
  return out.dump(2);
}

std::string profile_text(const TrainResult& result) {
  if (result.profile.empty()) return {};
  std::string out = fmt::format("{:<8} {:>9} {:>7} {:>10}\n", "stage", "seconds", "share", "MAC/cycle");
  double seconds = 0.0;
  for (const StageShare& row : result.profile) {
    const std::string macs = row.macs_per_cycle > 0.0 ? fmt::format("{:.1f}", row.macs_per_cycle) : "";
    out += fmt::format("{:<8} {:>9.3f} {:>6.1f}% {:>10}\n", row.stage, row.seconds, 100.0 * row.share, macs);
    seconds += row.seconds;
  }
  return out + fmt::format("{:<8} {:>9.3f}  of all threads together, in {:.3f} s\n", "all", seconds, result.seconds);
}

}  // namespace ergodic
