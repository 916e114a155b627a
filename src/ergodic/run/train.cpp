#include "ergodic/run/train.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "ergodic/run/data_request.hpp"
#include "ergodic/run/training.hpp"

namespace ergodic {
namespace {

/// UsageError for an option that this kind of machine would ignore.
void refuse_foreign_options(const TrainRequest& request) {
  using enum ModelKind;
  const TrainRequest standard;
  const auto only = [&](std::initializer_list<ModelKind> kinds, std::string_view option, bool given) {
    if (!given || std::ranges::find(kinds, request.model) != kinds.end()) return;
    std::vector<std::string_view> names;
    for (const ModelKind kind : kinds) names.push_back(name_of(kind));
    throw UsageError(fmt::format("--{} is for --model {}, and means nothing to --model {}; leave it out", option,
                                 fmt::join(names, " or "), name_of(request.model)));
  };
  only({kBoltzmann}, "graph", request.graph != standard.graph);
  only({kNeural}, "layers", request.layers != standard.layers);
  only({kRbm, kBoltzmann}, "hidden", request.hidden != standard.hidden);
  only({kRbm}, "hidden-type", request.hidden_type != standard.hidden_type);
  only({kRbm}, "hidden-letters", request.hidden_letters != standard.hidden_letters);
  only({kRbm}, "least-noise", request.least_noise != standard.least_noise);
  only({kRbm, kBoltzmann}, "momentum", request.momentum != standard.momentum);
  only({kRbm, kBoltzmann}, "l1", request.l1 != standard.l1);
  only({kRbm, kBoltzmann}, "l2", request.l2 != standard.l2);
  only({kRbm, kBoltzmann}, "uncentred", request.uncentred != standard.uncentred);
  only({kRbm, kBoltzmann}, "weight-scale", request.weight_scale != standard.weight_scale);
  only({kRbm, kBoltzmann, kNeural}, "method", request.method != standard.method);
  only({kRbm, kBoltzmann, kNeural}, "epochs", request.epochs != standard.epochs);
  only({kRbm, kBoltzmann}, "trajectory", !request.trajectory.empty());
  only({kRbm, kBoltzmann, kNeural}, "no-likelihood", request.no_likelihood);
  only({kHopfield}, "rule", request.hopfield.rule != standard.hopfield.rule);
  only({kHopfield}, "patterns", request.hopfield.patterns != standard.hopfield.patterns);
  only({kHopfield}, "bias", request.hopfield.bias != standard.hopfield.bias);
  only({kHopfield}, "beta", request.hopfield.beta != standard.hopfield.beta);
}

}  // namespace

Spec TrainRequest::spec() {
  Spec spec;
  add_data_options(spec, data);
  spec.number("held-out", held_out_share, 0.0, 0.9, "share of the training rows kept apart for the monitors");
  spec.group("Model")
      .choice("model", model, "the kind of machine; training an RBM takes about 36 bytes for each weight")
      .count("hidden", hidden, 0, 1000000, "hidden units (0: 500, on a graph none)")
      .choice("visible-type", visible_type,
              "visible units: {0,1}, -1/+1, letters, real with normal noise, or real and not negative")
      .choice("hidden-type", hidden_type, "hidden units, the same types")
      .count("hidden-letters", hidden_letters, 2, 1000, "letters of each hidden unit, if --hidden-type is potts");
  spec.group("Boltzmann machine")
      .text("graph", graph,
            "which units of a Boltzmann machine, or sites of letters, are coupled: dense (all), grid:HxW, torus:HxW "
            "(with periodic borders), random:DEGREE (each unit with so many others on average), or a file of two units "
            "on each line, counted from 0",
            "GRAPH");
  spec.group("Neural energy").text("layers", layers, "units of each hidden layer of a neural energy", "N,N,...");
  add_hopfield_options(spec, hopfield);
  spec.group("Training")
      .choice("method", method,
              "the model's side of the gradient: persistent chains, a population of them that die and multiply as the "
              "machine changes, chains from the data, or exact (small machines); pseudo needs none, and is for "
              "boltzmann")
      .count("steps", steps, 1, 100000, "sweeps of the chains for each update")
      .count("chains", chains, 0, 1000000, "persistent chains (0: as many as the batch has rows)")
      .count("batch", batch, 0, 100000000,
             "rows in a mini-batch (0: 100, of a neural energy 250, or all rows if there are fewer)")
      .count("epochs", epochs, 0, 1000000000, "passes through the data (0: 20, of a neural energy 60)")
      .number("learning-rate", learning_rate, 0.0, 1000.0, "the rate at the start (0: 0.05, of a neural energy 0.01)")
      .choice("schedule", schedule, "how the rate falls: to zero on a line or a cosine, or not at all")
      .number("momentum", momentum, 0.0, 0.9999, "share of the last step that is repeated")
      .number("l1", l1, 0.0, 1000.0, "weight decay towards zero by a constant, as between {0,1} units")
      .number("l2", l2, 0.0, 1000.0, "weight decay in proportion to the weight")
      .flag("uncentred", uncentred, "use the plain gradient instead of the centred one")
      .number("least-noise", least_noise, 0.001, 1.0,
              "bound of the noise that real visible units learn, as a share of the data's standard deviations: less "
              "noise can fit better, but chains mix worse")
      .number("weight-scale", weight_scale, 0.0, 100.0,
              "standard deviation of the first weights, as between {0,1} units")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names all random numbers of the run");
  spec.group("Output")
      .path("out", out, "where the trained machine goes")
      .required()
      .incidental()
      .path("log", log, "a JSON line for each record")
      .incidental()
      .path("report", report, "an HTML page with curves, samples and filters")
      .incidental()
      .path("trajectory", trajectory,
            "a folder for what the machine was on its way, for --path of `sample`, `evaluate` and `compare`")
      .incidental()
      .number("checkpoint-every", checkpoint_every, 0.0, 1e9, "seconds between two checkpoints (beside --out)")
      .incidental()
      .flag("profile", profile, "say at the end where the time went")
      .incidental()
      .flag("no-likelihood", no_likelihood, "do not spend a tenth of the time on the likelihood at the end")
      .incidental()
      .flag("resume", resume, "go on from the checkpoint beside --out; without one, start")
      .incidental();
  return spec;
}

TrainResult train(TrainRequest request, const Context& context) {
  refuse_foreign_options(request);
  switch (request.model) {
    case ModelKind::kRbm:
      return train_rbm(std::move(request), context);
    case ModelKind::kBoltzmann:
      return train_boltzmann(std::move(request), context);
    case ModelKind::kNeural:
      return train_neural(std::move(request), context);
    case ModelKind::kHopfield:
      return train_hopfield(request, context);
  }
  throw std::logic_error("unknown kind of machine");
}

std::string to_json(const TrainResult& result) {
  if (result.memory) return to_json(*result.memory);
  nlohmann::ordered_json out;
  out["model"] = result.model.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(result.model.string());
  out["stopped"] = result.model.empty();
  if (result.model.empty()) out["checkpoint"] = result.checkpoint.string();
  out["updates"] = result.updates;
  out["epochs"] = result.epochs;
  out["seconds"] = result.seconds;
  out["samples_per_second"] = result.samples_per_second;
  nlohmann::ordered_json monitors;
  for (const auto& [name, value] : result.last.values) monitors[name] = value;
  out["monitors"] = std::move(monitors);
  if (result.likelihood) {
    const auto& [estimate, row_error, rows, held_out, temperatures] = *result.likelihood;
    out["log_likelihood"] = {{"value", estimate.value},
                             {"lower", estimate.lower},
                             {"upper", estimate.upper},
                             {"standard_error", estimate.standard_error},
                             {"method", estimate.method},
                             {"row_standard_error", row_error},
                             {"rows", rows},
                             {"held_out", held_out},
                             {"temperatures", temperatures}};
  }
  if (result.mixing) out["mixing"] = nlohmann::ordered_json::parse(to_json(*result.mixing));
  for (const auto& [stage, seconds, share, macs_per_cycle] : result.profile) {
    out["profile"][stage] = {{"seconds", seconds}, {"share", share}, {"macs_per_cycle", macs_per_cycle}};
  }
  return out.dump(2);
}

std::string profile_text(const TrainResult& result) {
  if (result.profile.empty()) return {};
  std::string out = fmt::format("{:<8} {:>9} {:>7} {:>10}\n", "stage", "seconds", "share", "MAC/cycle");
  double seconds = 0.0;
  for (const StageShare& row : result.profile) {
    const std::string macs = row.macs_per_cycle > 0.0 ? fmt::format("{:.1f}", row.macs_per_cycle) : "";
    out += fmt::format("{:<8} {:>9.3f} {:>6.1f}% {:>10}\n", row.stage, row.seconds, 100.0 * row.share, macs);
    seconds += row.seconds;
  }
  return out + fmt::format("{:<8} {:>9.3f}  of all threads together, in {:.3f} s\n", "all", seconds, result.seconds);
}

}  // namespace ergodic
