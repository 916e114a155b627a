#include "ergodic/run/commands/json.hpp"

#include <algorithm>
#include <cmath>

namespace ergodic {
namespace {

Json json_of(const AnnealedSide& side) {
  return {{"value", side.value}, {"standard_error", side.standard_error}, {"effective_chains", side.effective_chains}};
}

Json json_of(const AnnealedLogZ& found, bool partial) {
  return {{"temperatures", found.temperatures},
          {"chains", found.chains},
          {"partial", partial},
          {"forward", json_of(found.forward)},
          {"backward", json_of(found.backward)}};
}

/// Free energies that were annealed.
Json json_of(const ClampedLogZ& found) {
  return {{"rows", found.rows},
          {"temperatures", found.mean.temperatures},
          {"chains", found.mean.chains},
          {"free_energy", ergodic::json_of(std::optional(mean_free_energy(found).mean))},
          {"forward", json_of(found.mean.forward)},
          {"backward", json_of(found.mean.backward)}};
}

Json json_of(const Diagnosis& diagnosis) {
  return {{"mean", diagnosis.mean},         {"standard_error", diagnosis.standard_error},
          {"r_hat", diagnosis.r_hat},       {"ess_bulk", diagnosis.ess_bulk},
          {"ess_tail", diagnosis.ess_tail}, {"autocorrelation_time", diagnosis.autocorrelation_time}};
}

Json json_of(const Agreement& a) {
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(); };
  return {{"count", a.count},
          {"correlation", number(a.correlation)},
          {"correlation_error", number(a.correlation_error)},
          {"slope", number(a.slope)},
          {"slope_error", number(a.slope_error)},
          {"ceiling", number(a.ceiling)}};
}

Json json_of(const Mean& mean) { return {{"value", mean.value}, {"standard_error", mean.standard_error}}; }

/// A likelihood that is at least this.
Json bound_of(const Estimate& estimate, std::size_t draws) {
  Json out = ergodic::json_of(std::optional(estimate));
  out["bound"] = "lower";
  out["draws"] = draws;
  return out;
}

}  // namespace

Json json_of(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value},
          {"lower", estimate->lower},
          {"upper", estimate->upper},
          {"standard_error", estimate->standard_error},
          {"method", estimate->method}};
}

Json json_of(const EvaluateResult& result) {
  const Evaluation& e = result.evaluation;
  Json out;
  out["rows"] = result.rows;
  const bool bound = e.bound_draws > 0;
  out["log_likelihood"] = bound ? Json() : json_of(e.log_likelihood);
  if (bound && e.log_likelihood) out["log_likelihood_bound"] = bound_of(*e.log_likelihood, e.bound_draws);
  out["log_z"] = json_of(e.log_z);
  if (result.rows > 0) {
    out["independent_log_likelihood"] = {{"value", result.independent},
                                         {"means", result.means_of_training ? "training rows" : "these rows"}};
  }
  if (!result.why_no_log_z.empty()) out["why_no_log_z"] = result.why_no_log_z;
  if (e.annealed) out["annealing"] = json_of(*e.annealed, result.partial);
  if (e.clamped) out["clamped"] = json_of(*e.clamped);
  out[bound ? "free_energy_bound" : "free_energy"] = e.free_energy ? Json(e.free_energy->mean.value) : Json();
  if (bound && e.free_energy) out["bounded_rows"] = e.free_energy->rows;
  if (e.free_energy && e.free_energy->rows > 1) out["row_standard_error"] = e.free_energy->row_error;
  if (e.pseudo_log_likelihood) {
    out["pseudo_log_likelihood"] = {{"value", *e.pseudo_log_likelihood}, {"standard_error", e.pseudo_standard_error}};
  }
  return out;
}

Json json_of(const FinalLikelihood& found) {
  Json out = found.bound_draws > 0 ? bound_of(found.log_likelihood, found.bound_draws)
                                   : json_of(std::optional(found.log_likelihood));
  out["row_standard_error"] = found.row_error;
  out["rows"] = found.rows;
  out["held_out"] = found.held_out;
  out["temperatures"] = found.temperatures;
  return out;
}

Json mixed_of(const MixingReport& report) {
  return report.verdict.mixing == Mixing::kUnknown ? Json() : Json(report.verdict.mixing == Mixing::kYes);
}

Json json_of(const MixingReport& report) {
  Json out{{"mixed", mixed_of(report)}};
  if (!report.verdict.reason.empty()) out["reason"] = report.verdict.reason;
  out["chains"] = report.chains;
  out["draws"] = report.draws;
  out["every"] = report.every;
  out["quantities"] = Json::object();
  for (const auto& quantity : report.quantities) {
    std::string key = quantity.name;
    std::ranges::replace(key, ' ', '_');
    out["quantities"][key] = json_of(quantity.diagnosis);
  }
  return out;
}

Json json_of(const Comparison& comparison) {
  return {{"means", json_of(comparison.means)}, {"correlations", json_of(comparison.correlations)}};
}

Json json_of(const Quality& quality) {
  Json out{{"rows", quality.rows}, {"samples", quality.samples}, {"mixed", mixed_of(quality.mixing)}};
  if (!quality.swapped.empty()) out["swapped"] = quality.swapped;
  out["nearest_neighbours"] = {{"data", json_of(quality.neighbours.data)},
                               {"samples", json_of(quality.neighbours.samples)}};
  out["energy"] = {{"data", json_of(quality.data_energy)},
                   {"samples", json_of(quality.sample_energy)},
                   {"distance", quality.energy_gap.distance},
                   {"critical_distance", quality.energy_gap.critical}};
  if (quality.training_energy) {
    out["energy"]["training"] = json_of(*quality.training_energy);
    out["energy"]["gap"] = json_of(quality.free_energy_gap());
  }
  out.update(json_of(quality.moments));
  return out;
}

void add_facts(Json& out, const Facts& facts) {
  for (const auto& [name, value] : facts) {
    out[name] = std::visit(
        []<class T>(const T& v) {
          if constexpr (std::is_same_v<T, std::monostate>)
            return Json();
          else
            return Json(v);
        },
        value);
  }
}

std::string printed(const Json& json) { return json.dump(2) + "\n"; }

}  // namespace ergodic
