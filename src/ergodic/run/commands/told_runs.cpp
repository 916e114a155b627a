#include "ergodic/run/commands/told_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kCheckpointEnding = ".checkpoint", kLikelihood = "log_likelihood";

enum class Sort { kLog, kResult, kModel, kCheckpoint };
constexpr std::string_view kSortNames[] = {"log", "result", "model file", "checkpoint"};

/// runs/a of runs/a.jsonl, runs/a.safetensors and runs/a.safetensors.checkpoint.
std::string run_name(std::filesystem::path file) {
  if (file.extension() == kCheckpointEnding) file.replace_extension();
  return file.replace_extension().string();
}

/// Safetensors begin with the length of their header in eight bytes, and a text has no zero among them.
bool is_safetensors(std::span<const std::byte> bytes) { return bytes.size() > 8 && bytes[7] == std::byte{0}; }

std::optional<double> number_in_member(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// Whether it is what a command has printed; a log of one line is not.
bool is_result(const Json& json) { return json.is_object() && !json.contains("update"); }

void take_result(const Json& json, const std::string& where, ToldRun& run) {
  const auto updates = json.find("updates"), monitors = json.find("monitors");
  if (updates == json.end() || !updates->is_number_unsigned() || monitors == json.end() || !monitors->is_object()) {
    throw DataError(fmt::format("{}: expected what `ergodic train --json` prints, with updates and monitors", where));
  }
  run.updates = updates->get<std::uint64_t>();
  run.seconds = number_in_member(json, "seconds");
  if (const auto stopped = json.find("stopped"); stopped != json.end()) run.stopped = *stopped == Json(true);
  for (const auto& [name, value] : monitors->items()) {
    if (value.is_number()) run.monitors.emplace_back(name, value.get<double>());
  }
  if (const auto rescues = json.find("rescues"); rescues != json.end()) run.rescues = rescues->size();
  const auto told = json.find(kLikelihood);
  if (told == json.end() || !told->is_object()) return;
  if (const auto value = number_in_member(*told, "value")) {
    run.likelihood = {*value, number_in_member(*told, "lower").value_or(*value),
                      number_in_member(*told, "upper").value_or(*value)};
  }
}

SettingTexts options_in(const std::string& text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw DataError(fmt::format("{}: metadata: the options of training cannot be read", where));
  SettingTexts out;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) out[name] = value.get<std::string>();
  }
  return out;
}

Sort take_tensors(const std::filesystem::path& path, ToldRun& run) {
  const std::string where = path.string();
  if (path.extension() == kCheckpointEnding) {
    const TrainingOutline outline = outline_of_checkpoint(path);
    run.options = outline.settings;
    run.updates = outline.update;
    run.stopped = true;
    if (run.records.empty()) {
      for (const Record& record : outline.records) {
        run.records.push_back({record, std::numeric_limits<double>::quiet_NaN()});
      }
    }
    return Sort::kCheckpoint;
  }
  const Tensors tensors = read_sealed(path).tensors;
  run.machine = model_kind(tensors, where);
  const auto note = [&](const char* name) {
    const auto found = tensors.metadata.find(name);
    return found == tensors.metadata.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto training = note("training")) run.options = options_in(*training, where);
  if (const auto updates = note("updates")) run.updates = number_in<std::uint64_t>(*updates);
  return Sort::kModel;
}

void take_log(const std::filesystem::path& path, ToldRun& run, const Context& context) {
  LoggedRun log = read_log(path);
  if (!log.fault.empty()) {
    context.warn(fmt::format("{}; the {} records before it are taken", log.fault, log.records.size()));
  }
  if (log.records.empty()) context.warn(fmt::format("{}: the log is empty", path.string()));
  run.records = std::move(log.records);
  if (log.rescues > 0) run.rescues = log.rescues;
}

Sort take(const std::filesystem::path& path, ToldRun& run, const Context& context) {
  const std::vector<std::byte> bytes = read_file(path);
  if (is_safetensors(bytes)) return take_tensors(path, run);
  const Json json = Json::parse(as_text(bytes), nullptr, false);
  if (is_result(json)) {
    take_result(json, path.string(), run);
    return Sort::kResult;
  }
  take_log(path, run, context);
  return Sort::kLog;
}

/// What the log says, where no other file has said it; and what options say of the kind.
void complete(ToldRun& run) {
  if (const auto model = run.options.find("model"); run.machine.empty() && model != run.options.end()) {
    run.machine = model->second;
  }
  if (run.records.empty()) return;
  const auto& [last, seconds] = run.records.back();
  if (!run.updates) run.updates = last.update;
  // A resumed run prints the seconds since then; its log has them all.
  if (std::isfinite(seconds)) run.seconds = seconds;
  if (run.monitors.empty()) run.monitors = last.values;
  for (const auto& [name, value] : run.monitors) {
    if (name == kLikelihood && !run.likelihood) run.likelihood = {value, value, value};
  }
}

}  // namespace

std::vector<ToldRun> told_runs(std::span<const std::filesystem::path> files, const Context& context) {
  std::vector<ToldRun> out;
  std::set<std::pair<std::string, Sort>> seen;
  for (const std::filesystem::path& path : files) {
    const std::string name = run_name(path);
    auto run = std::ranges::find(out, name, &ToldRun::name);
    if (run == out.end()) {
      run = out.insert(out.end(), ToldRun{});
      run->name = name;
    }
    const Sort sort = take(path, *run, context);
    require(seen.emplace(name, sort).second,
            fmt::format("{}: a second {} of the run {}; files whose names differ in the ending alone are of one run",
                        path.string(), kSortNames[static_cast<std::size_t>(sort)], name));
  }
  for (ToldRun& run : out) complete(run);
  return out;
}

}  // namespace ergodic
