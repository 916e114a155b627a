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
  out.name = kind_of(file.machine);
  out.visible = units_of(visible_of(file.machine));
  out.visible_type = name_of(visible_of(file.machine));
  if (const Rbm* rbm = std::get_if<Rbm>(&file.machine)) {
    out.kind = "rbm";
    out.hidden = units_of(rbm->hidden());
    out.hidden_type = name_of(rbm->hidden());
  } else if (const Neural* neural = std::get_if<Neural>(&file.machine)) {
    out.kind = "neural";
    out.layers = neural->hidden();
  }
  const Parameters& parameters =
      std::visit([](const auto& machine) -> const Parameters& { return machine.parameters(); }, file.machine);
  out.parameters = parameters.values().size();
  for (const Slot& slot : parameters.slots()) out.ranges[slot.name] = range_of(parameters[slot.name]);
  out.notes = file.notes;
  out.verified = file.verified;
  if (!request.filters.empty()) {
    const PictureShape shape = shape_from_notes(file.notes, out.visible);
    write_png(request.filters, picture_of_filters(rbm_in(file, "a picture of filters"), shape, request.filter_count));
  }
  return out;
}

std::string to_json(const InspectResult& result) {
  nlohmann::ordered_json out{
      {"model", result.kind}, {"visible", result.visible}, {"visible_type", result.visible_type}};
  if (result.layers.empty()) {
    out["hidden"] = result.hidden;
    out["hidden_type"] = result.hidden_type;
  } else {
    out["layers"] = result.layers;
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
  if (result.layers.empty()) {
    out += fmt::format("hidden      {} {}\n", result.hidden, result.hidden_type);
  } else {
    out += fmt::format("layers      {}\n", fmt::join(result.layers, ", "));
  }
  out += fmt::format("parameters  {}\n", result.parameters);
  out += fmt::format("digest      {}\n", digest_text(result.verified));
  for (const auto& [name, range] : result.ranges) {
    out += fmt::format("{:<12}  from {:.4g} to {:.4g}, root mean square {:.4g}\n", name, range.smallest, range.largest,
                       range.root_mean_square);
  }
  for (const auto& [name, value] : result.notes) out += fmt::format("{}: {}\n", name, value);
  return out;
}

}  // namespace ergodic
