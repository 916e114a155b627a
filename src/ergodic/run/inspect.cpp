#include "ergodic/run/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {
namespace {

InspectResult::Range range_of(std::span<const float> values) {
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  double squares = 0.0;
  for (const float v : values) squares += double{v} * v;
  return {*smallest, *largest, std::sqrt(squares / static_cast<double>(values.size()))};
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
  const ModelFile file = load_model(request.model);
  InspectResult out;
  if (const auto* boltzmann = std::get_if<Boltzmann>(&file.machine)) {
    require(request.filters.empty(),
            "--filters draws what each hidden unit of a restricted Boltzmann machine sees; a machine on a graph has "
            "couplings between any units");
    out.model = "boltzmann";
    out.visible = boltzmann->visible();
    out.hidden = boltzmann->hidden();
    out.visible_type = out.hidden_type = name_of(boltzmann->units());
    out.edges = boltzmann->graph().edges();
  } else {
    const Rbm& rbm = rbm_in(file, "inspect");
    out.visible = units_of(rbm.visible());
    out.hidden = units_of(rbm.hidden());
    out.visible_type = name_of(rbm.visible());
    out.hidden_type = name_of(rbm.hidden());
  }
  out.kind = kind_of(file.machine);
  const Parameters& parameters =
      std::visit([](const auto& machine) -> const Parameters& { return machine.parameters(); }, file.machine);
  out.parameters = parameters.values().size();
  for (const Slot& slot : parameters.slots()) {
    if (slot.size > 0) out.ranges[slot.name] = range_of(parameters[slot.name]);
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
  nlohmann::ordered_json out{{"model", result.model},
                             {"visible", result.visible},
                             {"visible_type", result.visible_type},
                             {"hidden", result.hidden},
                             {"hidden_type", result.hidden_type},
                             {"parameters", result.parameters},
                             {"digest", result.verified ? "agrees" : "none"}};
  if (result.edges) out["edges"] = *result.edges;
  for (const auto& [name, range] : result.ranges) {
    out["ranges"][name] = {
        {"smallest", range.smallest}, {"largest", range.largest}, {"root_mean_square", range.root_mean_square}};
  }
  out["notes"] = result.notes;
  return out.dump(2);
}

std::string to_text(const InspectResult& result) {
  std::string out =
      fmt::format("{}\nvisible     {} {}\nhidden      {} {}\nparameters  {}\n", result.kind, result.visible,
                  result.visible_type, result.hidden, result.hidden_type, result.parameters);
  if (result.edges) out += fmt::format("edges       {}\n", *result.edges);
  out += fmt::format("digest      {}\n", digest_text(result.verified));
  for (const auto& [name, range] : result.ranges) {
    out += fmt::format("{:<12}  from {:.4g} to {:.4g}, root mean square {:.4g}\n", name, range.smallest, range.largest,
                       range.root_mean_square);
  }
  for (const auto& [name, value] : result.notes) out += fmt::format("{}: {}\n", name, value);
  return out;
}

}  // namespace ergodic
