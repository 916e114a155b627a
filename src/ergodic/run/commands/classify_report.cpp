#include "ergodic/run/commands/classify_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "ergodic/format/file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/run/classify.hpp"
#include "ergodic/run/commands/classify_pictures.hpp"
#include "ergodic/run/commands/training_report.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kFilters = 100, kPicturedMistakes = 100, kListedMistakes = 20;

/// A monitor of training rows and the same of held-out rows, over the epochs. What a network guesses before its first
/// update is left out: beside it the rest would be flat.
Chart chart_of(std::span<const Record> records, const std::string& monitor, double scale) {
  Chart out;
  for (const auto& [prefix, title] : {std::pair("", "training rows"), std::pair("held_out_", "held-out rows")}) {
    Series series{title, {}};
    for (const Record& record : records) {
      if (record.update == 0) continue;
      for (const auto& [name, value] : record.values) {
        if (name == prefix + monitor) series.points.emplace_back(record.epoch, scale * value);
      }
    }
    if (!series.points.empty()) out.series.push_back(std::move(series));
  }
  return out;
}

std::vector<Chart> charts_of(std::span<const Record> records) {
  Chart error = chart_of(records, "error", 100.0), loss = chart_of(records, "log_loss", 1.0);
  error.title = "Error";
  error.caption = "Share of the rows whose most probable class is not theirs, in percent.";
  error.limits = {0.0, 100.0};
  loss.title = "Log loss";
  loss.caption =
      "Mean of -log p(class | row), in nats; where that of held-out rows grows while the other falls, the network "
      "over-fits.";
  std::vector<Chart> out;
  for (Chart* chart : {&error, &loss}) {
    if (!chart->series.empty()) out.push_back(std::move(*chart));
  }
  return out;
}

/// The rows by which a classifier is judged, and what it says of them.
struct Judged {
  const Dataset& rows;
  std::string_view which;
  Matrix<float> probabilities;
  ClassifierReport report;
};

Judged judged(const ClassifierStory& story, const Context& context) {
  const bool held_out = story.data.held_out.rows() > 0;
  const Dataset& rows = held_out ? story.data.held_out : story.data.train;
  Matrix<float> found = class_probabilities(story.classifier.network, rows, context);
  ClassifierReport report = judge(found, rows.labels);
  return {rows, held_out ? "held-out" : "training", std::move(found), std::move(report)};
}

/// A class by its name, or its number.
std::string name_of(const Classifier& classifier, std::size_t label) {
  return label < classifier.class_names.size() ? classifier.class_names[label] : std::to_string(label);
}

using Summary = std::vector<std::pair<std::string, std::string>>;

Summary summary_of(const ClassifierStory& story, const Judged& found) {
  const Network& network = story.classifier.network;
  const ClassifierReport& report = found.report;
  Summary out{
      {"Error", fmt::format("{:.2f} % of {} {} rows, 95 % interval {:.2f} to {:.2f}", 100.0 * report.scores.error,
                            report.rows, found.which, 100.0 * report.error_lower, 100.0 * report.error_upper)},
      {"Log loss", fmt::format("{:.4f} nats a row", report.scores.log_loss)},
      {"Calibration", fmt::format("confidence is off by {:.2f} % on average", 100.0 * report.calibration)},
      {"Data", story.data.train.name},
      {"Rows",
       fmt::format(
           "{} to learn from{}, {} held out", story.data.train.rows(),
           story.labelled < story.data.train.rows() ? fmt::format(", the labels of {} of them", story.labelled) : "",
           story.data.held_out.rows())},
      {"Network", fmt::format("{} units", fmt::join(network.sizes(), ", "))},
      {"Parameters", std::to_string(network.parameters().values().size())},
      {"Updates", std::to_string(story.updates)}};
  out.emplace_back("Training time",
                   fmt::format("{:.1f} s{}", story.seconds,
                               story.pretraining_seconds > 0.0
                                   ? fmt::format(", after {:.1f} s of pre-training", story.pretraining_seconds)
                                   : ""));
  return out;
}

/// What each of the worst rows is, and is taken for.
ReportTable table_of_mistakes(const Classifier& classifier, const Judged& found, std::span<const std::uint32_t> rows) {
  ReportTable out{fmt::format("Surest mistakes among {} rows", found.which),
                  {"row", "class", "taken for", "p(class)", "p(taken for)"},
                  {}};
  for (const std::uint32_t row : rows.first(std::min(rows.size(), kListedMistakes))) {
    const std::span<const float> p = found.probabilities.row(row);
    const auto label = static_cast<std::size_t>(found.rows.labels[row]);
    const auto taken = static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
    out.rows.push_back({std::to_string(row + 1), name_of(classifier, label), name_of(classifier, taken),
                        fmt::format("{:.4f}", p[label]), fmt::format("{:.4f}", p[taken])});
  }
  return out;
}

}  // namespace

ReportContent classifier_report(const ClassifierStory& story, const Context& context) {
  const Judged found = judged(story, context);
  const std::vector<std::uint32_t> mistakes = worst_rows(found.probabilities, found.rows.labels, kPicturedMistakes);
  ReportContent out;
  out.title = "Classifier trained on " + title_of_data(story.data.train.name);
  out.summary = summary_of(story, found);
  ReportTable options{"Options", {}, {}};
  for (const auto& [name, text] : story.settings) options.rows.push_back({"--" + name, text});
  if (!options.rows.empty()) out.tables.push_back(std::move(options));
  if (!mistakes.empty()) out.tables.push_back(table_of_mistakes(story.classifier, found, mistakes));
  out.charts = charts_of(story.records);
  out.pictures.push_back(
      {fmt::format("Confusion of {} {} rows: the true class at the left, the one that was found above",
                   found.report.rows, found.which),
       picture_of_confusion(found.report.confusion,
                            [&](std::size_t label) { return name_of(story.classifier, label); })});
  if (!mistakes.empty()) {
    out.pictures.push_back({fmt::format("The {} surest mistakes, in the order of the table", mistakes.size()),
                            picture_of_inputs(found.rows, mistakes)});
  }
  const MatrixView<const float> weights = story.classifier.network.weights(0);
  out.pictures.push_back({fmt::format("Filters: the weights of {} units of the first layer, the largest first",
                                      std::min(weights.cols(), kFilters)),
                          picture_of_filters(weights, story.data.train.shape, kFilters)});
  return out;
}

void write_classifier_report(const std::filesystem::path& path, const ClassifierStory& story, const Context& context) {
  const std::string page = html_report(classifier_report(story, context));
  write_file(path, std::as_bytes(std::span(page)));
}

}  // namespace ergodic
