// `ergodic score`: how likely a machine finds each row of data.
#include "ergodic/run/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ergodic/format/png.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct ScoreRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kAuto;
  std::optional<double> log_z;
  std::string budget;
  std::uint64_t seed = 1;
  std::filesystem::path out, surprise, strangest;
  std::uint64_t strangest_count = 100, scale = 1;
};

Spec<ScoreRequest> make_spec() {
  Spec<ScoreRequest> spec;
  add_model_file(spec, &ScoreRequest::model);
  spec.include(data_spec(), &ScoreRequest::data);
  spec.group("Data");
  add_split(spec, &ScoreRequest::split);
  spec.group("Score")
      .add("log-z", &ScoreRequest::log_z, "log Z of the machine, as `ergodic evaluate` found it")
      .range(-1e12, 1e12)
      .automatic("exact if that takes a moment; else log p is left out, unless there is a --budget")
      .add("budget", &ScoreRequest::budget,
           "effort spent on estimating log Z when it cannot be computed exactly: number of temperatures, or a time "
           "such as 30s")
      .placeholder("N");
  add_seed(spec, &ScoreRequest::seed);
  spec.group("Output")
      .add("out", &ScoreRequest::out, "the scores, a row for each row of data: an array (.npy) or a table (.csv)")
      .role(PathRole::kOutput)
      .required()
      .add("surprise", &ScoreRequest::surprise,
           "-log p of each value given all others of its row: an array (.npy) or a table (.csv)")
      .role(PathRole::kOutput)
      .add("strangest", &ScoreRequest::strangest, "a picture sheet of the rows with the highest free energy (.png)")
      .role(PathRole::kOutput)
      .add("strangest-count", &ScoreRequest::strangest_count, "how many of them")
      .range(1, 100000);
  add_scale(spec, &ScoreRequest::scale);
  return spec;
}

/// Scores by name, a column each.
class Table {
 public:
  explicit Table(std::size_t rows) : rows_(rows) {}

  template <class Of>
  void add(const char* name, const Of& of) {
    names_.emplace_back(name);
    for (std::size_t r = 0; r < rows_; ++r) columns_.push_back(static_cast<double>(of(r)));
  }

  const std::vector<std::string>& names() const { return names_; }
  Matrix<double> values() const {
    Matrix<double> out(rows_, names_.size());
    for (std::size_t k = 0; k < columns_.size(); ++k) out(k % rows_, k / rows_) = columns_[k];
    return out;
  }

 private:
  std::size_t rows_;
  std::vector<std::string> names_;
  std::vector<double> columns_;  // one after the other
};

/// A column for each score that there is.
Table table_of(const Scores& scores, const std::vector<int>& labels) {
  Table out(scores.rank.size());
  const auto energy = [&](std::size_t r) { return scores.free_energies[r].value; };
  out.add("row", [](std::size_t r) { return r + 1; });
  out.add("rank", [&](std::size_t r) { return scores.rank[r]; });
  if (!labels.empty()) out.add("label", [&](std::size_t r) { return labels[r]; });
  out.add("free_energy", energy);
  if (!scores.hidden_units) out.add("energy", energy);
  if (!scores.log_p.empty()) {
    out.add("log_p", [&](std::size_t r) { return scores.log_p[r].value; });
    out.add("log_p_lower", [&](std::size_t r) { return scores.log_p[r].lower; });
    out.add("log_p_upper", [&](std::size_t r) { return scores.log_p[r].upper; });
  }
  if (scores.surprise) {
    out.add("pseudo_log_likelihood", [&](std::size_t r) { return scores.pseudo_log_likelihood(r); });
  }
  return out;
}

/// The rows with the highest free energy, the strangest first.
State strangest_rows(const Scores& scores, const State& rows, std::size_t count) {
  State out = rows.rows(0, std::min(count, rows.chains()));
  for (std::size_t r = 0; r < rows.chains(); ++r) {
    if (scores.rank[r] <= out.chains()) out.set_row(scores.rank[r] - 1, rows, r);
  }
  return out;
}

/// How well the free energy tells each class from all others; a few classes only.
Json areas_of(const Scores& scores, const Dataset& data) {
  constexpr std::size_t kMostClasses = 100;
  Json out = Json::object();
  for (std::size_t c = 0; c < std::min(data.classes(), kMostClasses); ++c) {
    const auto area = area_under_curve(scores.free_energies, data.labels, static_cast<int>(c));
    const std::string name = c < data.class_names.size() ? data.class_names[c] : std::to_string(c);
    if (area) out[name] = *area;
  }
  return out;
}

void write_surprise(const std::filesystem::path& out, const Scores& scores, const std::vector<std::string>& names) {
  std::vector<std::string> columns = names;
  for (std::size_t s = columns.size(); s < scores.surprise->cols(); ++s) columns.push_back(fmt::format("{}", s + 1));
  write_table(out, columns, *scores.surprise);
}

std::string text_of_result(const ScoreRequest& request, const Scores& scores, const Json& areas) {
  std::string out = fmt::format("scores of {} rows are in {}\n", scores.rank.size(), request.out.string());
  if (scores.log_z) {
    const Estimate& z = *scores.log_z;
    out += z.lower == z.upper ? fmt::format("log Z {:.4f} ({})\n", z.value, z.method)
                              : fmt::format("log Z {:.4f}, between {:.4f} and {:.4f}\n", z.value, z.lower, z.upper);
  } else {
    out += "log p is left out: log Z is no short sum; --budget 5000 estimates it, --log-z takes one that is known\n";
  }
  const auto worst = static_cast<std::size_t>(std::ranges::find(scores.rank, std::size_t{1}) - scores.rank.begin());
  out += fmt::format("the strangest is row {}, with a free energy of {:.4f}\n", worst + 1,
                     scores.free_energies[worst].value);
  if (!areas.empty()) {
    out += "area under the ROC curve: how often a row of a label has a higher free energy than one of another\n";
  }
  for (const auto& [label, area] : areas.items()) out += fmt::format("  label {}: {:.4f}\n", label, area.get<double>());
  return out;
}

Outcome run(const ScoreRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".npy", ".csv"});
  require_ending("--surprise", request.surprise, {".npy", ".csv"});
  require_ending("--strangest", request.strangest, {".png"});
  require_distinct({{"--data", request.data.source},
                    {"--labels", request.data.labels},
                    {"--out", request.out},
                    {"--surprise", request.surprise},
                    {"--strangest", request.strangest}});
  const ScoreOptions options{request.log_z,
                             request.budget.empty() ? std::nullopt : std::optional(budget_from(request.budget))};
  const ModelFile file = load_model(request.model);
  const Machine& machine = *file.machine;
  const Key key{request.seed};
  const Dataset data = load_split_for(file, request.data, request.split, context).chosen;
  const OpenRows rows = open_rows_of(machine.visible(), data, key);
  require(request.surprise.empty() || machine.site_log_probabilities(rows.rows.rows(0, 1), context).has_value(),
          fmt::format("--surprise needs p of one value given the others, for which a {} of {} has no formula",
                      machine.kind().title, units_text(machine.visible())));
  const Scores scores = score(machine, rows, options, key, context);
  if (scores.stopped) return {"", "stopped; nothing written\n", true};
  const Table table = table_of(scores, data.labels);
  write_table(request.out, table.names(), table.values());
  if (!request.surprise.empty()) {
    write_surprise(request.surprise, scores, unit_names_from(file.notes, scores.surprise->cols()));
  }
  if (!request.strangest.empty()) {
    const State shown = strangest_rows(scores, rows.rows, request.strangest_count);
    const Image sheet =
        machine.picture(plain_values(shown), shape_from_notes(file.notes, pictured_units(machine.visible())), context);
    write_png(request.strangest, magnified(sheet, request.scale));
  }
  const Json areas = areas_of(scores, data);
  const Json out{{"out", request.out.string()},
                 {"rows", scores.rank.size()},
                 {"columns", table.names()},
                 {"log_z", json_of(scores.log_z)},
                 {"area_under_curve", areas}};
  return {json ? printed(out) : "", text_of_result(request, scores, areas), false};
}

}  // namespace

Command score_command() {
  return command_of("score", "say how likely a machine finds each row of data",
                    "ergodic score digits.safetensors --data mnist --split test --out scores.csv --strangest odd.png",
                    make_spec(), run);
}

}  // namespace ergodic
