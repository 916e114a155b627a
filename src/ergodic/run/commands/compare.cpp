// `ergodic compare`: a machine's own samples against data.
#include "ergodic/run/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/format/png.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/snapshots.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/commands/text.hpp"

namespace ergodic {
namespace {

struct CompareRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kTrain;
  ModelSamplesOptions samples;
  std::filesystem::path path;
  std::uint64_t seed = 1;
  std::filesystem::path out;
};

Spec<CompareRequest> make_spec() {
  Spec<CompareRequest> spec;
  add_model_file(spec, &CompareRequest::model);
  spec.include(data_spec(), &CompareRequest::data);
  spec.group("Data");
  add_split(spec, &CompareRequest::split);
  spec.include(model_samples_spec(), &CompareRequest::samples);
  spec.group("Samples")
      .add("path", &CompareRequest::path,
           "the folder of `ergodic train --trajectory`: samples are drawn by tempering, with the machines that "
           "training met as its levels")
      .role(PathRole::kFolder)
      .advanced();
  add_seed(spec, &CompareRequest::seed);
  spec.group("Output")
      .add("out", &CompareRequest::out, "a picture of the samples' means and correlations over the data's (.png)")
      .role(PathRole::kOutput);
  return spec;
}

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
Image picture_of(const ComparisonWithData& result) {
  Matrix<float> tiles(2, kSide * kSide);
  draw_scatter(result.data_means, result.sample_means, tiles.row(0));
  draw_scatter(result.data_correlations, result.sample_correlations, tiles.row(1));
  return grey_sheet(tiles, {kSide, kSide, 2, 1});
}

Json json_of_result(const ComparisonWithData& r) {
  Json out{{"rows", r.rows}, {"effective_rows", r.effective_rows}, {"stopped", r.stopped}};
  if (r.stopped) return out;
  out["samples"] = r.samples;
  out["mixed"] = mixed_of(r.mixing);
  if (!r.swapped.empty()) out["swapped"] = r.swapped;
  out.update(json_of(r.comparison));
  return out;
}

std::string text_of_result(const ComparisonWithData& r) {
  if (r.stopped) return "";
  std::string out = fmt::format("data                   {} rows", r.rows);
  if (r.effective_rows != static_cast<double>(r.rows)) out += fmt::format(", worth {:.1f}", r.effective_rows);
  return out + fmt::format("\nsamples                {}\n\n", r.samples) + text_of(r.comparison);
}

Outcome run(const CompareRequest& request, bool json, const Context& context) {
  require_writable(request.out);
  const ModelFile file = load_model(request.model);
  const std::vector<Parameters> stations = read_snapshots(request.path, *file.machine);
  const Dataset data = load_split_for(*file.machine, request.data, request.split, context).chosen;
  const ComparisonWithData result =
      compare_with_data(*file.machine, stations, data, request.samples, Key{request.seed}, context);
  if (!result.stopped && !request.out.empty()) write_png(request.out, picture_of(result));
  return {json ? printed(json_of_result(result)) : text_of_result(result),
          result.stopped ? "stopped; nothing compared\n" : swap_text(result.swapped) + text_of(result.mixing),
          result.stopped};
}

}  // namespace

Command compare_command() {
  return command_of("compare", "compare a machine's own samples with data",
                    "ergodic compare digits.safetensors --data mnist --out agreement.png", make_spec(), run);
}

}  // namespace ergodic
