#include "ergodic/run/evaluate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ergodic/core/error.hpp"
#include "ergodic/estimator/energy_path.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/run/budget.hpp"
#include "ergodic/run/trajectory.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {
namespace {

nlohmann::ordered_json json_of(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value},
          {"lower", estimate->lower},
          {"upper", estimate->upper},
          {"standard_error", estimate->standard_error},
          {"method", estimate->method}};
}

nlohmann::ordered_json json_of(const AnnealedSide& side) {
  return {{"value", side.value},
          {"standard_error", side.standard_error},
          {"effective_chains", side.effective_chains},
          {"bound", side.bound},
          {"bound_error", side.bound_error}};
}

nlohmann::ordered_json json_of(const AnnealedLogZ& found, bool partial) {
  return {{"temperatures", found.temperatures},
          {"chains", found.chains},
          {"partial", partial},
          {"forward", json_of(found.forward)},
          {"backward", json_of(found.backward)}};
}

/// Of the free energies that were annealed.
nlohmann::ordered_json json_of(const ClampedLogZ& found) {
  return {{"rows", found.rows},
          {"temperatures", found.mean.temperatures},
          {"chains", found.mean.chains},
          {"free_energy", json_of(std::optional(mean_free_energy(found).mean))},
          {"forward", json_of(found.mean.forward)},
          {"backward", json_of(found.mean.backward)}};
}

std::string text_of(const char* name, const AnnealedSide& side, std::size_t chains) {
  return fmt::format("  {:<21}{:.2f} +- {:.2f} (effective chains {:.0f} of {})\n", name, side.value,
                     side.standard_error, side.effective_chains, chains);
}

std::string bracket_of(const Estimate& found) {
  return fmt::format("{:.2f} +- {:.2f}, between {:.2f} and {:.2f}", found.value, found.standard_error, found.lower,
                     found.upper);
}

/// What annealing found, for a person.
std::string text_of(const AnnealedLogZ& found) {
  return fmt::format("log Z                  {}\n", bracket_of(found.log_z)) +
         text_of("forward", found.forward, found.chains) + text_of("backward", found.backward, found.chains);
}

/// One row says nothing of others.
std::string error_over_rows(const FreeEnergy& energy, int digits) {
  return energy.rows > 1 ? fmt::format("+- {:.{}f}", energy.row_error, digits) : "+- unknown";
}

/// A likelihood that is not exact.
std::string text_of(const EvaluateResult& result, const Estimate& likelihood) {
  const Judgement& j = result.judgement;
  const AnnealedLogZ& found = j.annealed ? *j.annealed : j.clamped->mean;
  std::string out = fmt::format(
      "log-likelihood         {:.2f} nats a row, between {:.2f} and {:.2f} ({}, {} temperatures, {} chains{})\n",
      likelihood.value, likelihood.lower, likelihood.upper, likelihood.method, found.temperatures, found.chains,
      result.partial ? "; stopped before the end, so this is partial" : "");
  out += "  over rows            " + error_over_rows(*j.free_energy, 2);
  if (j.clamped) out += fmt::format(" ({} random rows of {})", j.clamped->rows, result.rows);
  return out + "\n" +
         (j.annealed ? text_of(*j.annealed)
                     : fmt::format("log Z                  {:.4f} ({})\n", j.log_z->value, j.log_z->method));
}

std::string text_of(const FreeEnergy& energy, const std::optional<ClampedLogZ>& clamped) {
  if (!clamped) return fmt::format("free energy            {:.4f} nats a row\n", energy.mean.value);
  return fmt::format("free energy            {} (hidden units annealed at each row, {} temperatures, {} chains)\n",
                     bracket_of(energy.mean), clamped->mean.temperatures, clamped->mean.chains);
}

Judgement judged(const Rbm& model, const State& rows, Key key, const Context& context) {
  return judge(model, rows, key, context);
}
Judgement judged(const Boltzmann& model, const State& rows, Key, const Context& context) {
  return judge(model, rows, context);
}
Judgement judged(const Neural& model, const State& rows, Key, const Context& context) {
  return judge_energy(model, rows, context);
}

/// Along the stations, if there are any; a neural energy has none.
template <class Model>
std::unique_ptr<Path> path_of(const Model& machine, const std::vector<Parameters>& stations, const State& rows,
                              const Context& context) {
  return stations.empty() ? path_to(machine, rows, context) : path_through(machine, stations, rows, context);
}
std::unique_ptr<Path> path_of(const Neural& machine, const std::vector<Parameters>&, const State& rows,
                              const Context& context) {
  return path_to(machine, rows, context);
}

/// Only a machine on a graph may have hidden units that are too many to sum over. Says what is left of the budget.
template <class Model>
Budget add_clamped(EvaluateResult&, const Budget& budget, const Model&, const State&, Key, const Context&) {
  return budget;
}
Budget add_clamped(EvaluateResult& result, const Budget& budget, const Boltzmann& machine, const State& rows, Key key,
                   const Context& context) {
  if (why_no_exact_free_energy(machine).empty()) return budget;
  if (const auto found = spend_on_rows(budget, machine, rows, key, context)) {
    for (const std::string& doubt : doubts_about(*found)) context.warn(doubt + " (--budget)");
    add_clamped(result.judgement, *found);
  }
  return after_rows(budget);
}

void add_annealed(EvaluateResult& result, const std::optional<BudgetedLogZ>& annealed, const Context& context) {
  if (!annealed) return;
  for (const std::string& doubt : doubts_about(annealed->found)) context.warn(doubt + " (--budget)");
  add_annealed(result.judgement, annealed->found);
  result.partial = annealed->stopped;
}

}  // namespace

Spec EvaluateRequest::spec() {
  Spec out;
  out.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  add_data_options(out, data);
  add_split_option(out, split);
  out.group("Evaluation")
      .text("budget", budget,
            "how much annealing log Z is worth if it cannot be summed: temperatures, or seconds (30s); more narrow the "
            "bracket",
            "N")
      .path("path", path,
            "the folder of `ergodic train --trajectory`: annealing goes the way that training went, and samples are "
            "drawn by tempering along it")
      .count("seed", seed, 0, ~std::uint64_t{0},
             "names the random numbers of annealing, of the pseudo-likelihood and of the samples");
  out.group("Quality").flag("quality", quality, "hold samples of the machine against the data too");
  add_own_samples_options(out, sampling);
  return out;
}

EvaluateResult evaluate(const EvaluateRequest& request, const Context& context) {
  require(request.quality || request.sampling == OwnSamplesOptions{},
          "--count, --sweeps and --draws are for the samples of --quality; give that too");
  const Budget budget = budget_from(request.budget);
  const ModelFile file = load_model(request.model);
  const Key key{request.seed};
  const Layer visible = visible_of(file.machine);
  const std::vector<Parameters> stations = stations_in(request.path, file.machine);
  const Dataset data = load_split_for(visible, request.data, request.split);
  if (request.quality) require_enough_rows(data);
  const State rows = first_rows(visible, data, data.rows(), key);
  return std::visit(
      [&](const auto& machine) {
        EvaluateResult out{data.rows(), judged(machine, rows, key, context), "", false, std::nullopt};
        const Budget left = add_clamped(out, budget, machine, rows, key, context);
        if (!out.judgement.log_z && !context.stop_requested()) {
          const std::unique_ptr<Path> path = path_of(machine, stations, rows, context);
          add_annealed(out, spend(left, *path, rows, key, context), context);
        }
        if (!out.judgement.log_likelihood) out.why_no_log_z = "stopped before the end";
        if (request.quality) {
          const auto training = load_training_beside(visible, request.data, request.split);
          out.quality = quality_of(file.machine, stations, data, training, request.sampling, key, context);
        }
        return out;
      },
      file.machine);
}

std::string to_json(const EvaluateResult& result) {
  const Judgement& j = result.judgement;
  nlohmann::ordered_json out;
  out["rows"] = result.rows;
  out["log_likelihood"] = json_of(j.log_likelihood);
  out["log_z"] = json_of(j.log_z);
  if (!result.why_no_log_z.empty()) out["why_no_log_z"] = result.why_no_log_z;
  if (j.annealed) out["annealing"] = json_of(*j.annealed, result.partial);
  if (j.clamped) out["clamped"] = json_of(*j.clamped);
  out["free_energy"] = j.free_energy ? nlohmann::ordered_json(j.free_energy->mean.value) : nlohmann::ordered_json();
  if (j.free_energy && j.free_energy->rows > 1) out["row_standard_error"] = j.free_energy->row_error;
  if (j.pseudo_log_likelihood) {
    out["pseudo_log_likelihood"] = {{"value", *j.pseudo_log_likelihood}, {"standard_error", j.pseudo_standard_error}};
  }
  if (result.quality) out["quality"] = nlohmann::ordered_json::parse(to_json(*result.quality));
  return out.dump(2);
}

std::string to_text(const EvaluateResult& result) {
  const Judgement& j = result.judgement;
  std::string out = fmt::format("rows                   {}\n", result.rows);
  if (j.log_likelihood && (j.annealed || j.clamped)) {
    out += text_of(result, *j.log_likelihood);
  } else if (j.log_likelihood) {
    out += fmt::format("log-likelihood         {:.4f} nats a row ({}), {} over rows\n", j.log_likelihood->value,
                       j.log_likelihood->method, error_over_rows(*j.free_energy, 4));
    out += fmt::format("log Z                  {:.4f} ({})\n", j.log_z->value, j.log_z->method);
  } else {
    out += fmt::format("log-likelihood         not known: {}\n", result.why_no_log_z);
  }
  if (j.free_energy) out += text_of(*j.free_energy, j.clamped);
  if (j.pseudo_log_likelihood) {
    out += fmt::format("pseudo-log-likelihood  {:.2f} +- {:.2f} nats a row\n", *j.pseudo_log_likelihood,
                       j.pseudo_standard_error);
  }
  if (result.quality) out += to_text(*result.quality);
  return out;
}

}  // namespace ergodic
