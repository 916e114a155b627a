#include "ergodic/run/commands/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"

namespace ergodic {
namespace {

constexpr char kModelOption[] = "model";

const Option* find(const std::vector<Option>& options, const std::string& name) {
  const auto found = std::ranges::find(options, name, &Option::name);
  return found == options.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Command> all_commands() {
  return {train_command(),
          evaluate_command(),
          sample_command(),
          score_command(),
          features_command(),
          complete_command(),
          compare_command(),
          compare_runs_command(),
          reconstruct_command(),
          recall_command(),
          inspect_command(),
          classify_fit_command(),
          classify_predict_command(),
          classify_evaluate_command(),
          data_list_command(),
          data_get_command(),
          data_show_command()};
}

std::string kind_asked_for(const Command& command, const std::string& model) {
  const std::vector<Option> options = command.options("");
  const Option* option = find(options, kModelOption);
  if (!option || option->positional) return "";
  return find_kind(model) ? model : std::string(machine_kinds()[0]->name);
}

Settings settings_from(const Command& command, const std::map<std::string, std::string>& texts) {
  const auto model = texts.find(kModelOption);
  const std::string kind = kind_asked_for(command, model == texts.end() ? "" : model->second);
  const std::vector<Option> options = command.options(kind), all = command.options("");
  Settings out;
  std::vector<std::string> foreign;
  for (const auto& [name, text] : texts) {
    if (const Option* option = find(options, name)) {
      out[name] = parse_value(*option, text);
      continue;
    }
    const Option* other = find(all, name);
    require(other != nullptr, fmt::format("unknown option --{}", name));
    foreign.push_back(
        fmt::format("--{} is for --model {}, not for --model {}", name, fmt::join(other->kinds, " or "), kind));
  }
  require(foreign.empty(),
          fmt::format("{}; leave {} out", fmt::join(foreign, "; "), foreign.size() == 1 ? "it" : "them"));
  for (const Option& option : options) {
    const auto given = out.find(option.name);
    const bool empty = given == out.end() || text_of(given->second).empty();
    require(!option.required || !empty,
            fmt::format("{} is required; `ergodic help {}` shows what it takes", option.written(), command.name));
  }
  return out;
}

}  // namespace ergodic
