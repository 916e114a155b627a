// `ergodic classify predict` and `ergodic classify evaluate`: what a classifier, or a machine with labels, says of
// rows, and how often it is right.
#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/classifier.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/run/classify.hpp"
#include "ergodic/run/commands/classify_pictures.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMistakes = 100;

struct RowsRequest {
  std::filesystem::path model;
  std::optional<Binarise> binarise;
  DataOptions data;
  Split split = Split::kAuto;
  std::uint64_t sweeps = 500;
  std::uint64_t seed = 1;
};

struct PredictRequest : RowsRequest {
  std::filesystem::path out;
};

struct EvaluateRequest : RowsRequest {
  std::filesystem::path confusion, mistakes;
};

template <class Request>
Spec<Request> rows_spec() {
  Spec<Request> spec;
  add_model_file(spec, &Request::model,
                 "a classifier that `ergodic classify fit` wrote, or a machine with labels that `ergodic train` did");
  Spec<Request> data;
  data.include(data_spec(), &Request::data);
  spec.group("Data");
  for (const auto& bound : data.bound()) {
    if (bound.option.name != "binarise") {
      spec.add(bound);
      continue;
    }
    spec.add("binarise", &Request::binarise,
             "how grey levels become bits; dynamic ones are taken as the numbers they are")
        .choices(bound.option.choices)
        .automatic("as it was trained");
  }
  add_split(spec, &Request::split);
  spec.group("Rows with missing values (--missing)")
      .add("sweeps", &Request::sweeps,
           "sweeps of a chain at each row by which a machine with labels draws what is missing; the second half is "
           "averaged")
      .range(1, 1e9)
      .advanced();
  add_seed(spec, &Request::seed);
  return spec;
}

/// How the rows were binarised that it was trained on; as they are, if the file does not say.
Binarise trained_on(const RowClassifier& classifier) {
  const auto notes = classifier.notes.find("training");
  const Json training = notes == classifier.notes.end() ? Json() : Json::parse(notes->second, nullptr, false);
  for (const auto& named : Names<Binarise>::kAll) {
    if (training.is_object() && training.value("binarise", Json()) == named.name) return named.value;
  }
  return Binarise::kDynamic;
}

Dataset rows_for(const RowClassifier& classifier, const RowsRequest& request, const Context& context) {
  DataOptions options = request.data;
  options.binarise = request.binarise.value_or(trained_on(classifier));
  options.table.units = classifier.unit_names;
  options.table.classes = classifier.class_names;
  Dataset out = load_split(options, request.split, context);
  if (out.units() != classifier.inputs) {
    throw DataError(fmt::format("{}: expected rows of {} values, as the classifier has inputs; found {}", out.name,
                                classifier.inputs, out.units()));
  }
  return out;
}

Outcome predict(const PredictRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".npy", ".csv"});
  require_distinct({{"--data", request.data.source}, {"--labels", request.data.labels}, {"--out", request.out}});
  const RowClassifier classifier = load_row_classifier(request.model);
  const Dataset data = rows_for(classifier, request, context);
  const Matrix<float> found = class_probabilities(classifier, data, request.sweeps, Key{request.seed}, context);
  Matrix<float> table(found.rows(), found.cols() + 1);
  std::vector<std::string> names{"class"};
  for (std::size_t c = 0; c < found.cols(); ++c) names.push_back(fmt::format("p({})", classifier.name_of(c)));
  for (std::size_t r = 0; r < found.rows(); ++r) {
    const std::span<const float> row = found.row(r);
    table(r, 0) = static_cast<float>(std::ranges::max_element(row) - row.begin());
    std::ranges::copy(row, table.row(r).begin() + 1);
  }
  write_table(request.out, names, table);
  return {json ? printed({{"out", request.out.string()}, {"rows", found.rows()}, {"classes", found.cols()}}) : "",
          fmt::format("the classes of {} rows and their probabilities are in {}\n", found.rows(), request.out.string()),
          false};
}

Json json_of(const ClassifierReport& report) {
  Json confusion = Json::array();
  for (std::size_t i = 0; i < report.confusion.rows(); ++i) confusion.push_back(report.confusion.row(i));
  return {{"rows", report.rows},
          {"error", report.scores.error},
          {"error_interval", {report.error_lower, report.error_upper}},
          {"log_loss", report.scores.log_loss},
          {"calibration", report.calibration},
          {"confusion", std::move(confusion)}};
}

void require_known_labels(const Dataset& data, const RowClassifier& classifier) {
  if (data.labels.size() != data.rows()) {
    throw DataError(
        fmt::format("{}: expected a label for each row, found none; give them with --labels or "
                    "--label-column",
                    data.name));
  }
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const int label = data.labels[r];
    if (label >= 0 && static_cast<std::size_t>(label) < classifier.classes) continue;
    throw DataError(fmt::format(
        "{}: row {}: expected a label from 0 to {}, found {}{}", data.name, r + 1, classifier.classes - 1, label,
        label < 0 ? "; leave rows without a label out" : ": a class that the classifier does not know"));
  }
}

Outcome evaluate_rows(const EvaluateRequest& request, bool json, const Context& context) {
  require_ending("--confusion", request.confusion, {".png"});
  require_ending("--mistakes", request.mistakes, {".png"});
  require_distinct({{"--data", request.data.source},
                    {"--labels", request.data.labels},
                    {"--confusion", request.confusion},
                    {"--mistakes", request.mistakes}});
  const RowClassifier classifier = load_row_classifier(request.model);
  const Dataset data = rows_for(classifier, request, context);
  require_known_labels(data, classifier);
  const Matrix<float> found = class_probabilities(classifier, data, request.sweeps, Key{request.seed}, context);
  const ClassifierReport report = judge(found, data.labels);
  if (!request.confusion.empty()) {
    const auto name_of = [&](std::size_t label) { return classifier.name_of(label); };
    write_png(request.confusion, picture_of_confusion(report.confusion, name_of));
  }
  std::string message;
  if (!request.mistakes.empty()) {
    const std::vector<std::uint32_t> rows = worst_rows(found, data.labels, kMistakes);
    if (rows.empty()) message = fmt::format("no row is wrong: {} is not written\n", request.mistakes.string());
    if (!rows.empty()) write_png(request.mistakes, picture_of_inputs(data, rows));
  }
  const std::string text = fmt::format(
      "error        {:.2f} %, 95 % interval {:.2f} to {:.2f} ({} rows)\nlog loss     {:.4f} nats\ncalibration  off by "
      "{:.2f} % on average\n",
      100.0 * report.scores.error, 100.0 * report.error_lower, 100.0 * report.error_upper, report.rows,
      report.scores.log_loss, 100.0 * report.calibration);
  return {json ? printed(json_of(report)) : text, message, false};
}

}  // namespace

Command classify_predict_command() {
  auto spec = rows_spec<PredictRequest>();
  spec.group("Output")
      .add("out", &PredictRequest::out,
           "the most probable class of each row and the probabilities of all: an array (.npy) or a table (.csv)")
      .role(PathRole::kOutput)
      .required();
  return command_of("classify predict", "write the class of each row, and its probabilities",
                    "ergodic classify predict digits.classifier --data mnist --out classes.csv", spec, predict);
}

Command classify_evaluate_command() {
  auto spec = rows_spec<EvaluateRequest>();
  spec.group("Output")
      .add("confusion", &EvaluateRequest::confusion, "a picture of which classes are taken for which (.png)")
      .role(PathRole::kOutput)
      .add("mistakes", &EvaluateRequest::mistakes, "a sheet of the rows that are surely wrong (.png)")
      .role(PathRole::kOutput);
  return command_of("classify evaluate", "say how often a classifier is right",
                    "ergodic classify evaluate digits.classifier --data mnist --split test", spec, evaluate_rows);
}

}  // namespace ergodic
