#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <span>
#include <sstream>
#include <utility>

#include "completion.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/run/environment.hpp"
#include "reference.hpp"

namespace ergodic::cli {
namespace {

using Given = std::map<std::string, std::string>;

constexpr std::size_t kOptionColumns = 34;  // of the help: the options' names
constexpr std::size_t kHelpColumns = 76;    // and what they mean

/// Text broken into lines at blanks; CLI11 indents them.
std::string wrapped(const std::string& text) {
  std::string out, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kHelpColumns) {
      out += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

/// The help of an option, with its default.
std::string help_text(const Option& option) {
  if (option.required) return wrapped(option.help + " (required)");
  if (option.standard.empty()) return wrapped(option.help);
  return wrapped(fmt::format("{} (default {})", option.help, option.standard));
}

/// Declares one option to CLI11; its value is only noted, and set later by the Spec.
void declare(CLI::App& app, const Option& option, Given& given) {
  const std::string help = help_text(option);
  const auto note = [&given, name = option.name](const std::string& value) { given[name] = value; };
  CLI::Option* declared = nullptr;
  if (option.is_flag()) {
    declared = app.add_flag_callback(
        "--" + option.name, [note] { note("true"); }, help);
  } else {
    declared = app.add_option_function<std::string>(option.positional ? option.name : "--" + option.name, note, help);
    declared->option_text(option.choices.empty() ? option.placeholder
                                                 : fmt::format("{}", fmt::join(option.choices, "|")));
  }
  if (!option.group.empty()) declared->group(option.group);
}

/// The app of a command; "data get" lies under an app "data".
CLI::App& app_for(CLI::App& root, const Command& command) {
  CLI::App* parent = &root;
  std::string last = command.name;
  if (const auto space = last.find(' '); space != std::string::npos) {
    const std::string first = last.substr(0, space);
    last = last.substr(space + 1);
    const auto known = root.get_subcommands([&](const CLI::App* a) { return a->get_name() == first; });
    parent = known.empty() ? root.add_subcommand(first, "data sets: list, get, show")->require_subcommand(1) : known[0];
  }
  CLI::App& app = *parent->add_subcommand(last, command.summary);
  app.footer("Example:\n  " + command.example);
  return app;
}

struct Program {
  CLI::App root{"Ergodic: machines that learn by energy."};
  std::vector<std::pair<CLI::App*, Command*>> apps;
  std::map<const Command*, Given> given;
  std::string shell;
  CLI::App* completion = nullptr;
  CLI::App* reference = nullptr;

  explicit Program(std::vector<Command>& commands) {
    root.require_subcommand(1);
    root.set_version_flag("--version", "ergodic " + version_text());
    root.footer(
        "Start with:\n  ergodic data get mnist\n  ergodic train --data mnist --out m.safetensors\n"
        "`ergodic COMMAND --help` explains a command.");
    root.name("ergodic");
    root.get_formatter()->column_width(kOptionColumns);
    for (Command& command : commands) {
      CLI::App& app = app_for(root, command);
      for (const Option& option : command.spec.options()) declare(app, option, given[&command]);
      apps.emplace_back(&app, &command);
    }
    completion = root.add_subcommand("completion", "print a completion script for a shell");
    completion->add_option("shell", shell, "bash, zsh or fish")->required()->option_text("SHELL");
    completion->footer("Example:\n  ergodic completion bash > ~/.local/share/bash-completion/completions/ergodic");
    reference = root.add_subcommand("reference", "print all commands and options as Markdown");
  }
};

/// UsageError if the words begin with a command that is not there; CLI11 would only say that one is missing.
void require_known_command(const CLI::App& app, std::span<const std::string> words) {
  if (words.empty() || words[0].starts_with("-")) return;
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  if (names.empty()) return;
  require(std::find(names.begin(), names.end(), words[0]) != names.end(),
          fmt::format("unknown command '{}'; there are: {}", words[0], fmt::join(names, ", ")));
  require_known_command(*app.get_subcommand(words[0]), words.subspan(1));
}

Given values_in(const std::string& file, const Spec& spec) {
  Given values = read_config(file);
  for (const auto& [name, value] : values) {
    require(spec.find(name) != nullptr, fmt::format("{}: unknown option '{}'", file, name));
  }
  return values;
}

}  // namespace

ParsedLine parse(const std::vector<std::string>& words, std::vector<Command>& commands) {
  Program program(commands);
  require_known_command(program.root, words);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  try {
    program.root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {nullptr, program.root.help()};
  } catch (const CLI::CallForVersion& e) {
    return {nullptr, std::string(e.what()) + "\n"};
  } catch (const CLI::ParseError& e) {
    throw UsageError(fmt::format("{}; --help shows what there is", e.what()));
  }
  if (program.completion->parsed()) return {nullptr, completion_script(program.shell, commands)};
  if (program.reference->parsed()) return {nullptr, reference_page(commands)};
  for (const auto& [app, command] : program.apps) {
    if (!app->parsed()) continue;
    const Given& given = program.given[command];
    const auto config = given.find("config");
    command->spec.apply(config == given.end() ? Given{} : values_in(config->second, command->spec), given);
    return {command, ""};
  }
  throw UsageError("no command; --help shows what there is");
}

}  // namespace ergodic::cli
