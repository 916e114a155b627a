#include "ergodic/run/commands/training_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

/// What a monitor is, in words.
struct MonitorText {
  std::string_view name, title, caption;
  bool share = false;  ///< lies in [0, 1]
};
constexpr std::string_view kExactLikelihood = "log_likelihood";
constexpr MonitorText kMonitors[] = {
    {"free_energy_gap", "Free-energy gap",
     "Mean free energy of held-out rows minus that of training rows, in nats; grows when the machine over-fits."},
    {"energy_gap", "Energy gap",
     "Mean energy of held-out rows minus that of training rows, in nats; grows when the machine over-fits."},
    {"energy_difference", "Energy difference",
     "Mean energy of training rows minus that of the machine's own chains, in nats; near zero once both look alike."},
    {"reconstruction_error", "Reconstruction error",
     "Expected difference between a training row and its reconstruction by the hidden layer; falls, but says nothing "
     "about over-fitting."},
    {"pseudo_log_likelihood", "Pseudo-log-likelihood",
     "Mean over rows of the sum over units of log p(unit | all others), in nats; higher is better."},
    {kExactLikelihood, "Log-likelihood", "Mean of log p(row), exact, in nats; higher is better."},
    {"weight_norm", "Size of the weights", "Root mean square of the weights; beyond about 10 training has diverged."},
    {"dead", "Dead hidden units", "Share of the hidden units that are on in less than 1 % of the training rows.", true},
    {"saturated", "Saturated hidden units",
     "Share of the hidden units that are on in more than 99 % of the training rows.", true},
    {"error", "Error", "Share of the training rows whose class is found wrong.", true},
    {"log_loss", "Log loss", "Mean of -log p(label | row) over training rows, in nats; lower is better."},
    {"held_out_error", "Error on held-out rows", "Share of the held-out rows whose class is found wrong.", true},
    {"held_out_log_loss", "Log loss on held-out rows",
     "Mean of -log p(label | row) over held-out rows, in nats; grows when the machine over-fits."},
};

/// The name of a monitor of one layer, such as layer2_dead, without the layer; and the layer, empty if it is of all.
std::pair<std::string_view, std::string_view> without_layer(std::string_view name) {
  constexpr std::string_view kLayer = "layer";
  const std::size_t end = name.find('_');
  if (!name.starts_with(kLayer) || end == std::string_view::npos) return {name, {}};
  return {name.substr(end + 1), name.substr(kLayer.size(), end - kLayer.size())};
}

const MonitorText* find_monitor(std::string_view name) {
  const auto found = std::ranges::find(kMonitors, without_layer(name).first, &MonitorText::name);
  return found == std::end(kMonitors) ? nullptr : found;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

bool is_zero(const Series& series) {
  return std::ranges::all_of(series.points, [](const auto& point) { return point.second == 0.0; });
}

/// One for each monitor, in words; not for those that were zero all along.
std::vector<Chart> charts_of(std::span<const Record> records) {
  std::vector<Chart> out = charts_from(records);
  std::erase_if(out, [](const Chart& chart) { return is_zero(chart.series[0]); });
  for (Chart& chart : out) {
    const MonitorText* text = find_monitor(chart.title);
    if (!text) continue;
    chart.title = chart.series[0].name = title_of_monitor(chart.title);
    chart.caption = text->caption;
    if (text->share) chart.limits = {0.0, 1.0};
  }
  return out;
}

std::string likelihood_text(const FinalLikelihood& found) {
  const Estimate& l = found.log_likelihood;
  return fmt::format("{}{:.2f} nats a row, between {:.2f} and {:.2f} ({} {} rows; standard error over rows {:.2f})",
                     found.bound_draws > 0 ? "at least " : "", l.value, l.lower, l.upper, found.rows,
                     found.held_out ? "held-out" : "training", found.row_error);
}

std::string verdict_text(const MixingReport& report) {
  switch (report.verdict.mixing) {
    case Mixing::kYes:
      return "the chains of training have mixed";
    case Mixing::kNo:
      return fmt::format("the chains of training have not mixed ({}), so that the gradient was biased",
                         worst_of(report));
    case Mixing::kUnknown:
      break;
  }
  return "not known: " + report.verdict.reason;
}

ReportTable mixing_table(const MixingReport& report) {
  ReportTable out{"Mixing of the chains",
                  {"quantity", "mean", "standard error", "R-hat", "bulk ESS", "tail ESS", "autocorrelation time"},
                  {}};
  const auto cell = [](double value) { return std::isfinite(value) ? short_number(value) : std::string("-"); };
  for (const auto& [name, d, verdict] : report.quantities) {
    out.rows.push_back({name, cell(d.mean), cell(d.standard_error), cell(d.r_hat), cell(d.ess_bulk), cell(d.ess_tail),
                        std::isfinite(d.autocorrelation_time) ? cell(d.autocorrelation_time) + " sweeps" : "-"});
  }
  return out;
}

}  // namespace

std::string title_of_monitor(const std::string& name) {
  const MonitorText* text = find_monitor(name);
  if (!text) return name;
  const std::string_view layer = without_layer(name).second;
  return layer.empty() ? std::string(text->title) : fmt::format("{} of layer {}", text->title, layer);
}

std::string axis_title_of_monitor(const std::string& name) {
  const MonitorText* text = find_monitor(name);
  const bool in_nats = text && text->caption.find(" in nats") != std::string_view::npos;
  return title_of_monitor(name) + (in_nats ? " (nats)" : text && text->share ? " (share)" : "");
}

std::string title_of_data(const std::string& data) {
  constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
      {"mnist", "MNIST"}, {"fashion-mnist", "Fashion-MNIST"}, {"pf00071", "PF00071"}, {"dna", "DNA"}};
  for (const auto& [name, title] : kKnown) {
    if (data == name) return std::string(title);
  }
  return std::filesystem::path(data).filename().string();
}

ReportContent training_report(TrainingStory story) {
  ReportContent out;
  out.title = fmt::format("{} trained on {}", capitalised(story.machine), title_of_data(story.data));
  if (story.likelihood) out.summary.emplace_back("Log-likelihood", likelihood_text(*story.likelihood));
  std::vector<std::pair<std::string, double>> monitors;
  if (!story.records.empty()) monitors = story.records.back().values;
  for (const auto& [name, value] : monitors) {
    if (name == kExactLikelihood)
      out.summary.emplace_back("Log-likelihood", fmt::format("{:.4f} nats a row (exact)", value));
  }
  if (story.independent) {
    out.summary.emplace_back("Independent units would have", fmt::format("{:.2f} nats a row", *story.independent));
  }
  if (story.mixing) out.summary.emplace_back("Mixing", verdict_text(*story.mixing));
  for (const auto& [name, value] : monitors) {
    if (value != 0.0 && name != kExactLikelihood) out.summary.emplace_back(title_of_monitor(name), short_number(value));
  }
  const std::pair<const char*, std::string> facts[] = {
      {"Data", story.data},
      {"Visible units", story.visible},
      {"Parameters", std::to_string(story.parameters)},
      {"Updates", std::to_string(story.updates)},
      {"Training time", fmt::format("{:.1f} s, {:.0f} samples a second", story.seconds, story.samples_per_second)}};
  out.summary.insert(out.summary.end(), std::begin(facts), std::end(facts));
  ReportTable options{"Options of training", {}, {}};
  for (const auto& [name, text] : story.settings) options.rows.push_back({"--" + name, text});
  out.tables.push_back(std::move(options));
  if (story.mixing && !story.mixing->quantities.empty()) out.tables.push_back(mixing_table(*story.mixing));
  out.charts = charts_of(story.records);
  out.pictures = std::move(story.pictures);
  return out;
}

}  // namespace ergodic
