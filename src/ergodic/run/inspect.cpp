#include "ergodic/run/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/store/hopfield_file.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {
namespace {

InspectResult::Range range_of(std::span<const float> values) {
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  double squares = 0.0;
  for (const float v : values) squares += double{v} * v;
  return {*smallest, *largest, std::sqrt(squares / static_cast<double>(values.size()))};
}

/// Adds what there is to say of some parameters.
void describe(InspectResult& out, const std::string& name, std::span<const float> values) {
  out.ranges[name] = range_of(values);
  out.parameters += values.size();
}

void describe(InspectResult& out, const Hopfield& network) {
  out.visible = network.units();
  describe(out, "couplings", network.couplings().elements());
  describe(out, "bias", network.bias());
}

void describe(InspectResult& out, const ModernHopfield& network) {
  out.visible = network.patterns().cols();
  out.patterns = network.patterns().rows();
  out.beta = network.beta();
  describe(out, "patterns", network.patterns().elements());
}

InspectResult inspect_hopfield(const InspectRequest& request) {
  require(request.filters.empty(), "a Hopfield network has no filters to draw; leave --filters out");
  const HopfieldFile file = load_hopfield(request.model);
  InspectResult out;
  out.kind = "hopfield";
  out.name = "Hopfield network";
  out.visible_type = Spin::kName;
  out.rule = file.rule;
  std::visit([&](const auto& network) { describe(out, network); }, file.network);
  out.notes = file.notes;
  out.verified = file.verified;
  return out;
}

const char* digest_text(bool verified) { return verified ? "agrees" : "none (written by another program)"; }

}  // namespace

Spec InspectRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a model file").positional().required();
  spec.group("Output")
      .path("filters", filters, "draw the weights of the strongest hidden units here (.png)")
      .count("filter-count", filter_count, 1, 100000, "how many of them");
  return spec;
}

InspectResult inspect(const InspectRequest& request) {
  require_writable(request.filters);
  if (is_hopfield(request.model)) return inspect_hopfield(request);
  const ModelFile file = load_model(request.model);
  InspectResult out;
  out.name = kind_of(file.machine);
  out.visible = units_of(visible_of(file.machine));
  out.visible_type = name_of(visible_of(file.machine));
  if (const auto* rbm = std::get_if<Rbm>(&file.machine)) {
    out.kind = "rbm";
    out.hidden = units_of(rbm->hidden());
    out.hidden_type = name_of(rbm->hidden());
  } else if (const auto* boltzmann = std::get_if<Boltzmann>(&file.machine)) {
    out.kind = "boltzmann";
    out.hidden = boltzmann->hidden();
    out.hidden_type = out.visible_type;
    out.edges = boltzmann->graph().edges();
  } else {
    out.kind = "neural";
    out.layers = std::get<Neural>(file.machine).hidden();
  }
  const Parameters& parameters =
      std::visit([](const auto& machine) -> const Parameters& { return machine.parameters(); }, file.machine);
  for (const Slot& slot : parameters.slots()) {
    if (slot.size > 0) describe(out, slot.name, parameters[slot.name]);
  }
  out.notes = file.notes;
  out.verified = file.verified;
  if (!request.filters.empty()) {
    const PictureShape shape = shape_from_notes(file.notes, out.visible);
    write_png(request.filters, picture_of_filters(rbm_in(file, "--filters"), shape, request.filter_count));
  }
  return out;
}

std::string to_json(const InspectResult& result) {
  nlohmann::ordered_json out{
      {"model", result.kind}, {"visible", result.visible}, {"visible_type", result.visible_type}};
  if (result.hidden > 0) {
    out["hidden"] = result.hidden;
    out["hidden_type"] = result.hidden_type;
  }
  if (result.edges) out["edges"] = *result.edges;
  if (!result.layers.empty()) out["layers"] = result.layers;
  if (!result.rule.empty()) out["rule"] = result.rule;
  if (result.patterns > 0) {
    out["patterns"] = result.patterns;
    out["beta"] = result.beta;
  }
  out["parameters"] = result.parameters;
  out["digest"] = result.verified ? "agrees" : "none";
  for (const auto& [name, range] : result.ranges) {
    out["ranges"][name] = {
        {"smallest", range.smallest}, {"largest", range.largest}, {"root_mean_square", range.root_mean_square}};
  }
  out["notes"] = result.notes;
  return out.dump(2);
}

std::string to_text(const InspectResult& result) {
  std::string out = fmt::format("{}\nvisible     {} {}\n", result.name, result.visible, result.visible_type);
  if (result.hidden > 0) out += fmt::format("hidden      {} {}\n", result.hidden, result.hidden_type);
  if (result.edges) out += fmt::format("edges       {}\n", *result.edges);
  if (!result.layers.empty()) out += fmt::format("layers      {}\n", fmt::join(result.layers, ", "));
  if (!result.rule.empty()) out += fmt::format("rule        {}\n", result.rule);
  if (result.patterns > 0) out += fmt::format("patterns    {}, beta {:.4g}\n", result.patterns, result.beta);
  out += fmt::format("parameters  {}\ndigest      {}\n", result.parameters, digest_text(result.verified));
  for (const auto& [name, range] : result.ranges) {
    out += fmt::format("{:<12}  from {:.4g} to {:.4g}, root mean square {:.4g}\n", name, range.smallest, range.largest,
                       range.root_mean_square);
  }
  for (const auto& [name, value] : result.notes) out += fmt::format("{}: {}\n", name, value);
  return out;
}

}  // namespace ergodic
