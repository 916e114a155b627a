// `ergodic data`: list the named sets, bring one to this computer, look at any.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "ergodic/core/error.hpp"
#include "ergodic/core/spelling.hpp"
#include "ergodic/data/catalogue.hpp"
#include "ergodic/data/moments.hpp"
#include "ergodic/data/named_sets.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct ListRequest {};

Outcome run_list(const ListRequest&, bool json, const Context&) {
  Json sets = Json::array();
  std::string text;
  for (const NamedSet& set : named_sets()) {
    sets.push_back({{"name", set.written()}, {"description", set.description}, {"here", set.here()}});
    text += fmt::format("{:<20} {}{}\n", set.written(), set.description,
                        set.here() ? "" : fmt::format("; download it with: ergodic data get {}", set.name));
  }
  return {json ? printed({{"sets", sets}}) : text, "", false};
}

struct GetRequest {
  std::string name;
};

Spec<GetRequest> get_spec() {
  Spec<GetRequest> spec;
  spec.group("")
      .add("name", &GetRequest::name, fmt::format("the set to download: {}", fmt::join(catalogue_names(), ", ")))
      .placeholder("NAME")
      .positional()
      .required();
  return spec;
}

/// Brings a set of the catalogue into the cache, if it is not there as it should be.
Outcome run_get(const GetRequest& request, bool json, const Context& context) {
  const CatalogueEntry* entry = find_in_catalogue(request.name);
  if (!entry) {
    throw UsageError(fmt::format("no data set named '{}' to download; there are: {}{}", request.name,
                                 fmt::join(catalogue_names(), ", "), did_you_mean(request.name, catalogue_names())));
  }
  if (!is_intact(*entry)) fetch(*entry, context);
  const std::string folder = (cache_folder() / entry->name).string();
  return {json ? printed({{"name", entry->name}, {"folder", folder}}) : "",
          fmt::format("{} is in {}\n", entry->name, folder), false};
}

struct ShowRequest {
  DataOptions data;
  Split split = Split::kTrain;
  std::uint64_t count = 100;
  std::filesystem::path out;
  std::uint64_t scale = 1;
};

Spec<ShowRequest> show_spec() {
  Spec<ShowRequest> spec;
  spec.include(data_spec(), &ShowRequest::data);
  spec.group("Data");
  add_split(spec, &ShowRequest::split);
  spec.group("Output")
      .add("count", &ShowRequest::count, "how many rows to draw")
      .range(1, 100000)
      .add("out", &ShowRequest::out, "a picture sheet, or the sequence logo of an alignment (.png)")
      .role(PathRole::kOutput);
  add_scale(spec, &ShowRequest::scale);
  return spec;
}

struct ShowResult {
  std::string name;
  std::size_t rows = 0, units = 0;
  PictureShape shape;
  bool real = false;                   ///< whether values are numbers rather than bits
  double mean = 0.0;                   ///< of all values; of bits, the share that is on
  std::vector<std::size_t> labels;     ///< how many rows have label 0, 1, ...; empty without labels
  std::size_t bytes = 0;               ///< that the set takes in memory
  std::size_t sites = 0, letters = 0;  ///< for categorical data, else 0
  double effective_rows = 0.0;         ///< the sum of the rows' weights
  std::size_t missing = 0;             ///< values, of categorical data sites
  std::vector<std::string> names;      ///< of units, or sites; empty if they have none
  std::vector<std::string> classes;    ///< of labels; empty if they have no names
};

constexpr int kMostLabels = 1000;  // beyond, labels are not classes and are not counted

std::vector<std::size_t> label_counts(const std::vector<int>& labels) {
  std::vector<std::size_t> counts;
  for (const int label : labels) {
    if (label < 0 || label >= kMostLabels) return {};
    if (static_cast<std::size_t>(label) >= counts.size()) counts.resize(static_cast<std::size_t>(label) + 1);
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

ShowResult described(const Dataset& data) {
  const std::vector<double> means = unit_means(data);
  return {data.name,
          data.rows(),
          data.units(),
          data.shape,
          data.real(),
          std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size()),
          label_counts(data.labels),
          bytes_of(data),
          data.sites(),
          data.letters,
          data.effective_rows(),
          data.missing(),
          data.unit_names,
          data.class_names};
}

Json json_of(const ShowResult& r) {
  return {{"name", r.name},
          {"rows", r.rows},
          {"units", r.units},
          {"height", r.shape.height},
          {"width", r.shape.width},
          {"mean", r.mean},
          {"labels", r.labels},
          {"bytes", r.bytes},
          {"sites", r.sites},
          {"letters", r.letters},
          {"effective_rows", r.effective_rows},
          {"missing", r.missing},
          {"names", r.names},
          {"classes", r.classes}};
}

/// How many rows have each label, with the names of classes if there are any.
std::string label_text(const ShowResult& r) {
  if (r.classes.empty()) return fmt::format("{}", fmt::join(r.labels, " "));
  std::string out;
  for (std::size_t k = 0; k < r.labels.size(); ++k) {
    out += fmt::format("{}{} {}", k > 0 ? ", " : "", r.classes[k], r.labels[k]);
  }
  return out;
}

std::string text_of(const ShowResult& r) {
  std::string out = r.letters > 0 ? fmt::format("{}: {} sequences of {} sites, {} letters ({} units)", r.name, r.rows,
                                                r.sites, r.letters, r.units)
                                  : fmt::format("{}: {} rows of {} units", r.name, r.rows, r.units);
  if (r.shape.height > 0) out += fmt::format(" ({})", shape_text(r.shape));
  if (r.letters > 0) out += fmt::format("\neffective  {:.1f} sequences", r.effective_rows);
  if (r.missing > 0) {
    const auto values = static_cast<double>(r.rows * (r.letters > 0 ? r.sites : r.units));
    out += fmt::format("\nmissing    {} values ({:.2f} %)", r.missing, 100.0 * static_cast<double>(r.missing) / values);
  }
  const auto bytes = static_cast<double>(r.bytes);
  if (r.letters == 0) out += fmt::format("\n{:<10} {:.4f}", r.real ? "mean" : "bits on", r.mean);
  out += fmt::format("\nin memory  {}\n",
                     bytes < 1e5 ? fmt::format("{:.3g} kB", bytes / 1e3) : fmt::format("{:.1f} MB", bytes / 1e6));
  if (!r.labels.empty()) out += fmt::format("labels     {}\n", label_text(r));
  if (!r.names.empty()) out += fmt::format("names      {}\n", fmt::join(r.names, ", "));
  return out;
}

/// The first rows; of letters a logo of all, by their weights.
Image picture_of(const Dataset& data, std::size_t count) {
  if (drawn_as_logo(data.sites(), data.letters, data.shape)) {
    const std::vector<double> means = unit_means(data);
    Matrix<float> mean_row(1, means.size());
    std::ranges::transform(means, mean_row.elements().begin(), [](double mean) { return static_cast<float>(mean); });
    return picture_of_letters(mean_row, data.letters, fmt::format("{}: {} sequences", data.name, data.rows()));
  }
  const Layer layer = data.real() ? Layer(Gaussian{data.units()}) : Layer(Bernoulli{data.units()});
  const State rows = first_rows(layer, data, count, Key{});
  return picture_of_rows(drawable(plain_values(rows), layer), data.shape);
}

/// Describes a data set, and draws its first rows if --out is given.
Outcome run_show(const ShowRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".png"});
  const Dataset data = load_split(request.data, request.split, context);
  const ShowResult result = described(data);
  if (!request.out.empty()) {
    write_png(request.out, magnified(picture_of(data, request.count), request.scale));
  }
  return {json ? printed(json_of(result)) : text_of(result), "", false};
}

}  // namespace

Command data_list_command() {
  return command_of("data list", "list the data sets that have a name", "ergodic data list", Spec<ListRequest>(),
                    run_list);
}

Command data_get_command() {
  return command_of("data get", "download a data set", "ergodic data get mnist", get_spec(), run_get);
}

Command data_show_command() {
  return command_of("data show", "describe a data set and draw its first rows",
                    "ergodic data show --data digits --out digits.png", show_spec(), run_show);
}

}  // namespace ergodic
