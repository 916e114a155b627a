#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "ergodic/run/compare.hpp"
#include "ergodic/run/data_tools.hpp"
#include "ergodic/run/evaluate.hpp"
#include "ergodic/run/inspect.hpp"
#include "ergodic/run/recall.hpp"
#include "ergodic/run/sample.hpp"
#include "ergodic/run/train.hpp"

namespace ergodic::cli {
namespace {

/// A command on a request of its own: its options are the request's and the common ones.
template <class Request, class Run>
Command make(std::string name, std::string summary, std::string example, std::string unit, const Run& run) {
  auto request = std::make_shared<Request>();
  auto common = std::make_shared<Common>();
  Command command{
      std::move(name), std::move(summary), std::move(example), std::move(unit), request->spec(), common, {}};
  common->describe(command.spec);
  command.run = [request, common, run](const Context& context) { return run(*request, *common, context); };
  return command;
}

struct NoRequest {
  Spec spec() { return {}; }
};

struct GetRequest {
  std::string name;
  Spec spec() {
    Spec out;
    out.group("")
        .text("name", name, fmt::format("the set to bring: {}", fmt::join(catalogue_names(), ", ")), "NAME")
        .positional()
        .required();
    return out;
  }
};

Outcome run_train(const TrainRequest& request, const Common& common, const Context& context) {
  const TrainResult result = train(request, context);
  Outcome out;
  if (common.json) out.output = to_json(result) + "\n";
  out.stopped = result.model.empty();
  if (result.memory) {
    out.message = to_text(*result.memory);
    return out;
  }
  const std::string done = fmt::format("{} updates in {:.1f} s ({:.0f} samples/s)", result.updates, result.seconds,
                                       result.samples_per_second);
  out.message = out.stopped ? fmt::format("stopped after {}; the same command with --resume goes on from {}\n", done,
                                          result.checkpoint.string())
                            : fmt::format("trained: {}; the machine is in {}\n", done, result.model.string());
  if (result.likelihood) out.message += to_text(*result.likelihood);
  if (result.mixing) out.message += to_text(*result.mixing);
  out.message += profile_text(result);
  return out;
}

Outcome run_evaluate(const EvaluateRequest& request, const Common& common, const Context& context) {
  const EvaluateResult result = evaluate(request, context);
  std::string message = request.quality && !result.quality ? "stopped; no samples compared\n" : "";
  if (result.quality) message = swap_text(result.quality->swapped) + to_text(result.quality->mixing);
  return {common.json ? to_json(result) + "\n" : to_text(result), message, context.stop_requested()};
}

Outcome run_sample(const SampleRequest& request, const Common& common, const Context& context) {
  const SampleResult result = draw_samples(request, context);
  std::string message = result.stopped ? fmt::format("stopped after {} of {} sweeps; nothing written\n", result.sweeps,
                                                     request.sampling.sweeps)
                                       : fmt::format("{} samples after {} sweeps in {:.1f} s are in {}\n", result.count,
                                                     result.sweeps, result.seconds, result.out.string());
  message += to_text(result);
  return {common.json ? to_json(result) + "\n" : "", message, result.stopped};
}

Outcome run_compare(const CompareRequest& request, const Common& common, const Context& context) {
  const CompareResult result = compare_with_data(request, context);
  const std::string message =
      result.stopped ? "stopped; nothing compared\n" : swap_text(result.swapped) + to_text(*result.mixing);
  return {common.json ? to_json(result) + "\n" : to_text(result), message, result.stopped};
}

Outcome run_reconstruct(const ReconstructRequest& request, const Common& common, const Context& context) {
  const ReconstructResult result = draw_reconstructions(request, context);
  return {common.json ? to_json(result) + "\n" : "",
          fmt::format(
              "{} reconstructions are in {}; {}\n", result.count, result.out.string(),
              result.real
                  ? fmt::format("the root of the mean squared difference to the data is {:.4g}", result.error)
                  : fmt::format("{:.2f} % of their units are expected to differ from the data", 100.0 * result.error)),
          false};
}

Outcome run_recall(const RecallRequest& request, const Common& common, const Context& context) {
  const RecallResult result = recall_rows(request, context);
  const std::string message = result.stopped
                                  ? "stopped; nothing written\n"
                                  : fmt::format("{} restored rows are in {}\n", result.count, result.out.string());
  return {common.json ? to_json(result) + "\n" : to_text(result), message, result.stopped};
}

Outcome run_inspect(const InspectRequest& request, const Common& common, const Context&) {
  const InspectResult result = inspect(request);
  return {common.json ? to_json(result) + "\n" : to_text(result), "", false};
}

Outcome run_list(const NoRequest&, const Common& common, const Context&) {
  return {common.json ? json_of_named_sets() + "\n" : text_of_named_sets(), "", false};
}

Outcome run_get(const GetRequest& request, const Common& common, const Context&) {
  const FetchedSet set = get_data(request.name);
  return {common.json ? to_json(set) + "\n" : "", fmt::format("{} is in {}\n", set.name, set.folder.string()), false};
}

Outcome run_show(const ShowRequest& request, const Common& common, const Context&) {
  const ShowResult result = show_data(request);
  return {common.json ? to_json(result) + "\n" : to_text(result), "", false};
}

}  // namespace

void Common::describe(Spec& spec) {
  spec.group("General")
      .count("threads", threads, 0, 1024,
             "threads to use (0: one for each core); the result is the same for any number")
      .incidental()
      .flag("json", json, "print one JSON object on standard output")
      .incidental()
      .flag("quiet", quiet, "print nothing but warnings and errors")
      .incidental()
      .path("config", config, "a file of options, a line `name = value` each; the command line goes before it")
      .incidental();
}

std::vector<Command> make_commands() {
  std::vector<Command> out;
  out.push_back(make<TrainRequest>("train", "train a machine on data",
                                   "ergodic train --data mnist --hidden 500 --epochs 20 --out digits.safetensors",
                                   "updates", run_train));
  out.push_back(make<EvaluateRequest>("evaluate", "say how likely data is under a machine",
                                      "ergodic evaluate digits.safetensors --data mnist --split test", "steps",
                                      run_evaluate));
  out.push_back(make<SampleRequest>("sample", "draw from a machine by a Markov chain",
                                    "ergodic sample digits.safetensors --count 100 --sweeps 1000 --out samples.png",
                                    "sweeps", run_sample));
  out.push_back(make<CompareRequest>("compare", "hold a machine's own samples against data",
                                     "ergodic compare digits.safetensors --data mnist --out agreement.png", "sweeps",
                                     run_compare));
  out.push_back(make<ReconstructRequest>("reconstruct", "show data beside what the machine makes of it",
                                         "ergodic reconstruct digits.safetensors --data mnist --out pairs.png", "rows",
                                         run_reconstruct));
  out.push_back(make<RecallRequest>("recall", "let a Hopfield network restore damaged rows",
                                    "ergodic recall memory.safetensors --data digits --damage 0.2 --out restored.png",
                                    "rows", run_recall));
  out.push_back(make<InspectRequest>("inspect", "show what is in a model file",
                                     "ergodic inspect digits.safetensors --filters filters.png", "", run_inspect));
  out.push_back(make<NoRequest>("data list", "list the data sets that have a name", "ergodic data list", "", run_list));
  out.push_back(make<GetRequest>("data get", "bring a real data set to this machine, by package",
                                 "ergodic data get mnist", "", run_get));
  out.push_back(make<ShowRequest>("data show", "describe a data set and draw its first rows",
                                  "ergodic data show --data digits --out digits.png", "", run_show));
  return out;
}

}  // namespace ergodic::cli
