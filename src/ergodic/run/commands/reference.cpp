#include "ergodic/run/commands/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ergodic/machine/kinds.hpp"
#include "ergodic/run/commands/json.hpp"

namespace ergodic {
namespace {

std::string takes(const Option& option) {
  if (!option.choices.empty()) {
    std::string out;
    for (const Choice& choice : option.choices) out += (out.empty() ? "" : ", ") + choice.name;
    return out;
  }
  const std::string range = option.range_text();
  return range.empty() ? option.placeholder : fmt::format("{}: {}", option.placeholder, range);
}

std::string meaning(const Option& option) {
  std::string out = option.help;
  std::string choices;
  for (const Choice& choice : option.choices) {
    if (!choice.help.empty())
      choices += fmt::format("{}`{}`: {}", choices.empty() ? "" : "; ", choice.name, choice.help);
  }
  if (!choices.empty()) out += fmt::format(" ({})", choices);
  if (!option.kinds.empty()) out += fmt::format(" [{}]", fmt::join(option.kinds, ", "));
  return out;
}

Json json_of(const Value& value) {
  return std::visit(
      []<class T>(const T& v) {
        if constexpr (std::is_same_v<T, Auto>)
          return Json();
        else
          return Json(v);
      },
      value);
}

Json json_of(const Option& option) {
  Json out{{"name", option.name}, {"group", option.group}, {"help", option.help}, {"type", name_of(option.type)}};
  out["default"] = json_of(option.default_value);
  if (option.may_be_automatic) out["automatic"] = option.automatic;
  if (option.range) out["range"] = {option.range->least, option.range->most};
  for (const Choice& choice : option.choices) out["choices"].push_back({{"name", choice.name}, {"help", choice.help}});
  if (option.role != PathRole::kNone) out["role"] = name_of(option.role);
  out["required"] = option.required;
  out["positional"] = option.positional;
  out["advanced"] = option.advanced;
  out["shapes_result"] = option.shapes_result;
  return out;
}

Json json_of(std::span<const Option> options) {
  Json out = Json::array();
  for (const Option& option : options) out.push_back(json_of(option));
  return out;
}

bool depends_on_kind(const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (!option.kinds.empty()) return true;
  }
  return false;
}

}  // namespace

std::string reference_page(std::span<const Command> commands, std::span<const Option> common) {
  const auto table = [](std::span<const Option> options) {
    std::string out = "| option | takes | default | meaning |\n|---|---|---|---|\n";
    for (const Option& option : options) {
      out += fmt::format("| `{}` | {} | {} | {} |\n", option.written(), takes(option),
                         option.required ? "required" : option.default_text(), meaning(option));
    }
    return out + "\n";
  };
  std::string out;
  for (const Command& command : commands) {
    out += fmt::format("### ergodic {}\n\n{}. Example:\n\n    {}\n\n", command.name, command.summary, command.example);
    const std::vector<Option> options = command.options("");
    if (!options.empty()) out += table(options);
  }
  return out + "### Options of every command\n\n" + table(common);
}

std::string reference_json(std::span<const Command> commands, std::span<const Option> common) {
  Json out{{"commands", Json::array()}, {"common", json_of(common)}};
  for (const Command& command : commands) {
    Json entry{{"name", command.name}, {"summary", command.summary}, {"example", command.example}};
    const std::vector<Option> options = command.options("");
    if (depends_on_kind(options)) {
      for (const MachineKind* kind : machine_kinds()) {
        entry["kinds"][std::string(kind->name)] = {
            {"title", kind->title}, {"help", kind->help}, {"options", json_of(command.options(kind->name))}};
      }
    } else {
      entry["options"] = json_of(options);
    }
    out["commands"].push_back(std::move(entry));
  }
  return printed(out);
}

}  // namespace ergodic
