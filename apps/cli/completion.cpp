#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "ergodic/core/error.hpp"
#include "ergodic/core/spelling.hpp"
#include "ergodic/run/commands/data.hpp"

namespace ergodic::cli {
namespace {

/// All options of a command, those of every command included.
std::vector<Option> options_of(const Command& command) {
  std::vector<Option> out = command.options("");
  for (Option& option : common_options()) out.push_back(std::move(option));
  return out;
}

std::vector<std::string> names_of(const std::vector<Choice>& choices) {
  std::vector<std::string> out;
  for (const Choice& choice : choices) out.push_back(choice.name);
  return out;
}

std::string option_words(const Command& command) {
  std::string out;
  for (const Option& option : options_of(command)) {
    if (!option.positional) out += "--" + option.name + " ";
  }
  return out + "--help";
}

/// First words: "train", "data", ...
std::set<std::string> first_words(const std::vector<Command>& commands) {
  std::set<std::string> out{"completion", "help", "reference"};
  for (const Command& command : commands) out.insert(command.name.substr(0, command.name.find(' ')));
  return out;
}

/// The second words of those that have them: "list", "get" and "show" of "data".
std::map<std::string, std::vector<std::string>> second_words(const std::vector<Command>& commands) {
  std::map<std::string, std::vector<std::string>> out;
  for (const Command& command : commands) {
    const auto space = command.name.find(' ');
    if (space != std::string::npos) out[command.name.substr(0, space)].push_back(command.name.substr(space + 1));
  }
  return out;
}

/// The values that an option takes, if they are known, over all commands.
std::set<std::pair<std::string, std::string>> known_values(const std::vector<Command>& commands) {
  std::set<std::pair<std::string, std::string>> out;
  for (const Command& command : commands) {
    for (const Option& option : options_of(command)) {
      if (!option.choices.empty())
        out.emplace(option.name, fmt::format("{}", fmt::join(names_of(option.choices), " ")));
    }
  }
  return out;
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string values, options, seconds;
  for (const auto& [first, words] : second_words(commands)) {
    seconds += fmt::format("      {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", first,
                           fmt::join(words, " "));
  }
  for (const auto& [name, choices] : known_values(commands)) {
    values += fmt::format("      --{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", name, choices);
  }
  for (const Command& command : commands) {
    options += fmt::format("    \"{} \"*) words=\"{}\" ;;\n", command.name, option_words(command));
  }
  return fmt::format(R"(# bash completion for ergodic
_ergodic() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W "{}" -- "$word")); return; fi
  if [[ $word != -* ]]; then
    case "$before" in
{}      get) COMPREPLY=($(compgen -W "{}" -- "$word")); return ;;
      help) COMPREPLY=($(compgen -W "{}" -- "$word")); return ;;
      completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")); return ;;
      --data) COMPREPLY=($(compgen -W "{}" -f -- "$word")); return ;;
{}    esac
    COMPREPLY=($(compgen -f -- "$word"))
    return
  fi
  case "${{COMP_WORDS[*]:1}}" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o filenames -F _ergodic ergodic
)",
                     fmt::join(first_words(commands), " "), seconds, fmt::join(sets_to_fetch(), " "),
                     fmt::join(first_words(commands), " "), fmt::join(names_of_sets(), " "), values, options);
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string out = "# fish completion for ergodic\n", parents;
  for (const auto& [first, words] : second_words(commands)) parents += " " + first;
  for (const Command& command : commands) {
    const auto space = command.name.find(' ');
    const std::string first = command.name.substr(0, space);
    const std::string last = space == std::string::npos ? first : command.name.substr(space + 1);
    const std::string place =
        space == std::string::npos ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + first;
    out += fmt::format("complete -c ergodic -n '{}' -a {} -d '{}'\n", place, last, command.summary);
    const std::string here =
        space == std::string::npos
            ? fmt::format("__fish_seen_subcommand_from {}; and not __fish_seen_subcommand_from{}", first, parents)
            : fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}", first, last);
    for (const Option& option : options_of(command)) {
      if (option.positional) continue;
      std::string takes = option.is_flag() ? "" : " -r";
      if (!option.choices.empty()) takes = fmt::format(" -x -a '{}'", fmt::join(names_of(option.choices), " "));
      out += fmt::format("complete -c ergodic -n '{}' -l {}{}\n", here, option.name, takes);
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<Command>& commands) {
  if (shell == "bash") return bash_script(commands);
  // zsh runs bash completions through its own layer.
  if (shell == "zsh") return "#compdef ergodic\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(commands);
  if (shell == "fish") return fish_script(commands);
  const std::vector<std::string> known{"bash", "zsh", "fish"};
  throw UsageError(
      fmt::format("no completion for '{}'; there are: bash, zsh, fish{}", shell, did_you_mean(shell, known)));
}

}  // namespace ergodic::cli
