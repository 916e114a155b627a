#include "ergodic/run/evaluate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ergodic/core/error.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact.hpp"
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

/// Why there is no log Z.
std::string why_not(const Rbm& model) {
  const double bits = enumerated_bits(model), most = most_enumerated_bits(model);
  if (bits <= most) return "stopped before the end";
  return fmt::format("the smaller layer has {:.0f} units, and exact enumeration goes up to {:.0f}", bits, most);
}

std::string why_not(const Boltzmann& model) {
  const std::string reason = why_no_exact_log_z(model);
  return reason.empty() ? "stopped before the end" : reason;
}

std::string why_not(const Neural& model) {
  if (exactly_summable(model.units())) return "stopped before the end";
  return fmt::format("the energy has {} real units, and quadrature goes up to {}", units_of(model.units()),
                     kMaxIntegratedUnits);
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

}  // namespace

Spec EvaluateRequest::spec() {
  Spec out;
  out.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  add_data_options(out, data);
  add_split_option(out, split);
  out.group("Evaluation")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names the random numbers of the pseudo-likelihood and the samples");
  out.group("Quality").flag("quality", quality, "hold samples of the machine against the data too");
  add_own_samples_options(out, sampling);
  return out;
}

EvaluateResult evaluate(const EvaluateRequest& request, const Context& context) {
  require(request.quality || request.sampling == OwnSamplesOptions{},
          "--count, --sweeps and --draws are for the samples of --quality; give that too");
  const ModelFile file = load_model(request.model);
  const Key key{request.seed};
  const Layer visible = visible_of(file.machine);
  const Dataset data = load_split_for(visible, request.data, request.split);
  const State rows = first_rows(visible, data, data.rows(), key);
  return std::visit(
      [&](const auto& machine) {
        EvaluateResult out{data.rows(), judged(machine, rows, key, context), "", std::nullopt};
        if (!out.judgement.log_z) out.why_no_log_z = why_not(machine);
        if (request.quality) out.quality = quality_of(file.machine, data, request.sampling, key, context);
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
  out["free_energy"] = j.free_energy;
  if (j.pseudo_log_likelihood) {
    out["pseudo_log_likelihood"] = {{"value", *j.pseudo_log_likelihood}, {"standard_error", j.pseudo_standard_error}};
  }
  if (result.quality) out["quality"] = nlohmann::ordered_json::parse(to_json(*result.quality));
  return out.dump(2);
}

std::string to_text(const EvaluateResult& result) {
  const Judgement& j = result.judgement;
  std::string out = fmt::format("rows                   {}\n", result.rows);
  if (j.log_likelihood) {
    out += fmt::format("log-likelihood         {:.4f} nats a row ({})\n", j.log_likelihood->value,
                       j.log_likelihood->method);
    out += fmt::format("log Z                  {:.4f} ({})\n", j.log_z->value, j.log_z->method);
  } else {
    out += fmt::format("log-likelihood         not known: {}\n", result.why_no_log_z);
  }
  if (!std::isnan(j.free_energy)) out += fmt::format("free energy            {:.4f} nats a row\n", j.free_energy);
  if (j.pseudo_log_likelihood) {
    out += fmt::format("pseudo-log-likelihood  {:.2f} +- {:.2f} nats a row\n", *j.pseudo_log_likelihood,
                       j.pseudo_standard_error);
  }
  if (result.quality) out += to_text(*result.quality);
  return out;
}

}  // namespace ergodic
