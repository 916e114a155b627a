#include "ergodic/run/data_tools.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ergodic/data/moments.hpp"
#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"

namespace ergodic {
namespace {

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

}  // namespace

std::string json_of_named_sets() {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const NamedSet& set : named_sets()) {
    out.push_back({{"name", set.written()}, {"description", set.description}, {"here", set.here()}});
  }
  return nlohmann::ordered_json{{"sets", out}}.dump(2);
}

std::string text_of_named_sets() {
  std::string out;
  for (const NamedSet& set : named_sets()) {
    out += fmt::format("{:<20} {}{}\n", set.written(), set.description,
                       set.here() ? "" : fmt::format("; bring it with: ergodic data get {}", set.name));
  }
  return out;
}

FetchedSet get_data(const std::string& name) {
  const CatalogueEntry* entry = find_in_catalogue(name);
  if (!entry) {
    throw UsageError(
        fmt::format("no data set named '{}' to bring; there are: {}", name, fmt::join(catalogue_names(), ", ")));
  }
  if (!is_fetched(*entry)) fetch(*entry);
  return {entry->name, cache_folder() / entry->name};
}

std::string to_json(const FetchedSet& set) {
  return nlohmann::ordered_json{{"name", set.name}, {"folder", set.folder.string()}}.dump(2);
}

Spec ShowRequest::spec() {
  Spec spec;
  add_data_options(spec, data);
  add_split_option(spec, split);
  spec.group("Output")
      .count("count", count, 1, 100000, "how many rows to draw")
      .path("out", out, "a picture sheet (.png)");
  return spec;
}

ShowResult show_data(const ShowRequest& request) {
  require_writable(request.out);
  const Dataset data = load_split(request.data, request.split);
  ShowResult result{data.name, data.rows(), data.units(), data.shape, 0.0, label_counts(data.labels), 0};
  result.sites = data.sites();
  result.letters = data.letters;
  result.effective_rows = data.effective_rows();
  result.missing = data.missing();
  const std::vector<double> means = unit_means(data);
  result.mean = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
  result.bytes = data.bytes().size() + data.weights.size() * sizeof(data.weights[0]) + data.known.words().size_bytes();
  if (!request.out.empty()) {
    const Layer layer = data.real() ? Layer(Gaussian{data.units()}) : Layer(Bernoulli{data.units()});
    const State rows = first_rows(layer, data, request.count, Key{});
    write_png(request.out, picture_of_rows(drawable(plain_values(rows), layer), data.shape));
  }
  return result;
}

std::string to_json(const ShowResult& r) {
  return nlohmann::ordered_json{{"name", r.name},
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
                                {"missing", r.missing}}
      .dump(2);
}

std::string to_text(const ShowResult& r) {
  std::string out = r.letters > 0 ? fmt::format("{}: {} sequences of {} sites, {} letters ({} units)", r.name, r.rows,
                                                r.sites, r.letters, r.units)
                                  : fmt::format("{}: {} rows of {} units", r.name, r.rows, r.units);
  if (r.shape.height > 0) out += fmt::format(" ({})", shape_text(r.shape));
  if (r.letters > 0) out += fmt::format("\neffective  {:.1f} sequences", r.effective_rows);
  if (r.missing > 0) {
    const auto values = static_cast<double>(r.rows * (r.letters > 0 ? r.sites : r.units));
    out += fmt::format("\nmissing    {} values ({:.2f} %)", r.missing, 100.0 * static_cast<double>(r.missing) / values);
  }
  out += fmt::format("\nbits on    {:.4f}\nin memory  {:.1f} MB\n", r.mean, static_cast<double>(r.bytes) / 1e6);
  if (!r.labels.empty()) out += fmt::format("labels     {}\n", fmt::join(r.labels, " "));
  return out;
}

}  // namespace ergodic
