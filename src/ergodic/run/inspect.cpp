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
  const Rbm& model = rbm_in(file, "inspect");
  InspectResult out;
  out.visible = units_of(model.visible());
  out.hidden = units_of(model.hidden());
  out.visible_type = name_of(model.visible());
  out.hidden_type = name_of(model.hidden());
  out.parameters = model.parameters().values().size();
  for (const Slot& slot : model.parameters().slots()) {
    out.ranges[slot.name] = range_of(model.parameters()[slot.name]);
  }
  out.notes = file.notes;
  out.verified = file.verified;
  if (!request.filters.empty()) {
    const PictureShape shape = shape_from_notes(file.notes, out.visible);
    write_png(request.filters, picture_of_filters(model, shape, request.filter_count));
  }
  return out;
}

std::string to_json(const InspectResult& result) {
  nlohmann::ordered_json out{{"model", "rbm"},
                             {"visible", result.visible},
                             {"visible_type", result.visible_type},
                             {"hidden", result.hidden},
                             {"hidden_type", result.hidden_type},
                             {"parameters", result.parameters},
                             {"digest", result.verified ? "agrees" : "none"}};
  for (const auto& [name, range] : result.ranges) {
    out["ranges"][name] = {
        {"smallest", range.smallest}, {"largest", range.largest}, {"root_mean_square", range.root_mean_square}};
  }
  out["notes"] = result.notes;
  return out.dump(2);
}

std::string to_text(const InspectResult& result) {
  std::string out =
      fmt::format("restricted Boltzmann machine\nvisible     {} {}\nhidden      {} {}\nparameters  {}\n",
                  result.visible, result.visible_type, result.hidden, result.hidden_type, result.parameters);
  out += fmt::format("digest      {}\n", digest_text(result.verified));
  for (const auto& [name, range] : result.ranges) {
    out += fmt::format("{:<12}  from {:.4g} to {:.4g}, root mean square {:.4g}\n", name, range.smallest, range.largest,
                       range.root_mean_square);
  }
  for (const auto& [name, value] : result.notes) out += fmt::format("{}: {}\n", name, value);
  return out;
}

}  // namespace ergodic
