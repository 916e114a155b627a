// `ergodic compare-runs`: runs of training beside each other, as a table and as learning curves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/report/charts_page.hpp"
#include "ergodic/report/text.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/commands/told_runs.hpp"
#include "ergodic/run/commands/training_report.hpp"
#include "ergodic/trainer/health.hpp"

namespace ergodic {
namespace {

using Runs = std::vector<ToldRun>;

constexpr double kStart = 0.05;  // of the updates of a run

struct CompareRunsRequest {
  std::vector<std::filesystem::path> files;
  std::optional<std::string> monitor;
  std::filesystem::path out;
};

Spec<CompareRunsRequest> make_spec() {
  Spec<CompareRunsRequest> spec;
  spec.group("")
      .add("file", &CompareRunsRequest::files,
           "logs (`train --log`), results (`train --json`), model files and checkpoints; files whose names differ in "
           "the ending alone are of one run")
      .role(PathRole::kInput)
      .positional()
      .required();
  spec.group("Output")
      .add("out", &CompareRunsRequest::out,
           "a picture (.svg) of the learning curves in the logs, by updates and by the time that training took")
      .role(PathRole::kOutput)
      .add("monitor", &CompareRunsRequest::monitor, "what the curves show: a monitor of the logs")
      .automatic("the likelihood or pseudo-likelihood, else the error of classes, else the first that a log has");
  return spec;
}

// ---- The monitor that curves show ----

std::size_t runs_with(const Runs& runs, const std::string& monitor) {
  return static_cast<std::size_t>(std::ranges::count_if(runs, [&](const ToldRun& run) {
    return std::ranges::any_of(run.records,
                               [&](const LoggedRecord& one) { return monitor_in(one.record, monitor).has_value(); });
  }));
}

std::vector<std::string> monitors_of_records(const Runs& runs) {
  std::vector<std::string> out;
  for (const ToldRun& run : runs) {
    for (const LoggedRecord& one : run.records) {
      for (const auto& [name, value] : one.record.values) {
        if (std::ranges::find(out, name) == out.end()) out.push_back(name);
      }
    }
  }
  return out;
}

/// The one that was asked for; else of those that people care for most, the one that most runs have.
std::string chosen_monitor(const Runs& runs, const std::optional<std::string>& asked_for) {
  const std::vector<std::string> all = monitors_of_records(runs);
  require(!all.empty(), "--out: a picture takes records of training, and none of the files has any; give logs too");
  if (asked_for) {
    require(std::ranges::find(all, *asked_for) != all.end(),
            fmt::format("--monitor: expected one of {}, found '{}'", fmt::join(all, ", "), *asked_for));
    return *asked_for;
  }
  std::string best;
  for (const char* name : {"log_likelihood", "pseudo_log_likelihood", "held_out_error", "error"}) {
    const std::size_t count = runs_with(runs, name);
    if (count > (best.empty() ? 0 : runs_with(runs, best))) best = name;
  }
  return best.empty() ? all[0] : best;
}

// ---- The picture ----

struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit time_unit(const Runs& runs) {
  double most = 0.0;
  for (const ToldRun& run : runs) {
    for (const LoggedRecord& one : run.records) {
      if (std::isfinite(one.seconds)) most = std::max(most, one.seconds);
    }
  }
  return most < 180.0        ? TimeUnit{"seconds", 1.0}
         : most < 3.0 * 3600 ? TimeUnit{"minutes", 60.0}
                             : TimeUnit{"hours", 3600.0};
}

/// The range of the values that runs have after their first steps, in which they gain most and differ least.
std::optional<std::pair<double, double>> range_after_start(const Runs& runs, const std::string& monitor) {
  std::vector<double> values;
  for (const ToldRun& run : runs) {
    for (const LoggedRecord& one : run.records) {
      const double value = monitor_in(one.record, monitor).value_or(std::nan(""));
      const bool early =
          kStart * static_cast<double>(run.records.back().record.update) > static_cast<double>(one.record.update);
      if (std::isfinite(value) && !early) values.push_back(value);
    }
  }
  if (values.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(values);
  return std::pair(low, high);
}

std::string picture_of(const Runs& runs, const std::string& monitor) {
  const std::string title = title_of_monitor(monitor);
  const TimeUnit unit = time_unit(runs);
  Chart by_updates, by_time;
  by_updates.title = "by updates";
  by_updates.x_title = "updates";
  by_updates.shown = by_time.shown = range_after_start(runs, monitor);
  by_updates.y_title = by_time.y_title = axis_title_of_monitor(monitor);
  by_time.title = "by time";
  by_time.x_title = fmt::format("time of training ({})", unit.name);
  for (const ToldRun& run : runs) {
    Series updates{run.name, {}}, time{run.name, {}};
    for (const auto& [record, seconds] : run.records) {
      const std::optional<double> value = monitor_in(record, monitor);
      if (!value) continue;
      updates.points.emplace_back(static_cast<double>(record.update), *value);
      if (std::isfinite(seconds)) time.points.emplace_back(seconds / unit.seconds, *value);
    }
    if (updates.points.empty()) continue;
    by_updates.series.push_back(std::move(updates));
    by_time.series.push_back(std::move(time));
  }
  const Chart charts[] = {std::move(by_updates), std::move(by_time)};
  return svg_page(fmt::format("{} of {} runs", title, charts[0].series.size()), charts);
}

void write_picture(const CompareRunsRequest& request, const Runs& runs, const std::string& monitor,
                   const Context& context) {
  for (const ToldRun& run : runs) {
    if (runs_with({run}, monitor) == 0) {
      context.warn(fmt::format("{}: no records of {}, so that it has no curve", run.name, monitor));
    }
  }
  const std::string picture = picture_of(runs, monitor);
  write_file(request.out, std::as_bytes(std::span(picture)));
}

// ---- The table ----

/// The options that have different values in different runs; what only some machines take follows from the machine.
std::vector<std::string> differing_options(const Runs& runs) {
  std::map<std::string, std::set<std::string>> values;
  for (const ToldRun& run : runs) {
    for (const auto& [name, text] : run.options) values[name].insert(text);
  }
  std::vector<std::string> out;
  for (const auto& [name, texts] : values) {
    const bool own_row = name == "model" || name == "updates" || name.find(' ') != std::string::npos;
    if (!own_row && texts.size() > 1) out.push_back(name);
  }
  return out;
}

std::vector<std::string> monitors_at_the_end(const Runs& runs) {
  std::vector<std::string> out;
  for (const ToldRun& run : runs) {
    for (const auto& [name, value] : run.monitors) {
      const bool own_row = name == "log_likelihood";
      if (!own_row && std::ranges::find(out, name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

/// Cells of one quantity, a run each; "-" where it is not known.
using Row = std::pair<std::string, std::vector<std::string>>;

template <class Cell>
Row row_of(const std::string& name, const Runs& runs, const Cell& cell) {
  Row out{name, {}};
  for (const ToldRun& run : runs) {
    const std::string text = cell(run);
    out.second.push_back(text.empty() ? "-" : text);
  }
  return out;
}

std::string monitor_cell(const ToldRun& run, const std::string& name) {
  for (const auto& [monitor, value] : run.monitors) {
    if (monitor == name) return short_number(value);
  }
  return "";
}

std::vector<Row> rows_of(const Runs& runs) {
  std::vector<Row> out;
  out.push_back(row_of("run", runs, [](const ToldRun& run) { return run.name; }));
  out.push_back(row_of("machine", runs, [](const ToldRun& run) { return run.machine; }));
  for (const std::string& name : differing_options(runs)) {
    out.push_back(row_of("--" + name, runs, [&](const ToldRun& run) {
      const auto found = run.options.find(name);
      return found == run.options.end() ? "" : found->second;
    }));
  }
  out.push_back(row_of("updates", runs, [](const ToldRun& run) {
    return run.updates ? fmt::format("{}{}", *run.updates, run.stopped ? " (stopped)" : "") : "";
  }));
  out.push_back(row_of("seconds", runs,
                       [](const ToldRun& run) { return run.seconds ? fmt::format("{:.1f}", *run.seconds) : ""; }));
  if (std::ranges::any_of(runs, [](const ToldRun& run) { return run.rescues.has_value(); })) {
    out.push_back(
        row_of("rescues", runs, [](const ToldRun& run) { return run.rescues ? std::to_string(*run.rescues) : ""; }));
  }
  const auto bracket = [](const ToldRun& run) {
    if (!run.likelihood) return std::string();
    const auto& [value, lower, upper] = *run.likelihood;
    return lower == upper ? fmt::format("{:.4f} (exact)", value)
                          : fmt::format("{:.2f} [{:.2f}, {:.2f}]", value, lower, upper);
  };
  out.push_back(row_of("log-likelihood", runs, bracket));
  for (const std::string& name : monitors_at_the_end(runs)) {
    out.push_back(row_of(name, runs, [&](const ToldRun& run) { return monitor_cell(run, name); }));
  }
  return out;
}

std::string text_of_table(const std::vector<Row>& rows) {
  std::size_t name_width = 0;
  std::vector<std::size_t> widths(rows[0].second.size());
  for (const auto& [name, cells] : rows) {
    name_width = std::max(name_width, columns_of(name));
    for (std::size_t k = 0; k < cells.size(); ++k) widths[k] = std::max(widths[k], columns_of(one_line(cells[k])));
  }
  const auto padding = [](std::size_t width, const std::string& text) {
    return std::string(width - columns_of(text), ' ');
  };
  std::string out;
  for (const auto& [name, cells] : rows) {
    out += name + padding(name_width, name);
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string cell = one_line(cells[k]);
      out += "  " + padding(widths[k], cell) + cell;
    }
    out += "\n";
  }
  return out;
}

Json json_of(const ToldRun& run, const std::vector<std::string>& differing) {
  Json out{{"run", run.name}, {"machine", run.machine.empty() ? Json() : Json(run.machine)}};
  out["differing"] = Json::object();
  for (const std::string& name : differing) {
    const auto found = run.options.find(name);
    out["differing"][name] = found == run.options.end() ? Json() : Json(found->second);
  }
  out["updates"] = run.updates ? Json(*run.updates) : Json();
  out["seconds"] = run.seconds ? Json(*run.seconds) : Json();
  out["stopped"] = run.stopped;
  if (run.rescues) out["rescues"] = *run.rescues;
  if (run.likelihood) {
    const auto& [value, lower, upper] = *run.likelihood;
    out["log_likelihood"] = {{"value", value}, {"lower", lower}, {"upper", upper}};
  }
  out["monitors"] = Json::object();
  for (const auto& [name, value] : run.monitors) out["monitors"][name] = value;
  out["records"] = run.records.size();
  return out;
}

Outcome run(const CompareRunsRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".svg"});
  require(!request.monitor || !request.out.empty(),
          "--monitor is what the picture shows; give --out with it, or leave it out");
  const Runs runs = told_runs(request.files, context);
  Json answer{{"runs", Json::array()}};
  const std::vector<std::string> differing = differing_options(runs);
  for (const ToldRun& one : runs) answer["runs"].push_back(json_of(one, differing));
  std::string message;
  if (!request.out.empty()) {
    const std::string monitor = chosen_monitor(runs, request.monitor);
    write_picture(request, runs, monitor, context);
    answer["monitor"] = monitor;
    answer["picture"] = request.out.string();
    message = fmt::format("{} by updates and by time is in {}\n", monitor, request.out.string());
  }
  return {json ? printed(answer) : text_of_table(rows_of(runs)), message, false};
}

}  // namespace

Command compare_runs_command() {
  return command_of("compare-runs", "compare runs of training by their logs, results and model files",
                    "ergodic compare-runs a.jsonl b.jsonl a.safetensors b.safetensors --out curves.svg", make_spec(),
                    run);
}

}  // namespace ergodic
