// `ergodic compare`: a machine's own samples against data.
#include "ergodic/run/compare.hpp"

#include <fmt/format.h>

#include <array>

#include "ergodic/format/png.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/snapshots.hpp"
#include "ergodic/report/plot.hpp"
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
  spec.include(complete_data_spec(), &CompareRequest::data);
  spec.group("Data");
  add_split(spec, &CompareRequest::split);
  spec.include(model_samples_spec(), &CompareRequest::samples);
  spec.group("Samples")
      .add("path", &CompareRequest::path,
           "the folder of `ergodic train --trajectory`: samples are drawn by tempering, with these snapshots as levels")
      .role(PathRole::kFolder)
      .advanced();
  add_seed(spec, &CompareRequest::seed);
  spec.group("Output")
      .add("out", &CompareRequest::out, "a picture of the samples' means and correlations over the data's (.png)")
      .role(PathRole::kOutput);
  return spec;
}

Image picture_of(const ComparisonWithData& result) {
  const std::array clouds{Cloud{"mean of each unit", "data", "samples", result.data_means, result.sample_means},
                          Cloud{"correlation of each pair of units", "data", "samples", result.data_correlations,
                                result.sample_correlations}};
  return scatter_plots(clouds);
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
  if (r.effective_rows != static_cast<double>(r.rows)) out += fmt::format(", effectively {:.1f}", r.effective_rows);
  return out + fmt::format("\nsamples                {}\n\n", r.samples) + text_of(r.comparison);
}

Outcome run(const CompareRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".png"});
  const ModelFile file = load_model(request.model);
  const std::vector<Parameters> stations = read_snapshots(request.path, *file.machine);
  const Dataset data = load_split_for(file, request.data, request.split, context).chosen;
  const ComparisonWithData result =
      compare_with_data(*file.machine, stations, data, request.samples, Key{request.seed}, context);
  if (!result.stopped && !request.out.empty()) write_png(request.out, picture_of(result));
  return {json ? printed(json_of_result(result)) : text_of_result(result),
          result.stopped ? "stopped; nothing compared\n" : swap_text(result.swapped) + text_of(result.mixing),
          result.stopped, result.stopped ? "" : details_of(result.mixing)};
}

}  // namespace

Command compare_command() {
  return command_of("compare", "compare samples drawn from a machine with data",
                    "ergodic compare digits.safetensors --data mnist --out agreement.png", make_spec(), run);
}

}  // namespace ergodic
