#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

#include "completion.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/spelling.hpp"
#include "ergodic/option/spec.hpp"
#include "ergodic/run/commands/config.hpp"
#include "ergodic/run/commands/reference.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/environment.hpp"
#include "help.hpp"

namespace ergodic::cli {
namespace {

using Words = std::span<const std::string>;
using Given = std::map<std::string, std::string>;

const Spec<Common>& common_spec() {
  static const Spec<Common> spec = [] {
    Spec<Common> out;
    out.group("General")
        .add("threads", &Common::threads, "threads to use; the result is the same for any number")
        .range(1, 1024)
        .automatic("one for each core")
        .add("json", &Common::json, "print one JSON object on standard output")
        .add("verbose", &Common::verbose, "print more on standard error, such as the table of how the chains mix")
        .add("quiet", &Common::quiet, "print nothing but warnings and errors")
        .add("config", &Common::config,
             "a file of options, a line `name = value` each; the command line takes precedence")
        .role(PathRole::kInput);
    return out;
  }();
  return spec;
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

/// The commands that only print what is known of all commands; they have no options of every command.
std::vector<Command> own_commands(const std::vector<Command>& commands) {
  struct Shell {
    std::string name;
  };
  struct Form {
    bool json = false;
  };
  Spec<Shell> shell;
  shell.add("shell", &Shell::name, "bash, zsh or fish").positional().required();
  Spec<Form> form;
  form.group("Output").add("json", &Form::json, "print JSON, for programs");
  return {
      command_of("completion", "print a completion script for a shell",
                 "ergodic completion bash > ~/.local/share/bash-completion/completions/ergodic", shell,
                 [&](const Shell& wanted, bool, const Context&) {
                   return Outcome{completion_script(wanted.name, commands), "", false};
                 }),
      command_of("reference", "print all commands and options as Markdown or JSON", "ergodic reference --json", form,
                 [&](const Form& wanted, bool, const Context&) {
                   return Outcome{wanted.json ? reference_json(commands, common_options())
                                              : reference_page(commands, common_options()),
                                  "", false};
                 }),
      command_of("help", "explain a command: `ergodic help train`", "ergodic help train", Spec<Form>(),
                 [](const Form&, bool, const Context&) { return Outcome{}; })};
}

/// The words that may follow these ("", or "data ") in the name of a command.
std::vector<std::string> names_after(const std::string& before, const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (!command.name.starts_with(before)) continue;
    const std::string rest = command.name.substr(before.size());
    const std::string name = rest.substr(0, rest.find(' '));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

/// The command that the words begin with, and how many of them are its name; null if help is asked for before the name
/// is complete.
std::pair<const Command*, std::size_t> command_in(Words words, const std::vector<Command>& commands) {
  std::string before;
  for (std::size_t length = 1;; ++length) {
    const std::vector<std::string> names = names_after(before, commands);
    const std::string word = words.size() < length ? "" : words[length - 1];
    if (is_help(word)) return {nullptr, length - 1};
    if (word.empty() || word.starts_with("-")) {
      throw UsageError(fmt::format("expected a command after `ergodic{}`: {}",
                                   before.empty() ? "" : " " + before.substr(0, before.size() - 1),
                                   fmt::join(names, ", ")));
    }
    if (std::ranges::find(names, word) == names.end()) {
      const std::string guess = did_you_mean(word, names);
      throw UsageError(fmt::format("unknown command '{}'{}", before + word,
                                   guess.empty() ? fmt::format("; there are: {}", fmt::join(names, ", ")) : guess));
    }
    const auto found = std::ranges::find(commands, before + word, &Command::name);
    if (found != commands.end()) return {&*found, length};
    before += word + " ";
  }
}

/// What the words say after --model, so that help shows what that kind of machine takes.
std::string model_in(Words words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == "--model" && k + 1 < words.size()) return words[k + 1];
    if (words[k].starts_with("--model=")) return words[k].substr(std::string_view("--model=").size());
  }
  return "";
}

/// Reads the words after a command as texts of its options. All that is unknown is named in one message, as written.
class Reader {
 public:
  Reader(const Command& command, const std::vector<Option>& options) : command_(command), options_(options) {}

  Given read(Words words) {
    for (words_ = words; !words_.empty();) {
      const std::string word = words_[0];
      words_ = words_.subspan(1);
      if (word.starts_with("-") && word.size() > 1) {
        read_option(word);
      } else {
        read_argument(word);
      }
    }
    refuse_unknown();
    return given_;
  }

 private:
  void read_option(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const auto option =
        std::ranges::find_if(options_, [&](const Option& o) { return !o.positional && o.written() == name; });
    if (option == options_.end()) {
      unknown_.push_back(name);
      if (name == word && !words_.empty() && !words_[0].starts_with("-")) words_ = words_.subspan(1);  // its value
      return;
    }
    if (name != word) return note(*option, word.substr(name.size() + 1));
    if (option->is_flag()) return note(*option, "true");
    if (words_.empty() || words_[0].starts_with("--")) {
      throw UsageError(fmt::format("{}: expected a value ({}) after it, found {}", name,
                                   option->placeholder.empty() ? "one of its choices" : option->placeholder,
                                   words_.empty() ? "nothing" : words_[0]));
    }
    note(*option, words_[0]);
    words_ = words_.subspan(1);
  }

  void read_argument(const std::string& word) {
    const auto free = std::ranges::find_if(
        options_, [&](const Option& o) { return o.positional && (o.is_many() || !given_.contains(o.name)); });
    if (free != options_.end() && free->is_many() && given_.contains(free->name)) {
      given_[free->name] += "\n" + word;
      return;
    }
    if (free != options_.end()) return note(*free, word);
    std::vector<std::string> taken;
    for (const Option& option : options_) {
      if (option.positional) taken.push_back(option.written());
    }
    throw UsageError(fmt::format("unexpected '{}'; `ergodic {}` takes {} before its options", word, command_.name,
                                 taken.empty() ? "nothing" : fmt::format("{} alone", fmt::join(taken, " "))));
  }

  void note(const Option& option, const std::string& text) {
    require(given_.emplace(option.name, text).second, fmt::format("{} is given twice", option.written()));
  }

  void refuse_unknown() const {
    if (unknown_.empty()) return;
    std::vector<std::string> names, meant;
    for (const Option& option : options_) {
      if (!option.positional) names.push_back(option.name);
    }
    for (const std::string& written : unknown_) {
      const std::string bare = written.substr(std::min(written.find_first_not_of('-'), written.size()));
      if (const std::string guess = nearest_name(bare, names); !guess.empty()) meant.push_back("--" + guess);
    }
    throw UsageError(fmt::format("unknown option{} {}; {}", unknown_.size() > 1 ? "s" : "", fmt::join(unknown_, ", "),
                                 meant.empty() ? fmt::format("`ergodic help {}` lists them", command_.name)
                                               : fmt::format("did you mean {}?", fmt::join(meant, ", "))));
  }

  const Command& command_;
  const std::vector<Option>& options_;
  Words words_;
  Given given_;
  std::vector<std::string> unknown_;
};

/// The texts of a command and its config file, apart from the common options, which are set.
Given separate(const Command& command, const Given& given, Common& common) {
  Given texts;
  if (const auto config = given.find("config"); config != given.end()) {
    texts = read_config(config->second);
    std::vector<std::string> known;
    for (const Option& option : command.options("")) known.push_back(option.name);
    for (const Option& option : common_options()) known.push_back(option.name);
    for (const auto& [name, value] : texts) {
      require(std::ranges::find(known, name) != known.end(),
              fmt::format("{}: unknown option '{}'{}", config->second, name, did_you_mean(name, known)));
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

ParsedLine printed_only(std::string output) {
  ParsedLine out;
  out.output = std::move(output);
  return out;
}

}  // namespace

std::vector<Option> common_options() { return common_spec().options(); }

ParsedLine parse(const std::vector<std::string>& typed, const std::vector<Command>& commands) {
  std::vector<std::string> words = typed;
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  std::vector<Command> all = commands;
  const std::vector<Command> own = own_commands(commands);
  all.insert(all.end(), own.begin(), own.end());
  if (words.empty() || is_help(words[0])) return printed_only(help_of_all(all));
  if (words[0] == "--version") return printed_only("ergodic " + version_text() + "\n");

  const auto [command, length] = command_in(words, all);
  if (!command) return printed_only(help_of_all(all, words[0]));
  const Words rest = Words(words).subspan(length);
  const bool help = std::ranges::any_of(rest, is_help), is_own = command >= &all[commands.size()];
  const std::string model = model_in(rest);
  std::vector<Option> options = command->options(help && !model.empty() ? kind_asked_for(*command, model) : "");
  if (!is_own) std::ranges::copy(common_options(), std::back_inserter(options));
  if (help) return printed_only(help_of(*command, options));

  const Given given = Reader(*command, options).read(rest);
  if (is_own) return printed_only(command->run(settings_from(*command, given), false, {}).output);
  ParsedLine out;
  out.command = &commands[static_cast<std::size_t>(command - all.data())];
  out.settings = settings_from(*command, separate(*command, given, out.common));
  return out;
}

}  // namespace ergodic::cli
