// `ergodic inspect`: what is in a model file.
#include "ergodic/run/inspect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ergodic/core/error.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/report/text.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct InspectRequest {
  std::filesystem::path model;
  std::filesystem::path filters;
  std::uint64_t filter_count = 100;
};

Spec<InspectRequest> make_spec() {
  Spec<InspectRequest> spec;
  add_model_file(spec, &InspectRequest::model, "a model file");
  spec.group("Output")
      .add("filters", &InspectRequest::filters, "draw the weights of the strongest hidden units here (.png)")
      .role(PathRole::kOutput)
      .add("filter-count", &InspectRequest::filter_count, "how many of them")
      .range(1, 100000);
  return spec;
}

Json json_of_result(const Inspection& found, const ModelFile& file) {
  Json out{{"model", found.kind}, {"visible", units_of(found.visible)}, {"visible_type", name_of(found.visible)}};
  add_facts(out, found.facts);
  out["parameters"] = found.parameters;
  out["digest"] = file.verified ? "agrees" : "none";
  for (const auto& [name, range] : found.ranges) {
    out["ranges"][name] = {
        {"smallest", range.smallest}, {"largest", range.largest}, {"root_mean_square", range.root_mean_square}};
  }
  out["notes"] = file.notes;
  return out;
}

std::string text_of_fact(const FactValue& value) {
  struct {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(std::uint64_t count) const { return std::to_string(count); }
    std::string operator()(double number) const { return fmt::format("{:.4g}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::uint64_t>& counts) const {
      return fmt::format("{}", fmt::join(counts, ", "));
    }
  } writer;
  return std::visit(writer, value);
}

/// Text of the file, which may be of any length and hold anything.
std::string shown(const std::string& text) {
  constexpr std::size_t kLongest = 4000;
  return one_line(text.substr(0, kLongest)) +
         (text.size() > kLongest ? fmt::format("... ({} bytes)", text.size()) : "");
}

std::string text_of_result(const Inspection& found, const ModelFile& file) {
  const auto row = [](const std::string& name, const std::string& value) {
    return fmt::format("{:<12}{}\n", name, value);
  };
  std::string out =
      found.title + "\n" + row("visible", fmt::format("{} {}", units_of(found.visible), name_of(found.visible)));
  for (const auto& [name, value] : found.facts) out += row(name, shown(text_of_fact(value)));
  out += row("parameters", std::to_string(found.parameters)) +
         row("digest", file.verified ? "agrees" : "none (written by another program)");
  for (const auto& [name, range] : found.ranges) {
    out += fmt::format("{:<12}  from {:.4g} to {:.4g}, root mean square {:.4g}\n", name, range.smallest, range.largest,
                       range.root_mean_square);
  }
  for (const auto& [name, value] : file.notes) out += fmt::format("{}: {}\n", shown(name), shown(value));
  return out;
}

Outcome run(const InspectRequest& request, bool json, const Context&) {
  require_writable(request.filters);
  const ModelFile file = load_model(request.model);
  const Inspection found = inspect(*file.machine);
  if (!request.filters.empty()) {
    const auto picture =
        file.machine->filters(shape_from_notes(file.notes, units_of(found.visible)), request.filter_count);
    require(picture.has_value(),
            fmt::format("--filters needs a restricted Boltzmann machine, found a {}", found.title));
    write_png(request.filters, *picture);
  }
  return {json ? printed(json_of_result(found, file)) : text_of_result(found, file), "", false};
}

}  // namespace

Command inspect_command() {
  return command_of("inspect", "show what is in a model file",
                    "ergodic inspect digits.safetensors --filters filters.png", make_spec(), run);
}

}  // namespace ergodic
