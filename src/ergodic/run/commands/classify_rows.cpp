// `ergodic classify predict` and `ergodic classify evaluate`: what a classifier, or a machine with labels, says of
// rows, and how often it is right.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ergodic/core/error.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/classifier.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/report/canvas.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/run/classify.hpp"
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
  data.include(complete_data_spec(), &Request::data);
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
  const RowClassifier classifier = load_row_classifier(request.model);
  const Dataset data = rows_for(classifier, request, context);
  const Matrix<float> found = classifier.probabilities(data, context);
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

/// How often each class was taken for each other: darker for more, on the scale of its row.
Image confusion_picture(const RowClassifier& classifier, const Matrix<std::uint64_t>& confusion) {
  constexpr std::size_t kCell = 36, kLeft = 70, kTop = 40, kMargin = 12;
  const std::size_t classes = confusion.rows();
  Canvas canvas(kLeft + classes * kCell + kMargin, kTop + classes * kCell + kMargin);
  canvas.write(kLeft, 8, "found");
  canvas.write(8, kTop - 12, "true");
  for (std::size_t i = 0; i < classes; ++i) {
    const auto total = static_cast<double>(std::max<std::uint64_t>(
        std::accumulate(confusion.row(i).begin(), confusion.row(i).end(), std::uint64_t{0}), 1));
    canvas.write(8, kTop + i * kCell + kCell / 2, classifier.name_of(i).substr(0, 9));
    canvas.write(kLeft + i * kCell + 4, kTop - 12, classifier.name_of(i).substr(0, 5));
    for (std::size_t j = 0; j < classes; ++j) {
      const double share = static_cast<double>(confusion(i, j)) / total;
      // Few mistakes are to be seen too.
      const double shade = i == j ? 0.6 * share : std::min(1.0, 12.0 * share);
      const Colour ink = i == j ? Colour{40, 90, 160} : Colour{190, 50, 40};
      const std::size_t x = kLeft + j * kCell, y = kTop + i * kCell;
      canvas.fill(x, y, kCell - 1, kCell - 1, blend(kPaper, ink, shade));
      const std::string text = confusion(i, j) > 0 ? std::to_string(confusion(i, j)) : "";
      canvas.write(x + (kCell - std::min(kCell, text_width(text))) / 2, y + kCell / 2 - 4, text,
                   shade > 0.5 ? kPaper : kBlack);
    }
  }
  return canvas.take();
}

/// Rows that were taken for another class, the surest mistakes first.
std::vector<std::uint32_t> worst_rows(const Matrix<float>& probabilities, std::span<const int> labels) {
  std::vector<std::uint32_t> out;
  const auto right = [&](std::uint32_t r) { return probabilities(r, static_cast<std::size_t>(labels[r])); };
  for (std::uint32_t r = 0; r < labels.size(); ++r) {
    const std::span<const float> row = probabilities.row(r);
    if (std::ranges::max_element(row) - row.begin() != labels[r]) out.push_back(r);
  }
  std::ranges::stable_sort(out, {}, right);
  out.resize(std::min(out.size(), kMistakes));
  return out;
}

void write_mistakes(const std::filesystem::path& path, const Dataset& data, std::span<const std::uint32_t> rows) {
  Matrix<float> values(rows.size(), data.units());
  gather_inputs(data, rows, values);
  const auto [height, width] =
      data.shape.height > 0 ? std::pair(data.shape.height, data.shape.width) : tile_shape_for(data.units());
  SheetOptions sheet;
  sheet.tile_height = height;
  sheet.tile_width = width;
  write_png(path, grey_sheet(values, sheet));
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

Outcome evaluate_rows(const EvaluateRequest& request, bool json, const Context& context) {
  if (!request.confusion.empty()) require_ending("--confusion", request.confusion, {".png"});
  if (!request.mistakes.empty()) require_ending("--mistakes", request.mistakes, {".png"});
  const RowClassifier classifier = load_row_classifier(request.model);
  const Dataset data = rows_for(classifier, request, context);
  if (data.labels.size() != data.rows()) {
    throw DataError(
        fmt::format("{}: expected a label for each row, found none; give them with --labels or "
                    "--label-column",
                    data.name));
  }
  for (std::size_t r = 0; r < data.rows(); ++r) {
    if (data.labels[r] < 0 || static_cast<std::size_t>(data.labels[r]) >= classifier.classes) {
      throw DataError(
          fmt::format("{}: row {}: expected a label from 0 to {}, found {}: a class that the classifier "
                      "does not know",
                      data.name, r + 1, classifier.classes - 1, data.labels[r]));
    }
  }
  const Matrix<float> found = classifier.probabilities(data, context);
  const ClassifierReport report = judge(found, data.labels);
  if (!request.confusion.empty()) write_png(request.confusion, confusion_picture(classifier, report.confusion));
  std::string message;
  if (!request.mistakes.empty()) {
    const std::vector<std::uint32_t> rows = worst_rows(found, data.labels);
    if (rows.empty()) message = fmt::format("no row is wrong: {} is not written\n", request.mistakes.string());
    if (!rows.empty()) write_mistakes(request.mistakes, data, rows);
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
