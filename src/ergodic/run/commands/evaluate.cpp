// `ergodic evaluate`: how likely data is under a machine, and how its samples compare with the data.
#include "ergodic/run/evaluate.hpp"

#include "ergodic/core/error.hpp"
#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/machine/snapshots.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/commands/text.hpp"
#include "ergodic/run/quality.hpp"

namespace ergodic {
namespace {

struct EvaluateRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kAuto;
  std::string budget = "5000";
  std::filesystem::path path;
  std::uint64_t seed = 1;
  bool quality = false;
  ModelSamplesOptions samples;
};

Spec<EvaluateRequest> make_spec() {
  Spec<EvaluateRequest> spec;
  add_model_file(spec, &EvaluateRequest::model);
  spec.include(data_spec(), &EvaluateRequest::data).optional("data", "without data, log Z alone");
  spec.group("Data");
  add_split(spec, &EvaluateRequest::split);
  spec.group("Evaluation")
      .add(
          "budget", &EvaluateRequest::budget,
          "effort spent on log Z where it cannot be computed exactly: a number of temperatures, or a time such as 30s; "
          "more gives a narrower bracket")
      .placeholder("N")
      .add("path", &EvaluateRequest::path,
           "the folder of `ergodic train --trajectory`: annealing goes the way that training went, and samples are "
           "drawn by tempering along it")
      .role(PathRole::kFolder)
      .advanced();
  add_seed(spec, &EvaluateRequest::seed);
  spec.group("Quality").add("quality", &EvaluateRequest::quality, "compare samples of the machine with the data too");
  spec.include(model_samples_spec(), &EvaluateRequest::samples);
  return spec;
}

Outcome run(const EvaluateRequest& request, bool json, const Context& context) {
  require(request.quality || request.samples == ModelSamplesOptions{},
          "--count, --sweeps and --draws are for the samples of --quality; give that too");
  EvaluateOptions options{budget_from(request.budget)};
  const ModelFile file = load_model(request.model);
  const Machine& machine = *file.machine;
  const Key key{request.seed};
  options.stations = read_snapshots(request.path, machine);
  if (request.data.source.empty()) {
    require(!request.quality, "--quality compares samples with data; give --data too");
    const EvaluateResult result = evaluate(machine, options, key, context);
    return {json ? printed(json_of(result)) : text_of(result), "", result.stopped};
  }
  const SplitData data = load_split_for(file, request.data, request.split, context);
  options.training = data.training ? &*data.training : nullptr;
  if (request.quality) {
    require_complete(data.chosen);
    require_enough_rows(data.chosen);
  }
  PartOfWhole first(context, 0.0, request.quality ? 0.5 : 1.0), second(context, 0.5, 1.0);
  const EvaluateResult result = evaluate(machine, data.chosen, options, key, first.context());
  Json out = json_of(result);
  std::string text = text_of(result), message, details;
  if (request.quality) {
    const Quality quality =
        quality_of(machine, options.stations, {data.chosen, options.training}, request.samples, key, second.context());
    if (!quality.stopped) {
      out["quality"] = json_of(quality);
      text += text_of(quality);
      message = swap_text(quality.swapped) + text_of(quality.mixing);
      details = details_of(quality.mixing);
    } else {
      message = "stopped; no samples compared\n";
    }
  }
  return {json ? printed(out) : text, message, context.stop_requested(), details};
}

}  // namespace

Command evaluate_command() {
  return command_of("evaluate", "compute the likelihood of data under a machine",
                    "ergodic evaluate digits.safetensors --data mnist --split test", make_spec(), run);
}

}  // namespace ergodic
