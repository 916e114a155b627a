#include "ergodic/run/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "ergodic/report/sheet.hpp"
#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/run/trajectory.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kSide = 400;  // pixels of a scatter plot

/// A scatter plot as a tile: y upwards over x to the right on equal axes, darker the more points fall on a pixel, with
/// the line on which all points would lie if they agreed.
void draw_scatter(std::span<const double> x, std::span<const double> y, std::span<float> tile) {
  double low = x[0], high = x[0];
  for (const auto values : {x, y}) {
    for (const double v : values) low = std::min(low, v), high = std::max(high, v);
  }
  const double pixels = static_cast<double>(kSide - 1) / std::max(high - low, 1e-30);
  std::vector<std::uint32_t> points(kSide * kSide);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto column = static_cast<std::size_t>((x[k] - low) * pixels);
    const auto row = kSide - 1 - static_cast<std::size_t>((y[k] - low) * pixels);
    ++points[row * kSide + column];
  }
  const double most = std::log1p(*std::max_element(points.begin(), points.end()));
  for (std::size_t k = 0; k < points.size(); ++k) {
    const bool line = k % kSide + k / kSide == kSide - 1;
    const double shade = points[k] > 0 ? 0.3 + 0.7 * std::log1p(points[k]) / most : line ? 0.15 : 0.0;
    tile[k] = static_cast<float>(1.0 - shade);
  }
}

/// The means on the left, the correlations on the right; the data's across, the samples' up.
Image picture_of(const PairSums& data, std::span<const PairSums> groups) {
  PairSums all = groups.front();
  for (const PairSums& group : groups.subspan(1)) all.add(group);
  Matrix<float> tiles(2, kSide * kSide);
  draw_scatter(data.means(), all.means(), tiles.row(0));
  draw_scatter(data.connected(), all.connected(), tiles.row(1));
  return grey_sheet(tiles, {kSide, kSide, 2, 1});
}

nlohmann::ordered_json json_of(const Agreement& a) {
  const auto number = [](double v) { return std::isfinite(v) ? nlohmann::ordered_json(v) : nlohmann::ordered_json(); };
  return {{"count", a.count},
          {"correlation", number(a.correlation)},
          {"correlation_error", number(a.correlation_error)},
          {"slope", number(a.slope)},
          {"slope_error", number(a.slope_error)},
          {"ceiling", number(a.ceiling)}};
}

/// Numbers that all agree, or too few of them, have no correlation.
std::string cell(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}
std::string error_cell(double value) { return std::isfinite(value) ? fmt::format("{:.2g}", value) : "-"; }

std::string row_of(const std::string& name, const Agreement& a) {
  return fmt::format("{:<22} {:>9} {:>9} +- {:<8} {:>8} +- {:<8} {:>8}\n", name, a.count, cell(a.correlation, 4),
                     error_cell(a.correlation_error), cell(a.slope, 3), error_cell(a.slope_error), cell(a.ceiling, 4));
}

}  // namespace

Spec CompareRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  add_data_options(spec, data);
  add_split_option(spec, split);
  spec.group("Sampling");
  add_own_samples_options(spec, sampling);
  spec.path("path", path,
            "the folder of `ergodic train --trajectory`: samples are drawn by tempering, with the machines that "
            "training met as its levels")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names the random numbers");
  spec.group("Output").path("out", out, "a picture of the samples' means and correlations over the data's (.png)");
  return spec;
}

CompareResult compare_with_data(const CompareRequest& request, const Context& context) {
  require_writable(request.out);
  const ModelFile file = load_model(request.model);
  const Layer visible = visible_of(file.machine);
  const std::vector<Parameters> stations = stations_in(request.path, file.machine);
  const Dataset data = load_split_for(visible, request.data, request.split);
  const Key key{request.seed};
  const std::vector<UnitPair> pairs = pairs_of(visible);
  const State rows = first_rows(visible, data, data.rows(), key);
  const PairSums expected = sums_of(rows, data.weights, pairs, context);
  const std::optional<OwnSamples> own = draw_own_samples(file.machine, stations, request.sampling, pairs, key, context);
  CompareResult out{data.rows(), data.effective_rows(), 0, !own, {}, {}, std::nullopt};
  if (out.stopped) return out;
  out.samples = own->samples;
  out.swapped = own->swapped;
  out.mixing = own->mixing;
  out.comparison = compare(own->groups, expected);
  if (!request.out.empty()) write_png(request.out, picture_of(expected, own->groups));
  return out;
}

std::string to_json(const Comparison& comparison) {
  return nlohmann::ordered_json{{"means", json_of(comparison.means)},
                                {"correlations", json_of(comparison.correlations)}}
      .dump();
}

std::string to_text(const Comparison& comparison) {
  return fmt::format("{:<22} {:>9} {:>9} {:<11} {:>8} {:<11} {:>8}\n", "samples over data", "numbers", "Pearson", "",
                     "slope", "", "ceiling") +
         row_of("means of units", comparison.means) + row_of("two-site correlations", comparison.correlations);
}

std::string to_json(const CompareResult& r) {
  nlohmann::ordered_json out{{"rows", r.rows}, {"effective_rows", r.effective_rows}, {"stopped", r.stopped}};
  if (r.stopped) return out.dump(2);
  out["samples"] = r.samples;
  out["mixed"] = nullptr;
  if (r.mixing->verdict.mixing != Mixing::kUnknown) out["mixed"] = r.mixing->verdict.mixing == Mixing::kYes;
  if (!r.swapped.empty()) out["swapped"] = r.swapped;
  out.update(nlohmann::ordered_json::parse(to_json(r.comparison)));
  return out.dump(2);
}

std::string to_text(const CompareResult& r) {
  if (r.stopped) return "";
  std::string out = fmt::format("data                   {} rows", r.rows);
  if (r.effective_rows != static_cast<double>(r.rows)) out += fmt::format(", worth {:.1f}", r.effective_rows);
  out += fmt::format("\nsamples                {}\n\n", r.samples);
  return out + to_text(r.comparison);
}

}  // namespace ergodic
