#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <span>
#include <sstream>

#include "completion.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/option/spec.hpp"
#include "ergodic/run/commands/config.hpp"
#include "ergodic/run/commands/reference.hpp"
#include "ergodic/run/environment.hpp"

namespace ergodic::cli {
namespace {

using Given = std::map<std::string, std::string>;

constexpr std::size_t kOptionColumns = 34;  // of the help: the options' names
constexpr std::size_t kHelpColumns = 76;    // and what they mean

const Spec<Common>& common_spec() {
  static const Spec<Common> spec = [] {
    Spec<Common> out;
    out.group("General")
        .add("threads", &Common::threads, "threads to use; the result is the same for any number")
        .range(1, 1024)
        .automatic("one for each core")
        .add("json", &Common::json, "print one JSON object on standard output")
        .add("quiet", &Common::quiet, "print nothing but warnings and errors")
        .add("config", &Common::config,
             "a file of options, a line `name = value` each; the command line goes before it")
        .role(PathRole::kInput);
    return out;
  }();
  return spec;
}

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

/// The help of an option: what it means, its range, its default, and a line for each choice.
std::string help_text(const Option& option) {
  std::vector<std::string> remarks;
  if (const std::string range = option.range_text(); !range.empty()) remarks.push_back(range);
  if (option.required) remarks.emplace_back("required");
  if (const std::string text = option.default_text(); !option.required && !text.empty()) {
    remarks.push_back("default " + text);
  }
  std::string out =
      wrapped(remarks.empty() ? option.help : fmt::format("{} ({})", option.help, fmt::join(remarks, "; ")));
  for (const Choice& choice : option.choices) {
    if (!choice.help.empty()) out += "\n" + wrapped(fmt::format("- {}: {}", choice.name, choice.help));
  }
  return out;
}

/// Declares one option to CLI11; its value is only noted, and read later.
void declare(CLI::App& app, const Option& option, Given& given) {
  const std::string help = help_text(option);
  const auto note = [&given, name = option.name](const std::string& value) { given[name] = value; };
  CLI::Option* declared = nullptr;
  if (option.is_flag()) {
    declared = app.add_flag_callback(
        "--" + option.name, [note] { note("true"); }, help);
  } else {
    declared = app.add_option_function<std::string>(option.positional ? option.name : "--" + option.name, note, help);
    std::vector<std::string> names;
    for (const Choice& choice : option.choices) names.push_back(choice.name);
    declared->option_text(names.empty() ? option.placeholder : fmt::format("{}", fmt::join(names, "|")));
  }
  if (!option.group.empty()) declared->group(option.group);
}

/// Groups as they come, and in each the options that are seldom needed last.
std::vector<Option> in_order_of_help(std::vector<Option> options) {
  std::vector<std::string> groups;
  for (const Option& option : options) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  const auto rank = [&](const Option& option) {
    return std::pair(std::ranges::find(groups, option.group) - groups.begin(), option.advanced);
  };
  std::ranges::stable_sort(options, {}, rank);
  return options;
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

/// What the words say after --model, so that help shows what that kind of machine takes.
std::string model_in(std::span<const std::string> words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == "--model" && k + 1 < words.size()) return words[k + 1];
    if (words[k].starts_with("--model=")) return words[k].substr(std::string_view("--model=").size());
  }
  return "";
}

struct Program {
  CLI::App root{"Ergodic: machines that learn by energy."};
  std::vector<std::pair<CLI::App*, const Command*>> apps;
  std::map<const Command*, Given> given;
  std::string shell;
  bool reference_as_json = false;
  CLI::App* completion = nullptr;
  CLI::App* reference = nullptr;

  Program(const std::vector<Command>& commands, std::span<const std::string> words) {
    root.require_subcommand(1);
    root.set_version_flag("--version", "ergodic " + version_text());
    root.footer(
        "Start with:\n  ergodic data get mnist\n  ergodic train --data mnist --out m.safetensors\n"
        "`ergodic COMMAND --help` explains a command; `ergodic train --model KIND --help` a kind of machine.");
    root.name("ergodic");
    root.get_formatter()->column_width(kOptionColumns);
    const bool help =
        std::ranges::find(words, "--help") != words.end() || std::ranges::find(words, "-h") != words.end();
    for (const Command& command : commands) {
      CLI::App& app = app_for(root, command);
      const std::string model = model_in(words);
      const std::string kind = help && !model.empty() ? kind_asked_for(command, model) : "";
      for (const Option& option : in_order_of_help(command.options(kind))) declare(app, option, given[&command]);
      for (const Option& option : common_options()) declare(app, option, given[&command]);
      apps.emplace_back(&app, &command);
    }
    completion = root.add_subcommand("completion", "print a completion script for a shell");
    completion->add_option("shell", shell, "bash, zsh or fish")->required()->option_text("SHELL");
    completion->footer("Example:\n  ergodic completion bash > ~/.local/share/bash-completion/completions/ergodic");
    reference = root.add_subcommand("reference", "print all commands and options as Markdown or JSON");
    reference->add_flag("--json", reference_as_json, "print JSON, for programs");
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

/// The texts of a command and its config file, apart from the common options, which are set.
Given separate(const Command& command, const Given& given, Common& common) {
  Given texts;
  if (const auto config = given.find("config"); config != given.end()) {
    texts = read_config(config->second);
    const std::vector<Option> known = command.options("");
    for (const auto& [name, value] : texts) {
      require(common_spec().find(name) || std::ranges::find(known, name, &Option::name) != known.end(),
              fmt::format("{}: unknown option '{}'", config->second, name));
    }
  }
  for (const auto& [name, value] : given) texts[name] = value;
  Settings of_all;
  for (const auto& bound : common_spec().bound()) {
    const auto text = texts.find(bound.option.name);
    if (text == texts.end()) continue;
    of_all[bound.option.name] = parse_value(bound.option, text->second);
    texts.erase(text);
  }
  common_spec().apply(common, of_all);
  return texts;
}

}  // namespace

std::vector<Option> common_options() { return common_spec().options(); }

ParsedLine parse(const std::vector<std::string>& words, const std::vector<Command>& commands) {
  Program program(commands, words);
  require_known_command(program.root, words);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  ParsedLine out;
  try {
    program.root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    out.output = program.root.help();
    return out;
  } catch (const CLI::CallForVersion& e) {
    out.output = std::string(e.what()) + "\n";
    return out;
  } catch (const CLI::ParseError& e) {
    throw UsageError(fmt::format("{}; --help shows what there is", e.what()));
  }
  if (program.completion->parsed()) {
    out.output = completion_script(program.shell, commands);
    return out;
  }
  if (program.reference->parsed()) {
    out.output = program.reference_as_json ? reference_json(commands, common_options())
                                           : reference_page(commands, common_options());
    return out;
  }
  for (const auto& [app, command] : program.apps) {
    if (!app->parsed()) continue;
    out.command = command;
    out.settings = settings_from(*command, separate(*command, program.given[command], out.common));
    return out;
  }
  throw UsageError("no command; --help shows what there is");
}

}  // namespace ergodic::cli
